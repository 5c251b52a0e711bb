/**
 * The deliverer role sends the waiting messages of each webhook for which a wake-up arrives. A sweeper finds webhooks
 * whose wake-up was lost (R-I3). The role also deletes old history.
 */
import { withTransaction } from '../../platform/database/database.ts';
import type { OutboxRelay } from '../../platform/database/outbox.ts';
import { openRowLeases, type RowLeases } from '../../platform/database/row-leases.ts';
import type { Progress } from '../../platform/progress.ts';
import { openWakeWorker, type QueueOptions, type WakeQueue } from '../../platform/queue.ts';
import { startSweeper } from '../../platform/sweep.ts';
import { openAccountSemaphore } from './account-semaphore.ts';
import { type ClaimedAttempt, findDueWebhooks, findNextDue, findReceiver, LEASED_ATTEMPTS } from './claim-attempts.ts';
import { type DeliveryServices, deliverSlice } from './deliver-slice.ts';
import { disableReason } from './disable-reason.ts';
import { openDueTimers } from './due-timers.ts';
import { endPending } from './end-pending.ts';
import { openOutcomeWriter } from './outcome-writer.ts';
import { purgeHistory } from './purge-history.ts';
import { writeOutcomes } from './write-outcomes.ts';

const PURGE_INTERVAL_MS = 600_000;
/** Fraction of `concurrency` that the webhooks of one account may use together. The product is rounded up. */
const ACCOUNT_SHARE = 0.25;
/**
 * After a transient fault, such as an unreachable database, the write of an attempt's outcome is retried. The retries
 * stop this many milliseconds after the end of the attempt. If the claim on the attempt expires before the write
 * succeeds, another process may claim the attempt, send the message again and write its own outcome instead.
 */
const OUTCOME_PATIENCE_MS = 20_000;

export interface DelivererServices extends Pick<DeliveryServices, 'database' | 'vault' | 'send' | 'metrics' | 'log'> {
  /** Queue of wake-ups; the keys are webhook ids. */
  readonly queue: WakeQueue;
  readonly queueOptions: QueueOptions;
  readonly outbox: OutboxRelay;
  readonly progress?: Progress;
  readonly settings: {
    /** Maximum number of webhooks that this process works on at the same time. */
    readonly concurrency: number;
    /** Maximum number of concurrent requests of one webhook. */
    readonly parallel: number;
    /** Back-off: seconds from each failed attempt to the next. */
    readonly retryDelaysSec: readonly number[];
    /** Maximum pause before a probe of a receiver that is down; a `Retry-After` header can make the pause longer. */
    readonly maxProbePauseMs: number;
    readonly disableAfterDays: number;
    readonly historyDays: number;
    readonly sweepIntervalMs: number;
  };
}

export interface Deliverer {
  /**
   * Starts no more attempts and waits up to `graceMs` for the attempts in flight; then abandons the rest and releases
   * their claims (R-K2).
   */
  stop(graceMs: number): Promise<void>;
}

/** Starts the queue worker, the sweeper and the purge of old history (R-I3). */
export function startDeliverer(services: DelivererServices): Deliverer {
  const { database, vault, queue, queueOptions, outbox, settings, log } = services;
  let isStopped = false;
  const givingUp = new AbortController();
  const leases = openRowLeases<ClaimedAttempt>(database, LEASED_ATTEMPTS, log);
  const delivery = toDelivery(services, leases, () => isStopped, givingUp.signal);
  const semaphore = openAccountSemaphore(Math.max(1, Math.ceil(settings.concurrency * ACCOUNT_SHARE)));
  const wake = async (webhookId: string): Promise<void> => {
    await queue.wake([webhookId]);
  };
  const timers = openDueTimers((webhookId) => void wake(webhookId));
  const deliver = async (webhookId: string): Promise<void> => {
    const receiver = await findReceiver(database, vault, webhookId);
    if (!receiver) return;
    if (!receiver.isEnabled) return endLeftovers(services, webhookId);
    if (!semaphore.tryEnter(receiver.accountId, webhookId)) return;
    try {
      const isMoreDue = await deliverSlice(delivery, webhookId, receiver);
      if (isMoreDue) await wake(webhookId);
      else timers.set(webhookId, await findNextDue(database, webhookId));
    } finally {
      const next = semaphore.leave(receiver.accountId);
      if (next !== undefined) await wake(next);
    }
  };
  const sweep = async (): Promise<void> => {
    const due = await findDueWebhooks(database);
    await worker.sweep(due);
    await outbox.relay();
  };
  const purge = () => purgeHistory(database, settings.historyDays, () => isStopped);
  const worker = openWakeWorker(queue, settings.concurrency, deliver, queueOptions);
  const sweeper = startSweeper(queue.name, settings.sweepIntervalMs, sweep, log, services.progress);
  const purger = startSweeper('webhook history', PURGE_INTERVAL_MS, purge, log);
  return {
    stop: async (graceMs) => {
      isStopped = true;
      const timer = setTimeout(() => givingUp.abort(new Error('the deliverer stops')), graceMs);
      await Promise.all([worker.close(), sweeper.stop(), purger.stop()]);
      timers.stop();
      leases.stop();
      clearTimeout(timer);
    },
  };
}

function toDelivery(
  { database, vault, send, metrics, settings, log }: DelivererServices,
  leases: RowLeases<ClaimedAttempt>,
  isStopped: () => boolean,
  givingUp: AbortSignal,
): DeliveryServices {
  const { disableAfterDays } = settings;
  const writer = openOutcomeWriter({
    store: async (ended) => {
      const disabled = await writeOutcomes(database, ended, disableAfterDays);
      for (const { webhookId, reason } of disabled) {
        const accountId = ended.find(({ claimed }) => claimed.webhookId === webhookId)?.claimed.message.accountId;
        metrics.disabled();
        log.warn(
          { accountId, webhookId, reason: disableReason(reason, 'en') },
          'the service disabled a webhook; its waiting messages are not sent, but can be replayed once the webhook is enabled',
        );
      }
    },
    patienceMs: OUTCOME_PATIENCE_MS,
    log,
  });
  return {
    ...{ database, vault, send, writer, leases, isStopped, givingUp, metrics, log },
    retries: { delaysSec: settings.retryDelaysSec, maxProbePauseMs: settings.maxProbePauseMs },
    parallel: settings.parallel,
    chance: Math.random,
  };
}

/**
 * If the webhook is disabled, ends its waiting attempts. A Pending attempt waits if nobody has claimed it, or if the
 * claim has expired, for example because the process that claimed the attempt has died.
 */
async function endLeftovers({ database }: DelivererServices, webhookId: string): Promise<void> {
  await withTransaction(database, async (transaction) => {
    const { rowCount } = await transaction.query(
      'select from webhook where id = $1 and not is_enabled for no key update',
      [webhookId],
    );
    if (rowCount === 1) await endPending(transaction, webhookId, 'the webhook was disabled');
  });
}
