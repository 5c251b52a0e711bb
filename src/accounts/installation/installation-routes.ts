/**
 * `GET /admin/operate`: the state of the installation, for its administrators. The console shows it in the view Operate.
 */
import { Hono } from 'hono';
import { type CallerEnv, requireRole } from '../../identity/authentication/authenticate.ts';
import type { Database } from '../../platform/database/database.ts';
import { recent } from '../../platform/metrics/recent.ts';
import { readInstallation } from './installation-report.ts';

export interface StoredPart {
  /** Account of the points; null for points of deleted variables, until these points are purged. */
  readonly accountId: number | null;
  readonly points: number;
  readonly bytes: number;
}

export interface InstallationServices {
  readonly database: Database;
  /** Reads the amount of waiting work, by metric name. */
  readonly readBacklog: () => Promise<Readonly<Record<string, number>>>;
  /** Counts stored points, which may take minutes. */
  readonly measureStorage: () => Promise<readonly StoredPart[]>;
}

/** Minimum milliseconds between two measurements of storage. Only a request starts a measurement. */
const STORAGE_MAX_AGE_MS = 10 * 60_000;
/** Maximum milliseconds that a call waits; a longer measurement continues in the background for a later call. */
const STORAGE_TIMEOUT_MS = 2000;
const BACKLOG = { maxAgeMs: 2000, timeoutMs: 2500 } as const;

/** The route `GET /admin/operate`. Mount it at the root, behind bearer authentication. */
export function installationRoutes({ database, readBacklog, measureStorage }: InstallationServices): Hono<CallerEnv> {
  const backlog = recent(readBacklog, BACKLOG);
  const storage = recent(async () => sumByAccount(database, await measureStorage()), {
    maxAgeMs: STORAGE_MAX_AGE_MS,
    timeoutMs: STORAGE_TIMEOUT_MS,
  });
  return new Hono<CallerEnv>().get('/admin/operate', requireRole('ADMIN'), async (c) => {
    c.header('Cache-Control', 'no-store');
    const report = await readInstallation(database);
    const [waiting = {}, stored] = await Promise.all([backlog(), storage()]);
    return c.json({ checkedDate: new Date().toISOString(), waiting, ...report, storage: stored ?? null });
  });
}

export interface StoredAccount extends StoredPart {
  readonly accountName: string | null;
}

/** @returns the sums of each account, the account with the most bytes first. */
async function sumByAccount(database: Database, parts: readonly StoredPart[]): Promise<readonly StoredAccount[]> {
  const { rows } = await database.query<{ id: number; name: string }>('select id, name from account');
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  const sums = new Map<number | null, StoredAccount>();
  for (const { accountId, points, bytes } of parts) {
    const sum = sums.get(accountId);
    const accountName = accountId === null ? null : (names.get(accountId) ?? null);
    sums.set(accountId, {
      accountId,
      accountName,
      points: Math.round(points + (sum?.points ?? 0)),
      bytes: Math.round(bytes + (sum?.bytes ?? 0)),
    });
  }
  return [...sums.values()].sort((a, b) => b.bytes - a.bytes);
}
