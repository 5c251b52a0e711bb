/** The ingester role: writes accepted pushes and Standard Files as points, and removes expired rows. */
import { startFileIngester } from '../files/processing/file-ingester.ts';
import { purgeExpired } from '../identity/issuer/payload-adapter.ts';
import { startIngester } from '../ingest/ingester.ts';
import { createStalledSessionEnder } from '../platform/database/end-stalled-sessions.ts';
import { startSweeper } from '../platform/sweep.ts';
import { compactRewrites } from '../points/write/record-rewrites.ts';
import { purgeOldOperations } from '../push/store/operation-upkeep.ts';
import type { Parts, Role } from './parts.ts';

const PURGE_INTERVAL_MS = 600_000;
const STALLED_SESSION_INTERVAL_MS = 1000;

/** Starts the ingest of pushes and files, the purges, and the end of stalled database sessions. */
export function startIngesterRole(parts: Parts): Role {
  const { config, database, log } = parts;
  const purgeOperations = async (): Promise<void> => {
    while ((await purgeOldOperations(database, config.PUSH_OPERATION_RETENTION_DAYS)) > 0);
  };
  const endStalledSessions = createStalledSessionEnder(database);
  const endSessions = async (): Promise<void> => {
    const ended = await endStalledSessions();
    if (ended > 0) log.warn({ ended }, 'database sessions of stopped processes ended');
  };
  const running: readonly Role[] = [
    startPushes(parts),
    startFiles(parts),
    startSweeper('purge', PURGE_INTERVAL_MS, async () => void (await purgeExpired(database)), log),
    startSweeper('stalled sessions', STALLED_SESSION_INTERVAL_MS, endSessions, log),
    startSweeper('rewrites', PURGE_INTERVAL_MS, () => compactRewrites(database), log),
    startSweeper('operation purge', PURGE_INTERVAL_MS, purgeOperations, log),
  ];
  return {
    stop: async () => {
      await Promise.all(running.map((one) => one.stop()));
    },
  };
}

function startPushes(parts: Parts): Role {
  const { config, ingestQueue } = parts;
  const settings = {
    concurrency: config.INGEST_CONCURRENCY,
    maxRows: config.INGEST_MAX_ROWS,
    sweepIntervalMs: config.SWEEP_INTERVAL_MS,
  };
  return startIngester({ ...parts, queue: ingestQueue, settings });
}

function startFiles(parts: Parts): Role {
  const { config, fileQueue } = parts;
  const settings = {
    concurrency: config.FILE_CONCURRENCY,
    limits: {
      maxRows: config.FILE_MAX_ROWS,
      maxInflatedBytes: config.FILE_MAX_INFLATED_BYTES,
      maxRatio: config.FILE_MAX_RATIO,
    },
    retentionDays: config.FILE_RETENTION_DAYS,
    attachmentRetentionDays: config.ATTACHMENT_RETENTION_DAYS,
    sweepIntervalMs: config.SWEEP_INTERVAL_MS,
  };
  return startFileIngester({ ...parts, queue: fileQueue, settings });
}
