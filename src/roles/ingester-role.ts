/**
 * The ingester role: writes accepted pushes and Standard Files as points, imports structures, and maintains the stored
 * rows.
 */
import { writeAudit } from '../accounts/audit/audit.ts';
import { openDeclarations } from '../calculation/declaration/save-declaration.ts';
import { startFileIngester } from '../files/processing/file-ingester.ts';
import { purgeExpired } from '../identity/passwords/revoke-sessions.ts';
import { startIngester } from '../ingest/ingester.ts';
import type { Queryable } from '../platform/database/database.ts';
import { createStalledSessionEnder, SILENCE_MS } from '../platform/database/end-stalled-sessions.ts';
import { startSweeper } from '../platform/sweep.ts';
import { compressChunks } from '../points/columns/compress-chunks.ts';
import { watchStorage } from '../points/columns/describe-storage.ts';
import { packIndexes, REWRITTEN_QUIET_SEC } from '../points/columns/pack-indexes.ts';
import { compactRewrites } from '../points/write/record-rewrites.ts';
import { purgeOldOperations, purgeOldOrigins } from '../push/store/operation-upkeep.ts';
import { applyRetention, type RetentionCounts } from '../retention/apply-retention.ts';
import { startImporter } from '../structure/exchange/import/importer.ts';
import type { Parts, Role } from './parts.ts';

const PURGE_INTERVAL_MS = 600_000;
const STALLED_SESSION_INTERVAL_MS = 1000;
const COLUMNS_INTERVAL_MS = 60_000;
const STORAGE_INTERVAL_MS = 3_600_000;
const RETENTION_INTERVAL_MS = 600_000;

/** Starts the ingest of pushes and files, the imports of structures, and the periodic upkeep of the database. */
export function startIngesterRole(parts: Parts): Role {
  const { config, database, log } = parts;
  const purgeOperations = async (): Promise<void> => {
    const days = config.PUSH_OPERATION_RETENTION_DAYS;
    while ((await purgeOldOperations(database, days)) > 0);
    while ((await purgeOldOrigins(database, days, config.FILE_RETENTION_DAYS)) > 0);
  };
  const endStalledSessions = createStalledSessionEnder(database);
  const endSessions = async (): Promise<void> => {
    const pids = await endStalledSessions();
    if (pids.length === 0) return;
    log.warn(
      { pids, silenceMs: SILENCE_MS },
      'database sessions were ended because their clients were silent for more than silenceMs; the work of these sessions is rolled back and will be repeated',
    );
  };
  let isStopped = false;
  const columns = { quietSec: config.COLUMNS_QUIET_HOURS * 3600, settleSec: config.COLUMNS_SETTLE_SEC };
  const compress = async (): Promise<void> => {
    await compressChunks(database, columns, log, () => isStopped);
    const { quietSec } = columns;
    await packIndexes(database, { quietSec, rewrittenQuietSec: REWRITTEN_QUIET_SEC }, log, () => isStopped);
  };
  const retain = async (): Promise<void> => {
    await applyRetention({ database, audit: auditRollups, log, isStopped: () => isStopped });
  };
  const running: readonly Role[] = [
    startPushes(parts),
    startFiles(parts),
    startImports(parts),
    startSweeper('purge', PURGE_INTERVAL_MS, async () => void (await purgeExpired(database)), log),
    startSweeper('stalled sessions', STALLED_SESSION_INTERVAL_MS, endSessions, log),
    startSweeper('storage', STORAGE_INTERVAL_MS, watchStorage(database, parts.metrics), log),
    startSweeper('columns', COLUMNS_INTERVAL_MS, compress, log),
    startSweeper('retention', RETENTION_INTERVAL_MS, retain, log),
    startSweeper('rewrites', PURGE_INTERVAL_MS, () => compactRewrites(database), log),
    startSweeper('operation purge', PURGE_INTERVAL_MS, purgeOperations, log),
  ];
  return {
    stop: async () => {
      isStopped = true;
      await Promise.all(running.map((one) => one.stop()));
    },
  };
}

/** Writes the counts of one run of the retention job to the audit trail, with `retention` as the user. */
function auditRollups(queryable: Queryable, accountId: number, counts: RetentionCounts): Promise<void> {
  const caller = { userId: 'retention', userName: 'retention', accountId };
  return writeAudit(queryable, { caller, requestId: null }, { action: 'PointsRolledUp', details: { ...counts } });
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

function startImports(parts: Parts): Role {
  const { config, database, importQueue } = parts;
  const settings = {
    concurrency: config.STRUCTURE_IMPORT_CONCURRENCY,
    limits: {
      maxRows: config.STRUCTURE_IMPORT_MAX_ROWS,
      maxInflatedBytes: config.FILE_MAX_INFLATED_BYTES,
      maxRatio: config.FILE_MAX_RATIO,
    },
    retentionDays: config.STRUCTURE_IMPORT_RETENTION_DAYS,
    sweepIntervalMs: config.SWEEP_INTERVAL_MS,
  };
  return startImporter({ ...parts, declarations: openDeclarations(database), queue: importQueue, settings });
}
