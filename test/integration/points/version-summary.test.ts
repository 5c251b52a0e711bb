/** Concurrent listings of the versions of one variable (R-F8). */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, withTransaction } from '../../../src/platform/database/database.ts';
import { listVersions } from '../../../src/structure/versions/list-versions.ts';
import { eventually } from '../../support/eventually.ts';
import { openPointStore, type PointStore, type WrittenPoint } from '../../support/fixtures/point-store.ts';

const START = Date.UTC(2026, 0, 1) * 1000;
const PERIOD = 28 * 86_400_000_000;
const PERIODS = 24;

let store: PointStore;
beforeAll(async () => {
  store = await openPointStore();
});
afterAll(() => store?.close());

const writePeriods = (variableId: number, step: number) =>
  store.write(
    variableId,
    Array.from({ length: PERIODS / step }, (_, index): WrittenPoint => [START + index * step * PERIOD, index]),
  );

const REFRESH = 'select refresh_version_summary($1)';

/**
 * Finds the calls of `refresh_version_summary` that wait for a lock.
 * @returns `holds` for each call: the number of write locks on `version_summary` that the session of the call holds.
 */
async function findWaiting(database: Database): Promise<readonly { readonly holds: number }[]> {
  const { rows } = await database.query<{ holds: number }>(
    `select (select count(*)::int from pg_locks held where held.pid = activity.pid and held.granted
             and held.relation = 'version_summary'::regclass and held.mode = 'RowExclusiveLock') as holds
     from pg_stat_activity activity
     where datname = current_database() and wait_event_type = 'Lock' and query = $1`,
    [REFRESH],
  );
  return rows;
}

it('points: while one listing of versions waits for another listing, the waiting listing holds no write lock on version_summary (R-F8)', async () => {
  const variableId = await store.addVariable({ isVersioned: true });
  await writePeriods(variableId, 1);
  const { second } = await withTransaction(
    store.database,
    async (first) => {
      await first.query(REFRESH, [variableId]);
      const begun = store.database.query(REFRESH, [variableId]);
      await eventually('the second one waits', async () => (await findWaiting(store.database)).length === 1);
      expect(await findWaiting(store.database)).toEqual([{ holds: 0 }]);
      return { second: begun };
    },
    { idleTimeoutMs: 0 },
  );
  await second;
});

it('points: a listing of versions counts every version, even when earlier listings ran beside the writes (R-F8)', async () => {
  const variableId = await store.addVariable({ isVersioned: true });
  const list = () => listVersions(store.database, variableId);
  for (const step of [1, 2, 3, 4]) {
    await Promise.all([writePeriods(variableId, step), list(), list(), list()]);
  }
  const [first, second] = await Promise.all([list(), list()]);
  expect(first?.map(({ version, pointCount }) => [version, pointCount])).toEqual([[null, 24 + 12 + 8 + 6]]);
  expect(second).toEqual(first);
});
