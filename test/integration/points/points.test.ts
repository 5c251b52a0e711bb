import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  openPointStore,
  type PointStore,
  type StoredPoint,
  type WrittenPoint,
} from '../../support/fixtures/point-store.ts';

const HOUR = 3_600_000_000;
const START = Date.UTC(2026, 0, 1) * 1000;
const at = (hour: number) => START + hour * HOUR;

let store: PointStore;
beforeAll(async () => {
  store = await openPointStore();
});
afterAll(() => store.close());

const labels = (points: readonly StoredPoint[]) => points.map(({ value, tag }) => [value, tag]);

/** Writes each batch in a transaction of its own. */
async function writeAll(variableId: number, batches: readonly (readonly WrittenPoint[])[]): Promise<void> {
  for (const batch of batches) await store.write(variableId, batch);
}

describe('points: a write to one date of a variable', () => {
  // The cases are the table of §9.2, "Processing result per measurement", and R-F2–F4. The expected values are the
  // versions of one date, oldest first.
  it.each([
    [
      'a new VersionTag makes a new version',
      true,
      ['V1', 'V2'],
      [
        [1, 'V1'],
        [2, 'V2'],
      ],
    ],
    ['a write with a stored VersionTag replaces the version (R-F2)', true, ['V1', 'V1'], [[2, 'V1']]],
    [
      'a version that replaces another becomes the latest (R-F2)',
      true,
      ['V1', 'V2', 'V1'],
      [
        [2, 'V2'],
        [3, 'V1'],
      ],
    ],
    [
      'a write without a VersionTag makes a new version',
      true,
      [null, null],
      [
        [1, null],
        [2, null],
      ],
    ],
    [
      'tagged and untagged versions coexist',
      true,
      [null, 'V1', null],
      [
        [1, null],
        [2, 'V1'],
        [3, null],
      ],
    ],
    ['without versioning, only the last write is kept (R-F4)', false, [null, null], [[2, null]]],
    ['without versioning, the VersionTags of two writes are not kept (R-F4)', false, ['V1', 'V2'], [[2, null]]],
    ['without versioning, the VersionTag of the only write is not kept (R-F4)', false, ['V1'], [[1, null]]],
  ] as const)('%s (§9.2)', async (_rule, isVersioned, tags, expected) => {
    const history = tags.map((tag, index): readonly WrittenPoint[] => [[START, index + 1, tag]]);
    const apart = await store.addVariable({ isVersioned });
    await writeAll(apart, history);
    const together = await store.addVariable({ isVersioned });
    await store.write(together, history.flat());
    const behind = await store.addVariable({ isVersioned });
    await writeAll(behind, [[[at(1), 0]], ...history]);
    expect(labels(await store.readAll(apart)), 'in a batch each').toEqual(expected);
    expect(labels(await store.readAll(together)), 'in one batch').toEqual(expected);
    expect(labels((await store.readAll(behind)).slice(0, -1)), 'before a later date').toEqual(expected);
  });

  it('keeps the newest two tagged and two untagged versions when the versionLimit is 2 (§8, R-F3)', async () => {
    const variableId = await store.addVariable({ isVersioned: true, versionLimit: 2 });
    await writeAll(variableId, [[[START, 1, 'A']], [[START, 2]], [[START, 3, 'B']], [[START, 4]], [[START, 5, 'C']]]);
    expect(labels(await store.readAll(variableId))).toEqual([
      [2, null],
      [3, 'B'],
      [4, null],
      [5, 'C'],
    ]);
    await store.write(variableId, [
      [START, 6],
      [START, 7],
      [START, 8],
    ]);
    expect(labels(await store.readAll(variableId))).toEqual([
      [3, 'B'],
      [5, 'C'],
      [7, null],
      [8, null],
    ]);
  });

  it('uses the versionLimit of the account, 7 by default, when the variable has none (§8)', async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    const values = async () => (await store.readAll(variableId)).map(({ value }) => value);
    for (let value = 1; value <= 10; value++) await store.write(variableId, [[START, value]]);
    expect(await values()).toEqual([4, 5, 6, 7, 8, 9, 10]);
    const setLimit = (limit: number) =>
      store.database.query('update account set version_limit = $2 where id = $1', [store.accountId, limit]);
    await setLimit(2);
    await store.write(variableId, [[START, 11]]);
    await setLimit(7);
    expect(await values()).toEqual([10, 11]);
  });

  it('keeps the latest tagged and the latest untagged version when the versionLimit is 1 (R-F3)', async () => {
    const variableId = await store.addVariable({ isVersioned: true, versionLimit: 1 });
    await store.write(variableId, [
      [START, 1, 'A'],
      [START, 2],
      [START, 3, 'B'],
      [START, 4],
    ]);
    expect(labels(await store.readAll(variableId))).toEqual([
      [3, 'B'],
      [4, null],
    ]);
  });

  it('applies a lowered versionLimit to the written date only (R-F7)', async () => {
    const variableId = await store.addVariable({ isVersioned: true, versionLimit: 3 });
    for (let value = 1; value <= 3; value++)
      await store.write(variableId, [
        [START, value],
        [at(1), value],
      ]);
    await store.database.query('update variable set version_limit = 1 where id = $1', [variableId]);
    await store.write(variableId, [[START, 4]]);
    expect((await store.readAll(variableId)).map(({ value }) => value)).toEqual([4, 1, 2, 3]);
  });

  it('assigns VersionTimestamps that strictly increase within and across batches (R-F1)', async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    for (let batch = 0; batch < 3; batch++)
      await store.write(variableId, [
        [START, batch],
        [START, batch + 0.5],
      ]);
    const versions = await store.readAll(variableId);
    const stamps = versions.map(({ versionTimestamp }) => versionTimestamp);
    expect(stamps).toHaveLength(6);
    expect(new Set(stamps).size).toBe(6);
    expect(versions.map(({ value }) => value)).toEqual([0, 0.5, 1, 1.5, 2, 2.5]);
  });

  it('assigns a later VersionTimestamp than the stored one, even if the database clock has gone back (R-F1)', async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    await store.write(variableId, [[START, 1]]);
    const ahead = `now() + interval '1 day'`;
    await store.database.query(`update point set version_timestamp = ${ahead} where variable_id = $1`, [variableId]);
    await store.database.query(`update series set last_version_timestamp = ${ahead} where variable_id = $1`, [
      variableId,
    ]);
    await store.write(variableId, [[START, 2]]);
    expect((await store.readAll(variableId)).map(({ value }) => value)).toEqual([1, 2]);
    expect(await store.read(variableId)).toMatchObject([{ value: 2 }]);
  });

  it('does not change other dates or variables (§9.2)', async () => {
    const [written, other] = [
      await store.addVariable({ isVersioned: true }),
      await store.addVariable({ isVersioned: true }),
    ];
    await store.write(written, [
      [START, 1, 'V1'],
      [at(1), 2, 'V1'],
    ]);
    await store.write(other, [[START, 3, 'V1']]);
    await store.write(written, [[START, 4, 'V1']]);
    expect(labels(await store.readAll(written))).toEqual([
      [4, 'V1'],
      [2, 'V1'],
    ]);
    expect(labels(await store.readAll(other))).toEqual([[3, 'V1']]);
  });
});

