/** Deletion of points and purges of versions (R-C6, R-F7, R-G5). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withTransaction } from '../../../../src/platform/database/database.ts';
import { deletePoints, findRemoved, type Removal } from '../../../../src/points/remove/delete-points.ts';
import {
  purgeRequestedVersions,
  purgeVersions,
  requestVersionPurge,
} from '../../../../src/points/remove/purge-versions.ts';
import { openPointStore, type PointStore, type WrittenPoint } from '../../../support/fixtures/point-store.ts';

const HOUR = 3_600_000_000;
const YEAR = 365 * 24 * HOUR;
const START = Date.UTC(2026, 0, 1) * 1000;
const at = (hour: number) => START + hour * HOUR;

let store: PointStore;
beforeAll(async () => {
  store = await openPointStore();
});
afterAll(() => store?.close());

const remove = (removal: Removal) =>
  withTransaction(store.database, (transaction) => deletePoints(transaction, removal));
const preview = (removal: Removal) =>
  withTransaction(store.database, (transaction) => findRemoved(transaction, removal));
const valuesOf = async (variableId: number) => (await store.readAll(variableId)).map(({ value }) => value);

/**
 * Adds a variable, and writes points at the same five hours twice: the values 10 to 14, then 20 to 24.
 * @returns the id of the variable.
 */
async function addTwice(isVersioned = true): Promise<number> {
  const variableId = await store.addVariable({ isVersioned });
  for (const base of [10, 20]) {
    await store.write(
      variableId,
      [0, 1, 2, 3, 4].map((hour): WrittenPoint => [at(hour), base + hour]),
    );
  }
  return variableId;
}

async function setSeries(variableId: number, setting: string): Promise<void> {
  await store.database.query(`update variable set ${setting} where id = $1`, [variableId]);
}

describe('points: deletion', () => {
  it.each([
    [
      'with an inclusive start and an exclusive end',
      { fromMicros: at(1), toMicros: at(3) },
      [10, 20, 13, 23, 14, 24],
      [at(1), at(2), 2],
    ],
    [
      'with an inclusive end',
      { fromMicros: at(1), toMicros: at(3), isToIncluded: true },
      [10, 20, 14, 24],
      [at(1), at(3), 3],
    ],
    ['with only a start', { fromMicros: at(3) }, [10, 20, 11, 21, 12, 22], [at(3), at(4), 2]],
    ['with only an end', { toMicros: at(1) }, [11, 21, 12, 22, 13, 23, 14, 24], [at(0), at(0), 1]],
    ['without start and end', {}, [], [at(0), at(4), 5]],
  ] as const)(
    'removes all versions of the points in a period %s, and counts the dates of these points (R-G5)',
    async (_case, period, left, range) => {
      const [variableId, other] = [await addTwice(), await addTwice()];
      const expected = [{ variableId, fromMicros: range[0], toMicros: range[1], count: range[2] }];
      expect(await preview({ variableIds: [variableId], ...period })).toEqual(expected);
      expect(await valuesOf(variableId), 'whatIf only counts').toHaveLength(10);
      expect(await remove({ variableIds: [variableId], ...period })).toEqual(expected);
      expect(await valuesOf(variableId)).toEqual(left);
      expect(await valuesOf(other), 'others keep theirs').toHaveLength(10);
    },
  );

  it('returns one range per variable that had points in the period, in the order of ids (R-G5)', async () => {
    const [first, second, empty] = [await addTwice(), await addTwice(), await store.addVariable({ isVersioned: true })];
    const counts = (await remove({ variableIds: [empty, second, first, 999_999], fromMicros: at(4) })).map(
      ({ variableId, count }) => [variableId, count],
    );
    expect(counts).toEqual([
      [first, 1],
      [second, 1],
    ]);
    expect(await remove({ variableIds: [first], fromMicros: at(4) })).toEqual([]);
  });

  it.each([
    ['all points', {}],
    ['the last points', { fromMicros: at(2) }],
    ['points in the middle', { fromMicros: at(1), toMicros: at(2) }],
  ] as const)(
    'after %s are deleted, later writes still follow the rules for VersionTags and the version limit (R-F1–F3)',
    async (_case, period) => {
      const variableId = await store.addVariable({ isVersioned: true, versionLimit: 2 });
      const write = (value: number, tag: string | null = null) =>
        store.write(
          variableId,
          [0, 1, 2].map((hour): WrittenPoint => [at(hour), value, tag]),
        );
      await write(1, 'A');
      const before = await write(2, 'B');
      await remove({ variableIds: [variableId], ...period });
      for (const [value, tag] of [
        [3, 'B'],
        [4, 'C'],
        [5, 'D'],
        [6, null],
        [7, 'D'],
      ] as const)
        await write(value, tag);
      const versions = await store.readAll(variableId);
      expect(versions.map(({ date, value }) => [date, value])).toEqual(
        [0, 1, 2].flatMap((hour) => [4, 6, 7].map((value) => [at(hour), value])),
      );
      for (const { versionTimestamp } of versions) expect(versionTimestamp).toBeGreaterThan(before.versionTimestamp);
    },
  );

  it('waits for a write whose transaction is open, and removes the points of this write too (R-G5)', async () => {
    const variableId = await addTwice();
    let removal: ReturnType<typeof remove> | undefined;
    await withTransaction(store.database, async (transaction) => {
      await transaction.query('select from series where variable_id = $1 for update', [variableId]);
      removal = remove({ variableIds: [variableId] });
      await transaction.query(`insert into point select '2030-01-01', 1, now(), $1, 0, 0`, [variableId]);
    });
    expect(await removal).toMatchObject([{ count: 6 }]);
    expect(await valuesOf(variableId)).toEqual([]);
  });

  it('increments `series.purge_count`; a preview, which only counts the points to delete, leaves `series.purge_count` unchanged (R-F8)', async () => {
    const variableId = await addTwice();
    const countOf = async () =>
      (await store.database.query('select purge_count as count from series where variable_id = $1', [variableId]))
        .rows[0]?.count;
    await preview({ variableIds: [variableId] });
    expect(await countOf()).toBe(0);
    await remove({ variableIds: [variableId], fromMicros: at(4) });
    expect(await countOf()).toBe(1);
  });
});

