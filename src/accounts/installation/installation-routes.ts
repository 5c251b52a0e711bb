/**
 * `GET /admin/operate`: the state of the installation, for its administrators. The console shows this state in the view
 * Operate.
 */
import { Hono } from 'hono';
import { type CallerEnv, requireRole } from '../../identity/authentication/authenticate.ts';
import type { Database } from '../../platform/database/database.ts';
import { recent } from '../../platform/metrics/recent.ts';
import { readInstallation } from './installation-report.ts';

export interface StoredPart {
  /** Account of the points; null when their variables are deleted and the points are not purged yet. */
  readonly accountId: number | null;
  readonly points: number;
  readonly bytes: number;
}

export interface InstallationServices {
  readonly database: Database;
  /** @returns numbers about waiting and running work, such as counts, bytes and ages. The keys are metric names. */
  readonly readBacklog: () => Promise<Readonly<Record<string, number>>>;
  /** Measures the number and disk space of the stored points. The measurement may take minutes. */
  readonly measureStorage: () => Promise<readonly StoredPart[]>;
}

/** Milliseconds for which the measured disk usage is reused. The next request after this time measures it again. */
const STORAGE_MAX_AGE_MS = 10 * 60_000;
/**
 * Maximum time in milliseconds that a request waits for a measurement of disk usage. A longer measurement continues in
 * the background, for a later request.
 */
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

/** @returns the total points and bytes of each `accountId` in `parts`. The entry with the most bytes is first. */
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