describe('points: a variable whose isVersioned changes', () => {
  it('a change to false keeps the versions of a date until this date is written again (R-C6, R-F4)', async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    await writeAll(variableId, [
      [
        [START, 1, 'V1'],
        [at(1), 1, 'V1'],
      ],
      [
        [START, 2, 'V2'],
        [at(1), 2, 'V2'],
      ],
    ]);
    await store.database.query('update variable set is_versioned = false where id = $1', [variableId]);
    expect(labels(await store.read(variableId, { versionTags: ['V1'] }))).toEqual([
      [1, 'V1'],
      [1, 'V1'],
    ]);
    await store.write(variableId, [[START, 3, 'V3']]);
    expect(labels(await store.readAll(variableId))).toEqual([
      [3, null],
      [1, 'V1'],
      [2, 'V2'],
    ]);
  });

  it('a change to true keeps the stored row of each date as its first version (R-F4)', async () => {
    const variableId = await store.addVariable({ isVersioned: false });
    await writeAll(variableId, [[[START, 1, 'V1']], [[START, 2, 'V1']]]);
    await store.database.query('update variable set is_versioned = true where id = $1', [variableId]);
    await store.write(variableId, [[START, 3, 'V1']]);
    expect(labels(await store.readAll(variableId))).toEqual([
      [2, null],
      [3, 'V1'],
    ]);
  });
});

