/**
 * Background worker that ingests uploaded files, part of the ingester role. A queue of account ids wakes it;
 * a sweeper finds accounts whose wake-up was lost or whose file must be retried. On a wake-up, the worker ingests one
 * file of the account. If a file was waiting, the worker then queues the account again, so that accounts take turns.
 */

import { ACCOUNT_DELAYS, createBackOff } from '../../platform/back-off.ts';
import type { Database } from '../../platform/database/database.ts';
import type { OutboxRelay } from '../../platform/database/outbox.ts';
import { MAX_UPLOAD_HOURS } from '../../platform/database/stored-parts.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { Progress } from '../../platform/progress.ts';
import { openWakeWorker, type QueueOptions, type WakeQueue } from '../../platform/queue.ts';
import { openAccountPace } from '../../platform/shares/account-pace.ts';
import { startSweeper } from '../../platform/sweep.ts';
import type { Dictionary } from '../../points/dictionary.ts';
import { createFileMetrics } from '../file-metrics.ts';
import { openFileParser } from '../parsing/file-parser.ts';
import type { FileLimits } from '../standard-file.ts';
import { ingestFile } from './ingest-file.ts';
import { findWaitingAccounts, type TakenFile } from './take-file.ts';

const PURGE_INTERVAL_MS = 600_000;
/**
 * While this process ingests files of several accounts, each account may parse and write for about this fraction of the
 * time (`AccountPace`).
 */
const CHUNK_SHARE = 0.4;

export interface FileIngesterServices {
  readonly database: Database;
  readonly dictionary: Dictionary;
  /** The keys of the queue are account ids. */
  readonly queue: WakeQueue;
  readonly queueOptions: QueueOptions;
  readonly outbox: OutboxRelay;
  readonly settings: {
    /** Maximum number of files that this process ingests at the same time. */
    readonly concurrency: number;
    readonly limits: FileLimits;
    readonly retentionDays: number;
    /** Number of days from the upload of an attachment to its deletion. */
    readonly attachmentRetentionDays: number;
    readonly sweepIntervalMs: number;
  };
  readonly metrics: Metrics;
  readonly progress?: Progress;
  readonly log: Log;
}

export interface FileIngester {
  /**
   * Writes the chunks in progress, except chunks that wait for pushes; then stops. Another process resumes unfinished
   * files (R-E5).
   */
  stop(): Promise<void>;
}

/** Starts the queue worker, the sweeper and the purge of expired files. */
export function startFileIngester(services: FileIngesterServices): FileIngester {
  const { database, dictionary, queue, queueOptions, outbox, settings, log } = services;
  const { concurrency, limits, retentionDays, attachmentRetentionDays, sweepIntervalMs } = settings;
  const metrics = createFileMetrics(services.metrics);
  const parser = openFileParser();
  const pace = openAccountPace({ share: CHUNK_SHARE });
  const stopping = new AbortController();
  const onWritten = (): Promise<void> =>
    outbox
      .relay()
      .catch((error: unknown) => log.warn({ err: error }, 'events were not relayed; a later sweep relays them'));
  const backOff = createBackOff({ ...ACCOUNT_DELAYS, nowMs: () => performance.now(), random: Math.random });
  const work = async (key: string): Promise<void> => {
    if (stopping.signal.aborted) return;
    const accountId = Number(key);
    if (!backOff.isDue(key)) return;
    let file: TakenFile | undefined;
    const onTaken = (taken: TakenFile): void => {
      file = taken;
    };
    const ingest = { database, dictionary, parser, pace, limits, onWritten, onTaken, metrics, log };
    const hasWorked = await ingestFile(ingest, accountId, stopping.signal).catch((error: unknown) => {
      const delayMs = Math.round(backOff.failed(key));
      const fields = { err: error, requestId: file?.requestId, accountId, fileId: file?.id, delayMs };
      log.warn(
        fields,
        'the files of an account could not be processed; they are retried after the delay in the field delayMs, and rows already written are kept',
      );
      return undefined;
    });
    if (hasWorked !== undefined) backOff.succeeded(key);
    if (!hasWorked) return;
    if (stopping.signal.aborted) return;
    await queue.wake([key]);
  };
  const sweep = async (): Promise<void> => {
    const accounts = await findWaitingAccounts(database);
    await worker.sweep(accounts.map(String));
  };
  const purge = async (): Promise<void> => {
    while (!stopping.signal.aborted && (await purgeFiles(database, retentionDays, attachmentRetentionDays)) > 0);
  };
  const worker = openWakeWorker(queue, concurrency, work, queueOptions);
  const sweeper = startSweeper(queue.name, sweepIntervalMs, sweep, log, services.progress);
  const purger = startSweeper('file purge', PURGE_INTERVAL_MS, purge, log);
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all([worker.close(), sweeper.stop(), purger.stop()]);
      await parser.close();
    },
  };
}

const FILES_PER_PASS = 10;

/**
 * Deletes expired files with their content and row errors, and the remains of interrupted uploads. One call deletes at
 * most 10 files, so that locks stay short.
 * @returns number of files deleted; call again until it is 0.
 */
export async function purgeFiles(
  database: Database,
  retentionDays: number,
  attachmentRetentionDays: number,
): Promise<number> {
  const { rowCount } = await database.query(
    `delete from stored_file where id in (
       select id from stored_file
       where state in ('Completed', 'PartiallyIngested', 'Rejected', 'Failed') and uploaded_date < now() - $1 * interval '1 day'
          or state = 'Stored' and uploaded_date < now() - $4 * interval '1 day'
          or state = 'Uploading' and uploaded_date < now() - $2 * interval '1 hour'
       limit $3 for update skip locked)`,
    [retentionDays, MAX_UPLOAD_HOURS, FILES_PER_PASS, attachmentRetentionDays],
  );
  return rowCount ?? 0;
}
