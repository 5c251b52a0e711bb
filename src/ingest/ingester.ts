/**
 * Runs the ingester:
 * - wake-up for an account: writes waiting batches of this account
 * - regular sweep: finds accounts whose wake-up was lost; announces operations that did not end within their time-out
 * - regular purge: carries out deletions; purges the versions that clients asked to purge
 */

import { ACCOUNT_DELAYS, createBackOff } from '../platform/back-off.ts';
import type { Database } from '../platform/database/database.ts';
import { isTransientError } from '../platform/database/dependency-error.ts';
import type { OutboxRelay } from '../platform/database/outbox.ts';
import type { Log } from '../platform/log.ts';
import type { Count, Distribution, Metrics } from '../platform/metrics/metrics.ts';
import type { Progress } from '../platform/progress.ts';
import { openWakeWorker, type QueueOptions, type WakeQueue } from '../platform/queue.ts';
import { startSweeper } from '../platform/sweep.ts';
import { performDuePurges } from '../points/remove/attempt-purge.ts';
import { purgeDeletedVariable } from '../points/remove/purge-points.ts';
import { purgeRequestedVersions } from '../points/remove/purge-versions.ts';
import { noteFailedBatch } from '../push/store/failed-batches.ts';
import { announceLateOperations } from '../push/store/operation-upkeep.ts';
import { findWaitingAccounts } from '../push/store/waiting-batches.ts';
import { continueDeletion } from '../structure/deletion/deletions.ts';
import { ingestPortion, type Portion } from './ingest-account.ts';
import { openPassingLanes } from './passing-lanes.ts';

export interface IngesterServices {
  readonly database: Database;
  /** The keys of the queue are account ids. */
  readonly queue: WakeQueue;
  readonly queueOptions: QueueOptions;
  /**
   * Passes outbox events to their consumers. The ingester calls `relay` after each write of batches, after each wake-up
   * that was handled without an error, and in each sweep.
   */
  readonly outbox: OutboxRelay;
  readonly settings: {
    readonly concurrency: number;
    readonly maxRows: number;
    readonly sweepIntervalMs: number;
  };
  readonly metrics: Metrics;
  readonly progress?: Progress;
  readonly log: Log;
}

export interface Ingester {
  /** Handles no further wake-up, and waits for the writes and sweeps in progress. */
  stop(): Promise<void>;
}

