/** The ingester role: drains accounts when woken, and looks for what was lost in between. */
import type { Database } from '../platform/database/database.ts';
import type { OutboxRelay } from '../platform/database/outbox.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import type { Progress } from '../platform/progress.ts';
import { openWakeWorker, type QueueOptions, type WakeQueue } from '../platform/queue.ts';
import { startSweeper } from '../platform/sweep.ts';
import { purgeDeletedVariable } from '../points/remove/purge-points.ts';
import { purgeRequestedVersions } from '../points/remove/purge-versions.ts';
import { findWaitingAccounts, ingestPortion, type Portion } from './ingest-account.ts';
import { createIngestMetrics } from './ingest-metrics.ts';
import { announceLateOperations } from './operation-upkeep.ts';
import { noteFailedBatch } from './set-aside.ts';

/** Queue whose keys are account ids. */
export const INGEST_QUEUE = 'ingest';

export interface IngesterServices {
  readonly database: Database;
  readonly queue: WakeQueue;
  readonly queueOptions: QueueOptions;
  /** Carries the events of a write to those it concerns; called after every commit. */
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
  /** Finishes the transactions under way and takes no more. */
  stop(): Promise<void>;
}

export function startIngester(services: IngesterServices): Ingester {
  const { database, queue, queueOptions, outbox, settings, log } = services;
  const metrics = createIngestMetrics(services.metrics);
  // What fails together is tried one by one, so that only the batch to blame is counted.
  const ingest = async (accountId: number): Promise<Portion> => {
    try {
      return await ingestPortion(database, accountId, settings.maxRows);
    } catch (error) {
      log.warn({ err: error, accountId }, 'batches could not be written together');
    }
    let taken: readonly number[] = [];
    try {
      return await ingestPortion(database, accountId, 1, (batchIds) => {
        taken = batchIds;
      });
    } catch (error) {
      const isSetAside = await noteFailedBatch(database, accountId, taken[0], error);
      if (isSetAside) log.error({ accountId }, 'a batch was set aside: it cannot be written');
      if (isSetAside) metrics.setAside.inc();
      throw error;
    }
  };
  const drain = async (key: string): Promise<void> => {
    const accountId = Number(key);
    const startMs = performance.now();
    const { batches, readings, waitedSec, requestId, isMoreWaiting } = await ingest(accountId);
    const tookSec = (performance.now() - startMs) / 1000;
    // Also when nothing waits: what is written as it is accepted has events of its own.
    await outbox.relay();
    if (batches === 0) return;
    metrics.batches.inc(batches);
    metrics.readings.inc(readings);
    metrics.lagSeconds.observe(waitedSec + tookSec);
    metrics.transactionSeconds.observe(tookSec);
    log.info(
      { requestId, accountId, batches, readings, durationMs: Math.round(performance.now() - startMs) },
      'batches ingested',
    );
    // One transaction a turn: an account that is never done must not keep the others, or a stop, waiting.
    if (isMoreWaiting) await queue.wake([key]);
  };
  const sweep = async (): Promise<void> => {
    const accounts = await findWaitingAccounts(database);
    await worker.sweep(accounts.map(String));
    while (await announceLateOperations(database));
    await outbox.relay();
  };
  // Apart from the other looks, which must not wait for millions of points to be removed.
  let isStopped = false;
  const purge = async (): Promise<void> => {
    while (!isStopped && (await purgeDeletedVariable(database)));
    while (!isStopped && (await purgeRequestedVersions(database)));
  };
  const worker = openWakeWorker(INGEST_QUEUE, queue, settings.concurrency, drain, queueOptions);
  const sweeper = startSweeper(INGEST_QUEUE, settings.sweepIntervalMs, sweep, log, services.progress);
  const purger = startSweeper('point purge', settings.sweepIntervalMs, purge, log);
  return {
    stop: async () => {
      isStopped = true;
      await Promise.all([worker.close(), sweeper.stop(), purger.stop()]);
    },
  };
}
