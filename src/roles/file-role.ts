/** Part of the ingester role: Standard Files into points. */
import { startFileIngester } from '../files/processing/file-ingester.ts';
import type { Parts, Role } from './parts.ts';

export function startFileRole(parts: Parts): Role {
  const { config, fileQueue } = parts;
  const settings = {
    concurrency: config.FILE_CONCURRENCY,
    limits: {
      maxRows: config.FILE_MAX_ROWS,
      maxInflatedBytes: config.FILE_MAX_INFLATED_BYTES,
      maxRatio: config.FILE_MAX_RATIO,
    },
    retentionDays: config.FILE_RETENTION_DAYS,
    sweepIntervalMs: config.SWEEP_INTERVAL_MS,
  };
  return startFileIngester({ ...parts, queue: fileQueue, settings });
}
