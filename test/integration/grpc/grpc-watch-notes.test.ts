/**
 * Tests of rewrite records (`point_rewrite`) and of the merging of old ones (R-J1). A rewrite record holds the first
 * and the last date of a write that did more than append points. A watch uses these records to find changed points.
 */
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withTransaction } from '../../../src/platform/database/database.ts';
import {
  type ChangePosition,
  findChanges,
  findLastVersions,
  groupChanges,
  selectChanges,
} from '../../../src/points/read/read-changes.ts';
import { streamFromIndexes } from '../../../src/points/read/select-of-variables.ts';
import { purgeDeletedVariable } from '../../../src/points/remove/purge-points.ts';
import { compactRewrites } from '../../../src/points/write/record-rewrites.ts';
import { AT_BEGINNING } from '../../../src/watching/cursor.ts';
import { streamChanges } from '../../../src/watching/stream-changes.ts';
import { openPointStore, type PointStore, type WrittenPoint } from '../../support/fixtures/point-store.ts';

const OF_BEFORE = new URL('../../../sql/migrations/0029_rewrites_of_before.sql', import.meta.url);
const DAY = 86_400_000_000;
const START = Date.UTC(2020, 0, 1) * 1000;
const DAYS = 2000;

let store: PointStore;
beforeAll(async () => {
  store = await openPointStore();
});
afterAll(() => store?.close());

const day = (number: number) => START + number * DAY;

/** Reads the first and last day of each rewrite record of the variable, oldest first. */
async function notesOf(variableId: number): Promise<readonly (readonly number[])[]> {
  const { rows } = await store.database.query<{ days: number[] }>(
    `select array[extract(epoch from from_date) * 1000000, extract(epoch from to_date) * 1000000]::float8[] as days
     from point_rewrite where variable_id = $1 order by version_timestamp`,
    [variableId],
  );
  return rows.map(({ days }) => days.map((micros) => (micros - START) / DAY));
}

async function positionOf(variableId: number): Promise<ChangePosition> {
  const versionTimestamp = (await findLastVersions(store.database, [variableId])).get(variableId);
  return versionTimestamp === undefined ? AT_BEGINNING : { ...AT_BEGINNING, versionTimestamp };
}

async function changesOf(variableId: number, position: ChangePosition): Promise<readonly number[]> {
  const values: number[] = [];
  const changes = streamChanges(
    store.database,
    new Map([[variableId, position]]),
    undefined,
    new AbortController().signal,
  );
  for await (const item of changes) if (item.kind === 'points') values.push(...item.chunk.values);
  return values;
}

describe('watch: a write', () => {
  it('creates a rewrite record if one of its dates precedes the last stored date or has two versions (R-J1)', async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    const writes: readonly (readonly WrittenPoint[])[] = [
      [
        [day(0), 1],
        [day(9), 2],
      ],
      [[day(10), 3]],
      [
        [day(4), 4],
        [day(11), 5],
      ],
      [[day(9), 6]],
      [
        [day(12), 7, 'A'],
        [day(12), 8, 'B'],
        [day(13), 9],
      ],
      [
        [day(15), 10],
        [day(14), 11],
      ],
    ];
    for (const points of writes) await store.write(variableId, points);
    expect(await notesOf(variableId)).toEqual([
      [4, 11],
      [9, 9],
      [12, 13],
    ]);
  });

  it('stores no point when its rewrite record cannot be stored (R-J1)', async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    await store.write(variableId, [[day(0), 1]]);
    const { database } = store;
    await database.query(`alter table point_rewrite add constraint none check (variable_id <> ${variableId})`);
    await expect(store.write(variableId, [[day(0), 2]])).rejects.toThrow(/none/);
    await database.query('alter table point_rewrite drop constraint none');
    expect(await store.readAll(variableId)).toMatchObject([{ value: 1 }]);
  });
});

const write = fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.constantFrom(null, 'A', 'B')), {
  minLength: 1,
  maxLength: 5,
});

describe('watch changes: the changes after a position', () => {
  it('are all stored points after the position, sorted by VersionTimestamp, then date (R-J1)', async () => {
    let value = 0;
    const checkPositions = async (
      isVersioned: boolean,
      writes: readonly (readonly (readonly [number, string | null])[])[],
    ) => {
      const variableId = await store.addVariable({ isVersioned, versionLimit: 3 });
      for (const points of writes) {
        const first = value;
        value += points.length;
        await store.write(
          variableId,
          points.map(([number, tag], index): WrittenPoint => [day(number), first + index, tag]),
        );
      }
      const all = await store.readAll(variableId);
      const kept = [...all].sort((a, b) => a.versionTimestamp - b.versionTimestamp || a.date - b.date);
      const valuesFrom = (index: number) => kept.slice(index).map((point) => point.value);
      expect(await changesOf(variableId, AT_BEGINNING)).toEqual(valuesFrom(0));
      for (const [index, { versionTimestamp, date }] of kept.entries()) {
        const found = await changesOf(variableId, { versionTimestamp, dateMicros: date });
        expect([index, found]).toEqual([index, valuesFrom(index + 1)]);
      }
      expect(await changesOf(variableId, await positionOf(variableId))).toEqual([]);
    };
    await fc.assert(fc.asyncProperty(fc.boolean(), fc.array(write, { minLength: 1, maxLength: 5 }), checkPositions), {
      numRuns: 40,
      examples: [
        // This write has a rewrite record, because one date has two versions. The test also reads from positions in the
        // middle of this write.
        [
          true,
          [
            [
              [0, 'A'],
              [0, 'B'],
              [1, null],
            ],
          ],
        ],
        // The second write stores a new version at each of two dates that already have a point, so this write has a
        // rewrite record. The test also reads from the position between these two new versions.
        [
          true,
          [
            [
              [0, null],
              [1, null],
              [2, null],
            ],
            [
              [0, null],
              [1, null],
            ],
          ],
        ],
      ],
    });
  }, 60_000);
});

