/** Tests the queues of two background purges: of deleted variables, and of stored versions (R-C7, R-F7, R-A14). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  attemptPurge,
  type PurgeFailure,
  type PurgeTurn,
  performDuePurges,
  takeFrom,
} from '../../../../src/points/remove/attempt-purge.ts';
import { purgeDeletedVariable } from '../../../../src/points/remove/purge-points.ts';
import { purgeRequestedVersions } from '../../../../src/points/remove/purge-versions.ts';
import { openPointStore, type PointStore } from '../../../support/fixtures/point-store.ts';

const PURGES = { point_purge: purgeDeletedVariable, version_purge: purgeRequestedVersions } as const;

let store: PointStore;
beforeAll(async () => {
  store = await openPointStore();
});
afterAll(() => store?.close());
beforeEach(() => store.database.query('truncate point_purge, version_purge'));

/** Queues one purge for each of `count` variable ids. No variables with these ids exist. */
const request = (table: keyof typeof PURGES, accountId: number, firstId: number, count: number) =>
  store.database.query(
    `insert into ${table} (account_id, variable_id) select $1, $2 + number from generate_series(0, $3 - 1) number`,
    [accountId, firstId, count],
  );

describe.each(['point_purge', 'version_purge'] as const)('background purges: the queue %s', (table) => {
  it('accounts take turns: many waiting purges of one account delay another account by one purge only (R-A14)', async () => {
    for (const [accountId, count] of [
      [7, 4],
      [8, 1],
      [9, 2],
    ] as const)
      await request(table, accountId, accountId * 1000, count);
    const accounts: number[] = [];
    let turn: PurgeTurn | undefined = await PURGES[table](store.database);
    for (; turn; turn = await PURGES[table](store.database, turn)) accounts.push(turn.accountId);
    expect(accounts).toEqual([7, 8, 9, 7, 9, 7, 7]);
  });

  it('failing purges of one account do not keep the purges of other accounts waiting (R-A14)', async () => {
    for (const [accountId, firstId] of [
      [7, 7000],
      [8, 8000],
    ] as const)
      await request(table, accountId, firstId, 2);
    const purged: number[] = [];
    const failures: PurgeFailure[] = [];
    const work = async (_transaction: unknown, variableId: number) => {
      if (variableId < 8000) throw new Error('broken');
      return purged.push(variableId) > 0;
    };
    await performDuePurges(
      store.database,
      (database, last) => attemptPurge(database, table, last, work),
      () => false,
      (failure) => failures.push(failure),
    );
    expect(purged).toEqual([8000, 8001]);
    expect(failures.map(({ variableId, message }) => [variableId, message])).toEqual([
      [7000, 'the purge of variable 7000 failed: broken'],
      [7001, 'the purge of variable 7001 failed: broken'],
    ]);
  });

  it('the purges of one account run in the order of the requests', async () => {
    for (const id of [3, 1, 2]) await request(table, 7, id, 1);
    const variableIds: number[] = [];
    let turn: PurgeTurn | undefined;
    do {
      turn = await attemptPurge(store.database, table, turn, async (_transaction, variableId) => {
        variableIds.push(variableId);
        return true;
      });
    } while (turn);
    expect(variableIds).toEqual([3, 1, 2]);
  });

  it('the next purge in a queue of 20,000 is found through an index, without a sort', async () => {
    await request(table, 7, 1, 20_000);
    await store.database.query(`analyze ${table}`);
    const explained = `explain (costs off) ${takeFrom(table).replace('$1', '6')}`;
    const { rows } = await store.database.query<{ 'QUERY PLAN': string }>(explained);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain(`Index Scan using ${table}_turn`);
    expect(plan).not.toMatch(/Sort|Seq Scan/);
  });
});