describe('points: purging versions', () => {
  const purge = (...variableIds: number[]) =>
    withTransaction(store.database, (transaction) => purgeVersions(transaction, variableIds));

  /**
   * Adds a variable with points at three dates, one of which is 40 years before the others. The 7 versions of each
   * point are alternately tagged (4) and untagged (3).
   */
  async function addMany(): Promise<number> {
    const variableId = await store.addVariable({ isVersioned: true });
    for (let value = 1; value <= 7; value += 1) {
      const tag = value % 2 === 1 ? `T${value}` : null;
      await store.write(variableId, [
        [START - 40 * YEAR, value, tag],
        [START, value, tag],
        [at(1), value, tag],
      ]);
    }
    return variableId;
  }

  it('applies a lowered version limit separately to the tagged and to the untagged versions of every date (R-F3, R-F7)', async () => {
    const [lowered, other] = [await addMany(), await addMany()];
    await setSeries(lowered, 'version_limit = 2');
    expect([...(await purge(lowered, other))]).toEqual([
      [lowered, 3 * 3],
      [other, 0],
    ]);
    expect(await valuesOf(lowered)).toEqual([4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7]);
    expect(await valuesOf(other)).toHaveLength(21);
    expect([...(await purge(lowered))], 'again').toEqual([[lowered, 0]]);
    await setSeries(lowered, 'version_limit = 1');
    expect([...(await purge(lowered))], 'lowered again').toEqual([[lowered, 3 * 2]]);
    expect(await valuesOf(lowered)).toEqual([6, 7, 6, 7, 6, 7]);
  });

  it('keeps the versions of a variable that is no longer versioned (R-C6)', async () => {
    const variableId = await addMany();
    await setSeries(variableId, 'version_limit = 1, is_versioned = false');
    expect([...(await purge(variableId))]).toEqual([[variableId, 0]]);
    expect(await valuesOf(variableId)).toHaveLength(21);
  });

  it('does not prevent later writes from applying the version limit (R-F3)', async () => {
    const variableId = await addMany();
    await setSeries(variableId, 'version_limit = 2');
    await purge(variableId);
    await store.write(variableId, [[START, 8, 'T8']]);
    expect((await store.readAll(variableId)).filter(({ date }) => date === START).map(({ value }) => value)).toEqual([
      4, 6, 7, 8,
    ]);
  });

  it('purges the versions of a variable only once when two pending requests name the variable (R-F7)', async () => {
    const [first, second] = [await addMany(), await addMany()];
    for (const id of [first, second]) await setSeries(id, 'version_limit = 2');
    const request = (...ids: number[]) =>
      withTransaction(store.database, (transaction) => requestVersionPurge(transaction, store.accountId, ids));
    await request(second, first);
    await request(first, 999_999);
    let purged = 0;
    while (await purgeRequestedVersions(store.database)) purged += 1;
    expect(purged).toBe(3);
    for (const id of [first, second]) expect(await valuesOf(id)).toHaveLength(12);
  });

  it('continues with other variables when one variable fails, and retries this variable after growing delays (R-F7)', async () => {
    const [broken, sound] = [await addMany(), await addMany()];
    for (const id of [broken, sound]) await setSeries(id, 'version_limit = 2');
    for (const id of [broken, sound]) {
      await withTransaction(store.database, (transaction) => requestVersionPurge(transaction, store.accountId, [id]));
    }
    // Makes the purge of the variable `broken` fail: the constraint rejects updates of this variable's row in `series`.
    await store.database.query(
      `alter table series add constraint broken check (variable_id <> ${broken} or version_bound > 2) not valid`,
    );
    const waitingMs = async () => {
      const { rows } = await store.database.query<{ ms: number }>(
        `select extract(epoch from next_attempt_date - clock_timestamp()) * 1000 as ms from version_purge
         where variable_id = $1`,
        [broken],
      );
      return Number(rows[0]?.ms);
    };
    await expect(purgeRequestedVersions(store.database)).rejects.toThrow('broken');
    expect(await purgeRequestedVersions(store.database)).toBeDefined();
    expect(await valuesOf(sound)).toHaveLength(12);
    expect(await purgeRequestedVersions(store.database), 'the broken one waits').toBeUndefined();
    const firstMs = await waitingMs();
    await store.database.query(`update version_purge set next_attempt_date = '-infinity'`);
    await expect(purgeRequestedVersions(store.database)).rejects.toThrow('broken');
    expect(await waitingMs()).toBeGreaterThan(1.5 * firstMs);
    await store.database.query('alter table series drop constraint broken');
    await store.database.query(`update version_purge set next_attempt_date = '-infinity'`);
    expect(await purgeRequestedVersions(store.database)).toBeDefined();
    expect(await valuesOf(broken)).toHaveLength(12);
  });
});
