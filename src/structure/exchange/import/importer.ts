/**
 * Background worker of the ingester role: processes imports and purges expired imports. A queue delivers wake-ups, each
 * for one account; a sweeper finds accounts whose wake-up was lost. On each wake-up, the worker processes one import of
 * the account and queues the account again, so that accounts take turns (R-A14).
 */
import { ACCOUNT_DELAYS, createBackOff } from '../../../platform/back-off.ts';
import type { Database } from '../../../platform/database/database.ts';
import type { OutboxRelay } from '../../../platform/database/outbox.ts';
import type { Log } from '../../../platform/log.ts';
import { openWakeWorker, type QueueOptions, type WakeQueue } from '../../../platform/queue.ts';
import { openAccountPace } from '../../../platform/shares/account-pace.ts';
import { startSweeper } from '../../../platform/sweep.ts';
import type { Declarations } from '../../structure-routes.ts';
import type { DocumentLimits } from '../reading/document-refusal.ts';
import { findImportAccounts, purgeImport } from './import-store.ts';
import { processImport } from './process-import.ts';

const PURGE_INTERVAL_MS = 600_000;
/** While several accounts import, the importer stages rows of one account for at most this fraction of the time. */
const STAGING_SHARE = 0.4;

export interface ImporterServices {
  readonly database: Database;
  readonly declarations: Declarations;
  /** Queue of wake-ups; the key of a wake-up is the id of the account that it is for. */
  readonly queue: WakeQueue;
  readonly queueOptions: QueueOptions;
  readonly outbox: OutboxRelay;
  readonly settings: {
    /** Maximum number of imports that this process works on at the same time. */
    readonly concurrency: number;
    readonly limits: DocumentLimits;
    readonly retentionDays: number;
    readonly sweepIntervalMs: number;
  };
  readonly log: Log;
}

export interface Importer {
  /** Interrupts the imports in progress; another process later starts each of them from its beginning. */
  stop(): Promise<void>;
}

/** Starts the queue worker, the sweeper and the purge of expired imports. */
export function startImporter(services: ImporterServices): Importer {
  const { database, declarations, queue, queueOptions, outbox, settings, log } = services;
  const { concurrency, limits, retentionDays, sweepIntervalMs } = settings;
  const stopping = new AbortController();
  const onWritten = (): Promise<void> =>
    outbox
      .relay()
      .catch((error: unknown) => log.warn({ err: error }, 'events were not relayed; a later sweep relays them'));
  const pace = openAccountPace({ share: STAGING_SHARE });
  const backOff = createBackOff({ ...ACCOUNT_DELAYS, nowMs: () => performance.now(), random: Math.random });
  const work = async (key: string): Promise<void> => {
    if (stopping.signal.aborted || !backOff.isDue(key)) return;
    const accountId = Number(key);
    let importId: string | undefined;
    const onTaken = (id: string): void => {
      importId = id;
    };
    try {
      const parts = { database, declarations, limits, pace, onWritten, log };
      const hasWorked = await processImport(parts, accountId, stopping.signal, onTaken);
      backOff.succeeded(key);
      if (hasWorked && !stopping.signal.aborted) await queue.wake([key]);
    } catch (error) {
      if (stopping.signal.aborted) return;
      const delayMs = Math.round(backOff.failed(key));
      log.warn(
        { err: error, accountId, importId, delayMs },
        'the structure imports of an account could not be processed; they are retried after the delay in the field delayMs',
      );
    }
  };
  const sweep = async (): Promise<void> => worker.sweep((await findImportAccounts(database)).map(String));
  const purge = async (): Promise<void> => {
    while (!stopping.signal.aborted && (await purgeImport(database, retentionDays)));
  };
  const worker = openWakeWorker(queue, concurrency, work, queueOptions);
  const sweeper = startSweeper(queue.name, sweepIntervalMs, sweep, log);
  const purger = startSweeper('structure import purge', PURGE_INTERVAL_MS, purge, log);
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all([worker.close(), sweeper.stop(), purger.stop()]);
    },
  };
}
