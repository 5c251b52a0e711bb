/**
 * Runs trial sends: test messages requested with `POST /account/webhooks/test` (R-I7). The deliverer role runs trial
 * sends, because no other role may connect to receivers.
 */
import type { Database } from '../../platform/database/database.ts';
import { LEASE_MS, openRowLeases, type RowLeases } from '../../platform/database/row-leases.ts';
import type { Log } from '../../platform/log.ts';
import type { Progress } from '../../platform/progress.ts';
import { openWakeWorker, type QueueOptions, type WakeQueue } from '../../platform/queue.ts';
import { startSweeper } from '../../platform/sweep.ts';
import type { AttemptOutcome, Message } from '../attempt.ts';
import { openAccountSemaphore } from '../delivery/account-semaphore.ts';
import type { SecretVault } from '../secret-vault.ts';
import type { WebhookTarget } from '../webhook.ts';
import {
  type ClaimedTrial,
  claimTrial,
  findWaitingTrials,
  finishTrial,
  LEASED_TRIALS,
  releaseTrial,
  type TrialOutcome,
} from './trial-store.ts';

export interface TrialSenderServices {
  readonly database: Database;
  readonly vault: SecretVault;
  /** Sends a message; whatever the receiver does, the promise does not reject. */
  readonly send: (target: WebhookTarget, message: Message) => Promise<AttemptOutcome>;
  /** Queue of wake-ups for trial sends. `trialKey` makes the keys of this queue. */
  readonly queue: WakeQueue;
  readonly queueOptions: QueueOptions;
  readonly settings: {
    readonly sweepIntervalMs: number;
  };
  readonly progress?: Progress;
  readonly log: Log;
}

export interface TrialSender {
  /**
   * Starts no more trial sends and waits up to `graceMs` for the trial sends in flight. Then abandons each trial send
   * that is still in flight and releases its claim (R-K2).
   */
  stop(graceMs: number): Promise<void>;
}

const CONCURRENCY = 16;
/**
 * Maximum number of concurrent trial sends of one account. The limit leaves capacity for other accounts when the
 * receivers of one account hang.
 */
const ACCOUNT_CONCURRENCY = 4;

/**
 * @returns the queue key of a trial send. The key contains the account id, so that the worker needs no query to limit
 * the concurrent trial sends of an account.
 */
export function trialKey(accountId: number, id: string): string {
  return `${accountId}/${id}`;
}

/** Starts the queue worker and the sweeper (R-I7). */
export function startTrialSender(services: TrialSenderServices): TrialSender {
  const { database, queue, queueOptions, settings, log } = services;
  const givingUp = new AbortController();
  const leases = openRowLeases<ClaimedTrial>(database, LEASED_TRIALS, log);
  const semaphore = openAccountSemaphore(ACCOUNT_CONCURRENCY);
  const run = async (key: string): Promise<void> => {
    const [account, id = ''] = key.split('/');
    if (!semaphore.tryEnter(Number(account), key)) return;
    try {
      await runTrial(services, leases, id, givingUp.signal);
    } finally {
      const next = semaphore.leave(Number(account));
      if (next !== undefined) await queue.wake([next]);
    }
  };
  const sweep = async (): Promise<void> => {
    const waiting = await findWaitingTrials(database);
    await worker.sweep(waiting.map(({ accountId, id }) => trialKey(accountId, id)));
  };
  const worker = openWakeWorker(queue, CONCURRENCY, run, queueOptions);
  const sweeper = startSweeper(queue.name, settings.sweepIntervalMs, sweep, log, services.progress);
  return {
    stop: async (graceMs) => {
      const timer = setTimeout(() => givingUp.abort(), graceMs);
      await Promise.all([worker.close(), sweeper.stop()]);
      leases.stop();
      clearTimeout(timer);
    },
  };
}

async function runTrial(
  services: TrialSenderServices,
  leases: RowLeases<ClaimedTrial>,
  id: string,
  givingUp: AbortSignal,
): Promise<void> {
  const { database, vault, log } = services;
  if (givingUp.aborted) return;
  const beganMs = performance.now();
  const claimed = await claimTrial(database, vault, id, LEASE_MS);
  if (!claimed) return;
  if (givingUp.aborted) return releaseTrial(database, claimed);
  leases.keep([claimed], beganMs);
  const outcome = await Promise.race([trySend(services, claimed.webhook, claimed.message), aborted(givingUp)]);
  await leases.drop([claimed]);
  if (!outcome) await releaseTrial(database, claimed);
  else if (!(await finishTrial(database, claimed, outcome)))
    log.warn(
      { testId: id, accountId: claimed.message.accountId, state: outcome.state },
      'the result of a trial send is dropped (lease lost or row deleted); a trial that is still Pending is sent again',
    );
}

/** Sends the test message. After an internal error, the trial send is not retried: a retry would fail the same way. */
async function trySend(
  { send, log }: TrialSenderServices,
  webhook: WebhookTarget,
  message: Message,
): Promise<TrialOutcome | undefined> {
  try {
    return await send(webhook, message);
  } catch (error) {
    const fields = { err: error, testId: message.id, accountId: message.accountId };
    log.error(fields, 'a trial send failed because of an internal error; it is not retried');
    return {
      state: 'Failed',
      error: 'the request to the receiver failed because of an internal error of this service, not of the receiver',
    };
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
