/**
 * A watch that resumes at any position misses no stored point and repeats none (R-J1). Between the reads, random events
 * change the clock, the points and the records of rewrites.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withTransaction } from '../../../src/platform/database/database.ts';
import type { ChangePosition } from '../../../src/points/read/read-changes.ts';
import { deletePoints } from '../../../src/points/remove/delete-points.ts';
import { purgeVersions } from '../../../src/points/remove/purge-versions.ts';
import { compactRewrites } from '../../../src/points/write/record-rewrites.ts';
import { AT_BEGINNING } from '../../../src/watching/cursor.ts';
import { streamChanges } from '../../../src/watching/stream-changes.ts';
import { openPointStore, type PointStore, type WrittenPoint } from '../../support/fixtures/point-store.ts';

const HOUR = 3_600_000_000;
const START = Date.UTC(2020, 0, 1) * 1000;
const READERS = 3;

let store: PointStore;
beforeAll(async () => {
  store = await openPointStore();
});
afterAll(() => store?.close());

const date = fc.integer({ min: 0, max: 14 });
const event = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      // When true, the points are appended after all earlier appends. When false, they are written at hours 0 to 14.
      isAppend: fc.boolean(),
      points: fc.array(fc.tuple(date, fc.constantFrom(null, 'A', 'B')), { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      reader: fc.nat(READERS - 1),
      count: fc.constantFrom(1, 2, 3, 1000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('remove' as const),
      from: fc.option(date, { nil: undefined }),
      to: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('setVersioned' as const), isVersioned: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('limit' as const), limit: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('purge' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), hours: fc.constantFrom(-30, 2, 25, 800) }) },
);
type Event = typeof event extends fc.Arbitrary<infer Value> ? Value : never;

interface Reader {
  position: ChangePosition;
  /** Values of the points that the reader has received. Every written point has a new value, which identifies it. */
  readonly taken: number[];
}

interface World {
  readonly variableId: number;
  readonly readers: readonly Reader[];
  value: number;
  /** Hour of the next append. */
  end: number;
}

async function read({ variableId }: World, reader: Reader, count: number): Promise<void> {
  const positions = new Map([[variableId, reader.position]]);
  let left = count;
  for await (const change of streamChanges(store.database, positions, undefined, new AbortController().signal)) {
    if (change.kind === 'complete') {
      const [changed] = change.changes;
      reader.position = { ...AT_BEGINNING, versionTimestamp: changed?.lastVersionTimestamp ?? Number.NaN };
      return;
    }
    const { dates, values, versionTimestamps } = change.chunk;
    for (const [row, dateMicros] of dates.entries()) {
      if (left === 0) return;
      left -= 1;
      reader.taken.push(values[row] ?? Number.NaN);
      reader.position = { versionTimestamp: versionTimestamps[row] ?? Number.NaN, dateMicros };
    }
  }
}

/**
 * Simulates that `hours` pass: moves the times of all writes, and the readers' positions, `hours` into the past, then
 * merges the rewrite records. With a negative `hours`, the times and positions move into the future, as if the clock
 * had been set back.
 */
async function pass({ variableId, readers }: World, hours: number): Promise<void> {
  const columns = {
    point: 'version_timestamp',
    point_version: 'version_timestamp',
    point_rewrite: 'version_timestamp',
  };
  for (const [table, column] of Object.entries({ ...columns, series: 'last_version_timestamp' })) {
    await store.database.query(
      `update ${table} set ${column} = ${column} - $2 * interval '1 hour' where variable_id = $1`,
      [variableId, hours],
    );
  }
  for (const reader of readers) {
    reader.position = { ...reader.position, versionTimestamp: reader.position.versionTimestamp - hours * HOUR };
  }
  await compactRewrites(store.database);
}

async function apply(world: World, it: Event): Promise<void> {
  const { variableId } = world;
  switch (it.kind) {
    case 'write': {
      const points = it.points.map(([hour, tag]): WrittenPoint => {
        world.value += 1;
        return [START + (it.isAppend ? world.end + (hour % 3) : hour) * HOUR, world.value, tag];
      });
      if (it.isAppend) world.end += 3;
      await store.write(variableId, points);
      return;
    }
    case 'read':
      return read(world, world.readers[it.reader] as Reader, it.count);
    case 'remove': {
      const period = {
        ...(it.from !== undefined && { fromMicros: START + it.from * HOUR }),
        ...(it.to !== undefined && { toMicros: START + it.to * HOUR }),
      };
      await withTransaction(store.database, (transaction) =>
        deletePoints(transaction, { variableIds: [variableId], ...period }),
      );
      return;
    }
    case 'setVersioned':
      await store.database.query('update variable set is_versioned = $2 where id = $1', [variableId, it.isVersioned]);
      return;
    case 'limit':
      await store.database.query('update variable set version_limit = $2 where id = $1', [variableId, it.limit]);
      return;
    case 'purge':
      await withTransaction(store.database, (transaction) => purgeVersions(transaction, [variableId]));
      return;
    case 'pass':
      return pass(world, it.hours);
  }
}

async function checkLaw(isVersioned: boolean, events: readonly Event[]): Promise<void> {
  const variableId = await store.addVariable({ isVersioned, versionLimit: 3 });
  const readers = Array.from({ length: READERS }, (): Reader => ({ position: AT_BEGINNING, taken: [] }));
  const world: World = { variableId, readers, value: 0, end: 15 };
  for (const it of events) await apply(world, it);
  const kept = (await store.readAll(variableId)).map(({ value }) => value);
  for (const reader of readers) {
    await read(world, reader, 100_000);
    const { taken } = reader;
    expect(kept.filter((value) => !taken.includes(value))).toEqual([]);
    expect(taken.length).toBe(new Set(taken).size);
  }
}

it('watch: resuming at any position misses no stored point and repeats none (R-J1)', async () => {
  await fc.assert(fc.asyncProperty(fc.boolean(), fc.array(event, { minLength: 3, maxLength: 30 }), checkLaw), {
    numRuns: 100,
  });
}, 300_000);