/** Starts the worker, the sweeper and the purge; returns immediately. */
export function startIngester(services: IngesterServices): Ingester {
  const { database, queue, queueOptions, outbox, settings, log } = services;
  const metrics = createIngestMetrics(services.metrics);
  // When several batches cannot be written together, the first is written alone, so that a failed attempt counts only
  // against the batch that fails.
  const ingest = async (accountId: number, isSmallOnly: boolean): Promise<Portion> => {
    try {
      return await ingestPortion(database, accountId, { maxRows: settings.maxRows, isSmallOnly });
    } catch (error) {
      if (isTransientError(error)) throw error;
      log.warn({ err: error, accountId }, 'a write of waiting batches failed; the first batch is tried alone');
    }
    let taken: readonly number[] = [];
    try {
      return await ingestPortion(database, accountId, { maxRows: 1, isSmallOnly }, (batchIds) => {
        taken = batchIds;
      });
    } catch (error) {
      if (isTransientError(error)) throw error;
      const isSetAside = await noteFailedBatch(database, accountId, taken[0], error);
      if (isSetAside) {
        metrics.setAside.inc();
        log.error(
          { err: error, accountId, batchId: taken[0] },
          'the points of a batch could not be written, so the batch was set aside; it remains stored and is retried only on request (src/ingest/README.md)',
        );
      }
      throw error;
    }
  };
  // A fault of the service never counts as a failure of a batch (R-A15). The batch stays queued, and a later sweep
  // tries to write the batch again.
  const backOff = createBackOff({ ...ACCOUNT_DELAYS, nowMs: () => performance.now(), random: Math.random });
  const write = async (accountId: number, isSmallOnly: boolean): Promise<Portion> => {
    const startMs = performance.now();
    const portion = await ingest(accountId, isSmallOnly);
    const { batches, readings, waitedSec, requestId } = portion;
    if (batches === 0) return portion;
    const tookSec = (performance.now() - startMs) / 1000;
    metrics.batches.inc(batches);
    metrics.readings.inc(readings);
    metrics.lagSeconds.observe(waitedSec + tookSec);
    metrics.transactionSeconds.observe(tookSec);
    log.info({ requestId, accountId, batches, readings, durationMs: Math.round(tookSec * 1000) }, 'batches ingested');
    return portion;
  };
  const lanes = openPassingLanes(async (accountId, isSmallOnly) => {
    const { batches } = await write(accountId, isSmallOnly);
    if (batches === 0) return 0;
    await outbox.relay();
    // Queues the account again, because further batches may have waited for the end of this write.
    await queue.wake([String(accountId)]);
    return batches;
  }, log);
  const drain = async (key: string): Promise<void> => {
    if (!backOff.isDue(key)) return;
    const accountId = Number(key);
    const writing = write(accountId, false);
    await lanes.open(accountId, writing);
    const portion = await writing.catch((error: unknown) => {
      if (!isTransientError(error)) throw error;
      const delayMs = Math.round(backOff.failed(key));
      log.warn(
        { err: error, accountId, delayMs },
        'batches could not be written because of a fault in the service; the batches stay queued and are retried after the delay in the field delayMs',
      );
      return undefined;
    });
    if (!portion) return;
    backOff.succeeded(key);
    // Relays events even when no batch waits, because pushes without a batch also append events to the outbox.
    await outbox.relay();
    // Queues the account again instead of looping: a busy account must not starve other accounts or delay a stop.
    if (portion.batches > 0 && portion.isMoreWaiting) await queue.wake([key]);
  };
  const sweep = async (): Promise<void> => {
    const accounts = await findWaitingAccounts(database);
    await worker.sweep(accounts.map(String));
    while (await announceLateOperations(database));
    await outbox.relay();
  };
  // The purge has a sweeper of its own, because removing millions of points must not delay the search for waiting
  // batches.
  let isStopped = false;
  const purge = async (): Promise<void> => {
    while (!isStopped && (await continueDeletion(database)));
    for (const purgeNext of [purgeDeletedVariable, purgeRequestedVersions]) {
      await performDuePurges(
        database,
        purgeNext,
        () => isStopped,
        ({ cause, variableId }) => log.error({ err: cause, variableId }, 'a purge failed; it will be tried again'),
      );
    }
  };
  const worker = openWakeWorker(queue, settings.concurrency, drain, queueOptions);
  const sweeper = startSweeper(queue.name, settings.sweepIntervalMs, sweep, log, services.progress);
  const purger = startSweeper('point purge', settings.sweepIntervalMs, purge, log);
  return {
    stop: async () => {
      isStopped = true;
      await Promise.all([worker.close(), sweeper.stop(), purger.stop()]);
      await lanes.close();
    },
  };
}

/** Metrics of the ingester (R-A9). */
interface IngestMetrics {
  readonly batches: Count;
  readonly readings: Count;
  /** Batches that cannot be written and are retried only on request. */
  readonly setAside: Count;
  /**
   * Seconds from the acceptance of the oldest push in a transaction to the commit of the transaction. When the
   * transaction writes only some pushes of a batch, the time that these pushes waited is not counted: the value is then
   * the duration of the transaction.
   */
  readonly lagSeconds: Distribution;
  readonly transactionSeconds: Distribution;
}

function createIngestMetrics(metrics: Metrics): IngestMetrics {
  const counter = (name: string, help: string) => metrics.counter({ name, help })({});
  const distribution = (name: string, help: string) => metrics.distribution({ name, help })({});
  return {
    batches: counter(
      'tidemark_ingest_batches_total',
      'Accepted batches whose points have been written. A batch that is written in parts is counted once for each part.',
    ),
    readings: counter(
      'tidemark_ingest_readings_total',
      'Readings of the batches that were written. Readings at rolled-up dates and of deleted variables count too, although they are not stored.',
    ),
    setAside: counter(
      'tidemark_ingest_set_aside_total',
      'Batches set aside (kept, but retried only on request) because they cannot be written.',
    ),
    lagSeconds: distribution(
      'tidemark_ingest_lag_seconds',
      'Time from the acceptance of the oldest push in a transaction to the commit of the transaction. When the transaction writes only some pushes of a batch, the time that these pushes waited is not counted: the value is then the duration of the transaction.',
    ),
    transactionSeconds: distribution(
      'tidemark_ingest_transaction_seconds',
      'Duration of a transaction that writes batches.',
    ),
  };
}
