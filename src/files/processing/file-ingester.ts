/**
 * The part of the ingester role that processes files: woken by account, and looking for what was lost in between. An
 * account's files take their turn one by one, so that nobody waits for all the files of somebody else.
 */
import type { Database } from '../../platform/database/database.ts';
import type { OutboxRelay } from '../../platform/database/outbox.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import { openWakeWorker, type QueueOptions, type WakeQueue } from '../../platform/queue.ts';
import { startSweeper } from '../../platform/sweep.ts';
import type { Dictionary } from '../../points/dictionary.ts';
import { createFileMetrics } from '../file-metrics.ts';
import { openFileParser } from '../parsing/file-parser.ts';
import type { FileLimits } from '../standard-file.ts';
import { ingestFile } from './ingest-file.ts';
import { purgeFiles } from './purge-files.ts';
import { findWaitingAccounts } from './take-file.ts';

/** Queue whose keys are account ids. */
export const FILE_QUEUE = 'files';

const PURGE_INTERVAL_MS = 600_000;

export interface FileIngesterServices {
  readonly database: Database;
  readonly dictionary: Dictionary;
  readonly queue: WakeQueue;
  readonly queueOptions: QueueOptions;
  readonly outbox: OutboxRelay;
  readonly settings: {
    /** Files processed at the same time. */
    readonly concurrency: number;
    readonly limits: FileLimits;
    readonly retentionDays: number;
    readonly sweepIntervalMs: number;
  };
  readonly metrics: Metrics;
  readonly log: Log;
}

export interface FileIngester {
  /** Finishes the chunks under way and takes no more; what is left of a file goes on elsewhere, or later. */
  stop(): Promise<void>;
}

export function startFileIngester(services: FileIngesterServices): FileIngester {
  const { database, dictionary, queue, queueOptions, outbox, settings, log } = services;
  const { concurrency, limits, retentionDays, sweepIntervalMs } = settings;
  const metrics = createFileMetrics(services.metrics);
  const parser = openFileParser();
  const stopping = new AbortController();
  const onWritten = (): Promise<void> =>
    outbox.relay().catch((error: unknown) => log.warn({ err: error }, 'events are left to the sweeper'));
  const work = async (key: string): Promise<void> => {
    if (stopping.signal.aborted) return;
    const accountId = Number(key);
    const ingest = { database, dictionary, parser, limits, onWritten, metrics, log };
    if (!(await ingestFile(ingest, accountId, stopping.signal))) return;
    if (stopping.signal.aborted) return;
    await queue.wake([key]).catch((error: unknown) => log.warn({ err: error, accountId }, 'left to the sweeper'));
  };
  const sweep = async (): Promise<void> => {
    const accounts = await findWaitingAccounts(database);
    if (accounts.length > 0) await queue.wake(accounts.map(String));
  };
  const purge = async (): Promise<void> => {
    while (!stopping.signal.aborted && (await purgeFiles(database, retentionDays)) > 0);
  };
  const worker = openWakeWorker(FILE_QUEUE, concurrency, work, queueOptions);
  const sweeper = startSweeper(FILE_QUEUE, sweepIntervalMs, sweep, log);
  const purger = startSweeper('file purge', PURGE_INTERVAL_MS, purge, log);
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all([worker.close(), sweeper.stop(), purger.stop()]);
      await parser.close();
    },
  };
}