/** Backdates the stored writes of a variable. */
async function age(variableId: number, length: string): Promise<void> {
  for (const table of ['point', 'point_version', 'point_rewrite']) {
    await store.database.query(
      `update ${table} set version_timestamp = version_timestamp - $2::interval where variable_id = $1`,
      [variableId, length],
    );
  }
  await store.database.query(
    'update series set last_version_timestamp = last_version_timestamp - $2::interval where variable_id = $1',
    [variableId, length],
  );
}

describe('watch: records of rewrites', () => {
  it('a watch finds the same points after old records are merged into one record per day, and later into a single record (R-J1)', async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    await store.write(variableId, [
      [day(0), 0],
      [day(50), 0],
    ]);
    await age(variableId, '1 day');
    const before = await positionOf(variableId);
    for (const value of [1, 2]) await store.write(variableId, [[day(value), value]]);
    const between = await positionOf(variableId);
    await store.write(variableId, [[day(3), 3]]);
    const seen = { versionTimestamp: before.versionTimestamp, dateMicros: before.dateMicros };
    expect(await changesOf(variableId, seen)).toEqual([1, 2, 3]);
    await compactRewrites(store.database);
    expect(await notesOf(variableId)).toHaveLength(3);
    await age(variableId, '2 days');
    const aged = { ...seen, versionTimestamp: seen.versionTimestamp - 2 * DAY };
    await compactRewrites(store.database);
    expect(await notesOf(variableId)).toEqual([[1, 3]]);
    expect(await changesOf(variableId, aged)).toEqual([1, 2, 3]);
    const agedBetween = { ...between, versionTimestamp: between.versionTimestamp - 2 * DAY };
    expect(await changesOf(variableId, agedBetween)).toEqual([3]);
    await store.write(variableId, [[day(30), 4]]);
    await age(variableId, '40 days');
    await compactRewrites(store.database);
    expect(await notesOf(variableId)).toEqual([[1, 30]]);
    const oldest = { ...aged, versionTimestamp: aged.versionTimestamp - 40 * DAY };
    expect(await changesOf(variableId, oldest)).toEqual([1, 2, 3, 4]);
  });

  it('with the record that migration 0029 creates for earlier rewrites, a watch finds the same points as with the original records (R-J1)', async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    for (const points of [
      [
        [day(0), 1],
        [day(9), 2],
      ],
      [[day(0), 3]],
      [[day(5), 4]],
    ] as const) {
      await store.write(variableId, points);
    }
    const [oldest] = [...(await store.readAll(variableId))].sort((a, b) => a.versionTimestamp - b.versionTimestamp);
    const position: ChangePosition = { versionTimestamp: oldest?.versionTimestamp ?? 0, dateMicros: day(9) };
    expect(await changesOf(variableId, position)).toEqual([3, 4]);
    await store.database.query('delete from point_rewrite where variable_id = $1', [variableId]);
    await store.database.query(await readFile(OF_BEFORE, 'utf8'));
    expect(await changesOf(variableId, position)).toEqual([3, 4]);
    await store.write(variableId, [[day(10), 5]]);
    expect(await changesOf(variableId, position)).toEqual([3, 4, 5]);
  });

  it('are deleted when the points of a deleted variable are deleted (R-C7)', async () => {
    const variableId = await store.addVariable({ isVersioned: false });
    for (const value of [1, 2]) await store.write(variableId, [[day(0), value]]);
    expect(await notesOf(variableId)).toHaveLength(1);
    await store.database.query('insert into point_purge (account_id, variable_id) values ($1, $2)', [
      store.accountId,
      variableId,
    ]);
    while (await purgeDeletedVariable(store.database));
    expect(await notesOf(variableId)).toEqual([]);
  });
});

describe('watch changes: points of the last three days', () => {
  it('are read through indexes of at most two chunks, although the tables hold 2,000 days of points (R-J1)', async () => {
    const ids: number[] = [];
    for (let count = 0; count < 3; count += 1) ids.push(await store.addVariable({ isVersioned: true }));
    const points = Array.from({ length: DAYS }, (_, index): WrittenPoint => [day(index), index]);
    for (const id of ids) await store.write(id, points);
    const positions = new Map<number, ChangePosition>();
    for (const id of ids) positions.set(id, await positionOf(id));
    for (const id of ids)
      await store.write(id, [
        [day(DAYS - 2), -1],
        [day(DAYS), -2],
      ]);
    await store.database.query('vacuum (analyze) point, point_version, series, point_rewrite');
    const { groups, plan } = await withTransaction(store.database, async (transaction) => {
      await streamFromIndexes(transaction);
      const found = groupChanges(await findChanges(transaction, positions));
      const { rows } = await transaction.query<Record<'QUERY PLAN', string>>(
        `explain (analyze, costs off, timing off) ${selectChanges(found[0] ?? [])}`,
      );
      return { groups: found, plan: rows.map((row) => row['QUERY PLAN']).join('\n') };
    });
    expect(groups).toHaveLength(1);
    expect(plan).not.toMatch(/Seq Scan/);
    expect([1, 2]).toContain(new Set(plan.match(/on _hyper_\w+/g)).size);
    expect(groups[0]?.map(({ periods }) => periods.map(({ fromMicros, toMicros }) => [fromMicros, toMicros]))).toEqual(
      ids.map(() => [[day(DAYS - 2), day(DAYS)]]),
    );
  });
});