describe('points: reading', () => {
  it('a read as of an instant returns, for each date, the version with the greatest VersionTimestamp at or before this instant (R-F5)', async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    const first = await store.write(variableId, [[START, 1]]);
    const second = await store.write(variableId, [
      [START, 2],
      [at(1), 20],
    ]);
    const asOf = async (asOfMicros: number) => (await store.read(variableId, { asOfMicros })).map(({ value }) => value);
    expect(await asOf(first.versionTimestamp - 1), 'before everything').toEqual([]);
    expect(await asOf(first.versionTimestamp), 'at the first write').toEqual([1]);
    expect(await asOf(second.versionTimestamp - 1), 'just before the second').toEqual([1]);
    expect(await asOf(second.versionTimestamp), 'at the second write').toEqual([2, 20]);
  });

  it('a read by VersionTags returns, for each date, the latest version with one of these VersionTags (§9.2)', async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    await writeAll(variableId, [
      [[START, 1, 'Z']],
      [[START, 2, 'A']],
      [[START, 3]],
      [[at(1), 4]],
      [[at(2), 5, 'A']],
      [[at(2), 6, 'Z']],
    ]);
    const under = async (...versionTags: string[]) => labels(await store.read(variableId, { versionTags }));
    expect(await under('Z')).toEqual([
      [1, 'Z'],
      [6, 'Z'],
    ]);
    expect(await under('Z', 'A')).toEqual([
      [2, 'A'],
      [6, 'Z'],
    ]);
    expect(await under('unknown')).toEqual([]);
    expect(await under()).toEqual([]);
  });

  it.each([
    ['`from` is inclusive, and `to` is exclusive', { fromMicros: at(1), toMicros: at(3) }, [1, 2]],
    [
      '`includeToBoundary` includes the point at `to`',
      { fromMicros: at(1), toMicros: at(3), isToIncluded: true },
      [1, 2, 3],
    ],
    ['a period whose `from` equals its `to` has no points', { fromMicros: at(1), toMicros: at(1) }, []],
    [
      'a period of one instant with its end included has the point of this instant',
      { fromMicros: at(1), toMicros: at(1), isToIncluded: true },
      [1],
    ],
    ['the order DESC returns descending dates', { order: 'DESC' }, [4, 3, 2, 1, 0]],
    ['`limit` 2 and `offset` 2 return the third and the fourth point', { limit: 2, offset: 2 }, [2, 3]],
    ['`limit` 1 in the order DESC returns the last point', { limit: 1, offset: 0, order: 'DESC' }, [4]],
  ] as const)('%s (§2, R-G1)', async (_rule, selection, expected) => {
    const variableId = await store.addVariable({ isVersioned: true });
    // Every date has two versions, so that reads by VersionTag or as of an instant use `point` and `point_version`.
    await store.write(
      variableId,
      [0, 1, 2, 3, 4].map((hour) => [at(hour), hour - 10, 'V0']),
    );
    await store.write(
      variableId,
      [0, 1, 2, 3, 4].map((hour) => [at(hour), hour, 'V1']),
    );
    const values = async (version = {}) => (await store.read(variableId, version, selection)).map(({ value }) => value);
    expect(await values()).toEqual(expected);
    expect(await values({ versionTags: ['V0'] })).toEqual(expected.map((value) => value - 10));
    expect(await values({ asOfMicros: at(1_000_000) })).toEqual(expected);
  });

  it('keeps microseconds of dates and all bits of values (R-A8)', async () => {
    const variableId = await store.addVariable({ isVersioned: false });
    const points = [
      [-8_520_335_999_999_999, 5e-324],
      [START + 1, 0.1 + 0.2],
      [7_258_118_399_999_999, -1.7e308],
    ] as const;
    await store.write(variableId, points);
    expect((await store.read(variableId)).map(({ date, value }) => [date, value])).toEqual(points);
  });
});

// See also point-laws.test.ts, which compares the store with a model over whole histories.
describe('points: laws of versioning', () => {
  const write = fc.record({
    date: fc.integer({ min: 0, max: 5 }),
    value: fc.integer({ min: 0, max: 999 }),
    tag: fc.constantFrom(null, null, 'A', 'B', 'C'),
  });
  const history = fc.array(fc.array(write, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 });
  const settings = fc.record({ isVersioned: fc.boolean(), versionLimit: fc.integer({ min: 1, max: 3 }) });
  const simple = (points: readonly { date: number; value: number; tag: string | null }[]) =>
    points.map(({ date, value, tag }) => [date, value, tag]);

  it('a history gives the same versions whether one batch writes all points or each point has a batch of its own (R-F1)', async () => {
    await fc.assert(
      fc.asyncProperty(history, settings, async (batches, setting) => {
        const [apart, together] = [await store.addVariable(setting), await store.addVariable(setting)];
        const points = batches.flat().map(({ date, value, tag }): WrittenPoint => [at(date), value, tag]);
        for (const point of points) await store.write(apart, [point]);
        await store.write(together, points);
        expect(simple(await store.readAll(together))).toEqual(simple(await store.readAll(apart)));
      }),
      { numRuns: 30 },
    );
  });
});
