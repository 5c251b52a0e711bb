/** Runs the tests of webhooks that were asked for: part of the deliverer, since only it may reach receivers (R-I7). */
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Progress } from '../../platform/progress.ts';
import { openWakeWorker, type QueueOptions, type WakeQueue } from '../../platform/queue.ts';
import { startSweeper } from '../../platform/sweep.ts';
import type { AttemptOutcome, Message } from '../attempt.ts';
import { openAccountSemaphore } from '../delivery/account-semaphore.ts';
import type { WebhookTarget } from '../webhook.ts';
import { claimTrial, findWaitingTrials, finishTrial, releaseTrial, type TrialOutcome } from './trial-store.ts';

/** Queue whose keys are made by `trialKey`. */
export const TRIAL_QUEUE = 'webhook-tests';

export interface TrialSenderServices {
  readonly database: Database;
  /** Never rejects for anything the receiver does. */
  readonly send: (target: WebhookTarget, message: Message) => Promise<AttemptOutcome>;
  readonly queue: WakeQueue;
  readonly queueOptions: QueueOptions;
  readonly settings: {
    /** Longest try. */
    readonly timeoutMs: number;
    readonly sweepIntervalMs: number;
  };
  readonly progress?: Progress;
  readonly log: Log;
}

export interface TrialSender {
  /** Begins no more tests and waits for those under way, for at most `graceMs`; then hands them back (R-K2). */
  stop(graceMs: number): Promise<void>;
}

const CONCURRENCY = 16;
/** An account whose receivers hang leaves the others their places. */
const ACCOUNT_PLACES = 4;
/** What a claim lasts beyond the try: time to write how it ended. */
const LEASE_MARGIN_MS = 5000;

/** The account stands in it, so that nothing is claimed only to find out. */
export function trialKey(accountId: number, id: string): string {
  return `${accountId}/${id}`;
}

export function startTrialSender(services: TrialSenderServices): TrialSender {
  const { database, queue, queueOptions, settings, log } = services;
  const givingUp = new AbortController();
  const places = openAccountSemaphore(ACCOUNT_PLACES);
  const look = async (key: string): Promise<void> => {
    const [account, id = ''] = key.split('/');
    if (!places.enter(Number(account), key)) return;
    try {
      await runTrial(services, id, givingUp.signal);
    } finally {
      const next = places.leave(Number(account));
      if (next !== undefined) await queue.wake([next]);
    }
  };
  const sweep = async (): Promise<void> => {
    const waiting = await findWaitingTrials(database);
    await worker.sweep(waiting.map(({ accountId, id }) => trialKey(accountId, id)));
  };
  const worker = openWakeWorker(TRIAL_QUEUE, queue, CONCURRENCY, look, queueOptions);
  const sweeper = startSweeper(TRIAL_QUEUE, settings.sweepIntervalMs, sweep, log, services.progress);
  return {
    stop: async (graceMs) => {
      const timer = setTimeout(() => givingUp.abort(), graceMs);
      await Promise.all([worker.close(), sweeper.stop()]);
      clearTimeout(timer);
    },
  };
}

async function runTrial(services: TrialSenderServices, id: string, givingUp: AbortSignal): Promise<void> {
  const { database, settings } = services;
  if (givingUp.aborted) return;
  const claimed = await claimTrial(database, id, settings.timeoutMs + LEASE_MARGIN_MS);
  if (!claimed) return;
  const outcome = await Promise.race([trySend(services, claimed.webhook, claimed.message), aborted(givingUp)]);
  if (outcome) await finishTrial(database, claimed, outcome);
  else await releaseTrial(database, claimed);
}

/** A fault of ours ends the test too: tried again it would be the same. */
async function trySend(
  { send, log }: TrialSenderServices,
  webhook: WebhookTarget,
  message: Message,
): Promise<TrialOutcome | undefined> {
  try {
    return await send(webhook, message);
  } catch (error) {
    log.error({ err: error, testId: message.id }, 'a test of a webhook failed');
    return { state: 'Failed', error: 'something went wrong on our side' };
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
