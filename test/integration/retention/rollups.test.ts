/** Rollups: aggregates over rollups equal the aggregates over the points that retention deleted. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { withTransaction } from '../../../src/platform/database/database.ts';
import { formatInstant } from '../../../src/platform/dates/instant-rules.ts';
import { streamAggregates } from '../../../src/points/buckets/aggregate-points.ts';
import type { AggregateFunction, Bucket } from '../../../src/points/buckets/bucket.ts';
import type { PointSelection } from '../../../src/points/point.ts';
import type { HistoryCut } from '../../../src/points/read/history-cuts.ts';
import { streamPoints } from '../../../src/points/read/read-points.ts';
import { deletePoints, findRemoved } from '../../../src/points/remove/delete-points.ts';
import type { RawBoundary } from '../../../src/points/rollups/find-rolled-up.ts';
import { type RolledUp, type Rollup, rollUpPoints } from '../../../src/points/rollups/roll-up-points.ts';
import { startOfDay } from '../../../src/structure/catalogue/time-zones.ts';
import { openPointStore, type PointStore, type WrittenPoint } from '../../support/fixtures/point-store.ts';
import { calculated } from '../../support/fixtures/structure.ts';
import { ok, openCalculationFixture } from '../calculation/calculation-fixture.ts';

const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2020, 2, 27) * 1000;
const at = (hour: number) => START + hour * HOUR;
const FUNCTIONS = ['sum', 'min', 'max', 'avg', 'count', 'variance', 'stdev'] as const;
/**
 * Number of examples of the first test. Without LAW_RUNS, the first test has a time limit instead: 15 s when chunks are
 * compressed, and otherwise 2 s.
 */
const LONG_RUNS = process.env.LAW_RUNS === undefined ? undefined : Number(process.env.LAW_RUNS);

let store: PointStore;
beforeAll(async () => {
  store = await openPointStore();
}, 60_000);
afterAll(() => store?.close());

async function rollUp(variableId: number, untilMicros: number, wanted: Partial<Rollup> = {}): Promise<RolledUp> {
  const rollup: Rollup = { variableId, untilMicros, bucket: 'day', timeZoneId: 'UTC', ...wanted };
  const sum = { points: 0, versions: 0, rollups: 0 };
  for (;;) {
    const step = await withTransaction(store.database, (transaction) => rollUpPoints(transaction, rollup));
    for (const name of ['points', 'versions', 'rollups'] as const) sum[name] += step[name];
    if (step.isDone) return { ...sum, isDone: true };
  }
}

interface Asked extends Partial<Omit<PointSelection, 'variableIds'>> {
  readonly bucket?: Bucket;
  readonly aggregate?: AggregateFunction;
  readonly timeZoneId?: string;
}

async function aggregate(variableId: number, { bucket = 'day', timeZoneId = 'UTC', ...asked }: Asked = {}) {
  const { aggregate: name = 'sum', ...selection } = asked;
  const found: [date: number, value: number][] = [];
  const chunks = streamAggregates(
    store.database,
    { variableIds: [variableId], version: {}, order: 'ASC', ...selection },
    { bucket, timeZoneId, functionOf: () => name, startOfDay: startOfDay(timeZoneId), fill: 'none' },
  );
  for await (const { dates, values } of chunks) {
    for (const [index, date] of dates.entries()) found.push([date, values[index] ?? Number.NaN]);
  }
  return found;
}

/** @returns the values of the points that were not deleted. */
const valuesOf = async (variableId: number) => (await store.read(variableId)).map(({ value }) => value);

/**
 * Creates a variable with hourly points of the four days from START. The value of a point is the number of hours since
 * START.
 */
async function addHours(isVersioned = true): Promise<number> {
  const variableId = await store.addVariable({ isVersioned });
  await store.write(variableId, hours(0, 96));
  return variableId;
}

const hours = (from: number, to: number, add = 0): WrittenPoint[] =>
  Array.from({ length: to - from }, (_, index): WrittenPoint => [at(from + index), from + index + add]);

const points = fc.array(
  fc.record({ minutes: fc.integer({ min: 1, max: 90 }), value: fc.integer({ min: -50, max: 50 }) }),
  { minLength: 1, maxLength: 60 },
);

describe('rollups: what rolling up deletes, and what aggregates return afterwards', () => {
  test(
    'if no bucket boundary lies inside the period of a rollup, rolling up changes no aggregate (R-G1)',
    async () => {
      const zones = fc.constantFrom('UTC', 'Europe/Brussels', 'America/New_York', 'Asia/Kolkata', 'Atlantic/Azores');
      const cases = fc.record({
        points,
        timeZoneId: zones,
        bucket: fc.constantFrom('hour' as const, 'day' as const),
        boundaries: fc.array(fc.integer({ min: 0, max: 90 }), { minLength: 1, maxLength: 2 }),
      });
      const law = fc.asyncProperty(cases, async ({ points: steps, timeZoneId, bucket, boundaries }) => {
        const variableId = await store.addVariable({ isVersioned: true });
        let date = at(12);
        const written = steps.map(({ minutes, value }): WrittenPoint => {
          date += minutes * MINUTE;
          return [date, value];
        });
        await store.write(variableId, written);
        const asked: Asked[] = [bucket, 'day', 'month', 'all'].flatMap((size) =>
          FUNCTIONS.map((name) => ({ bucket: size as Bucket, aggregate: name, timeZoneId })),
        );
        const before = await Promise.all(asked.map((one) => aggregate(variableId, one)));
        for (const hour of boundaries) await rollUp(variableId, at(hour), { bucket, timeZoneId });
        for (const [index, one] of asked.entries()) {
          const after = await aggregate(variableId, one);
          expect(after.map(([start]) => start)).toEqual(before[index]?.map(([start]) => start));
          const isExact = !['variance', 'stdev', 'avg'].includes(one.aggregate ?? '');
          for (const [row, [, value]] of after.entries()) {
            const expected = before[index]?.[row]?.[1];
            if (isExact || Number.isNaN(expected)) expect(value).toEqual(expected);
            else expect(value).toBeCloseTo(expected ?? Number.NaN, 9);
          }
        }
      });
      // On compressed chunks, each case takes seconds, because every write waits for the compression.
      const interruptAfterTimeLimit = inject('isInColumns') ? 15_000 : 2000;
      await fc.assert(law, LONG_RUNS === undefined ? { interruptAfterTimeLimit } : { numRuns: LONG_RUNS });
    },
    60_000 + (LONG_RUNS ?? 0) * 1000,
  );

  test('rolling up deletes all versions of the points before the end date', async () => {
    const variableId = await addHours();
    await store.write(variableId, hours(0, 24, 100));
    expect(await rollUp(variableId, at(48))).toEqual({ points: 48, versions: 24, rollups: 2, isDone: true });
    expect(await valuesOf(variableId)).toEqual(hours(48, 96).map(([, value]) => value));
    expect(await store.readAll(variableId)).toHaveLength(48);
    const sums = await aggregate(variableId);
    expect(sums.map(([, sum]) => sum).slice(0, 2)).toEqual([276 + 2400, 852]);
    expect(await rollUp(variableId, at(48))).toMatchObject({ points: 0, rollups: 0 });
  });

  test('a daily rollup is included in an aggregate over the whole day, but in no hourly bucket', async () => {
    const variableId = await addHours();
    await rollUp(variableId, at(48));
    expect(await aggregate(variableId, { bucket: 'hour', toMicros: at(49) })).toEqual([[at(48), 48]]);
    expect(await aggregate(variableId, { bucket: 'all', fromMicros: at(24), toMicros: at(48) })).toEqual([
      [at(24), 852],
    ]);
  });

  test('an as-of read includes a rollup only if all points of the rollup were known at `asOf` (R-F5, R-F9)', async () => {
    const variableId = await addHours();
    const { versionTimestamp } = await store.write(variableId, hours(0, 24, 100));
    await rollUp(variableId, at(48));
    const cuts: (readonly [readonly HistoryCut[], readonly RawBoundary[]])[] = [];
    const asOf = async (asOfMicros: number) => {
      const selection = { variableIds: [variableId], version: { asOfMicros }, order: 'ASC' } as const;
      const note = (history: readonly HistoryCut[], raw: readonly RawBoundary[]) => void cuts.push([history, raw]);
      for await (const _ of streamPoints(store.database, selection, undefined, note));
      return (await aggregate(variableId, { version: { asOfMicros } })).map(([, sum]) => sum);
    };
    expect(await asOf(versionTimestamp)).toEqual([276 + 2400, 852, 1428, 2004]);
    expect(await asOf(versionTimestamp - 1)).toEqual([852, 1428, 2004]);
    const raw = [{ variableId, rawFromMicros: at(48) }];
    expect(cuts).toEqual([
      [[], raw],
      [[{ variableId, historyFromMicros: versionTimestamp }], raw],
    ]);
  });

  test('an aggregate of the versions with a given VersionTag includes no rollups (R-G2)', async () => {
    const variableId = await addHours();
    await store.write(variableId, [
      [at(0), 7, 'V1'],
      [at(72), 8, 'V1'],
    ]);
    await rollUp(variableId, at(48));
    expect(await aggregate(variableId, { version: { versionTags: ['V1'] } })).toEqual([[at(72), 8]]);
  });
});

describe('rollups: writes and deletions', () => {
  test('a new point in a rolled-up period is dropped only if a point at the same date was rolled up', async () => {
    const variableId = await addHours();
    await rollUp(variableId, at(48));
    const { ranges } = await store.write(variableId, [
      [at(-24), 1],
      [at(5), 1000],
      [at(23) + 30 * MINUTE, 2],
      [at(30), 1000],
      [at(50), 0],
    ]);
    expect(ranges).toEqual([{ variableId, fromMicros: at(-24), toMicros: at(50), count: 3 }]);
    expect(await valuesOf(variableId)).toEqual([1, 2, 48, 49, 0, ...hours(51, 96).map(([, value]) => value)]);
    const sums = [1, 276 + 2, 852, 1428 - 50, 2004];
    expect((await aggregate(variableId)).map(([, sum]) => sum)).toEqual(sums);
    expect(await rollUp(variableId, at(48))).toMatchObject({ points: 2, rollups: 2 });
    expect((await aggregate(variableId)).map(([, sum]) => sum)).toEqual(sums);
    const { rows } = await store.database.query('select refused_count from series where variable_id = $1', [
      variableId,
    ]);
    expect(rows).toEqual([{ refused_count: 2 }]);
  });

  test('a write whose points are all at rolled-up dates stores nothing and changes no aggregate', async () => {
    const variableId = await addHours();
    await rollUp(variableId, at(48));
    expect((await store.write(variableId, hours(3, 9, 1))).ranges).toEqual([]);
    expect((await aggregate(variableId)).map(([, sum]) => sum)).toEqual([276, 852, 1428, 2004]);
  });

  test('after a rollup that found no points, new points can still be stored, and the next rollup includes them', async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    await store.write(variableId, [[at(90), 1]]);
    expect(await rollUp(variableId, at(48))).toMatchObject({ points: 0 });
    await store.write(variableId, hours(0, 24));
    expect(await rollUp(variableId, at(48))).toMatchObject({ points: 24, rollups: 1 });
  });

  test('a deletion removes the rollups in the given period and counts their points as deleted (R-G5)', async () => {
    const variableId = await addHours();
    await rollUp(variableId, at(48));
    const removal = { variableIds: [variableId], fromMicros: at(24), toMicros: at(50) };
    const expected = [{ variableId, fromMicros: at(24), toMicros: at(49), count: 26 }];
    expect(await withTransaction(store.database, (transaction) => findRemoved(transaction, removal))).toEqual(expected);
    expect(await withTransaction(store.database, (transaction) => deletePoints(transaction, removal))).toEqual(
      expected,
    );
    await store.write(variableId, hours(24, 26));
    expect((await aggregate(variableId)).map(([, sum]) => sum)).toEqual([276, 49, 1428 - 48 - 49, 2004]);
  });

  test('when a step would delete more points than it rolls up, the step fails and deletes no point', async () => {
    const variableId = await addHours();
    await withTransaction(store.database, async (transaction) => {
      await transaction.query(`create or replace function drop_one() returns trigger language plpgsql as
        'begin if new.variable_id = ${variableId} then new.point_count := new.point_count - 1; end if; return new; end'`);
      await transaction.query(
        'create trigger drop_one before insert on point_rollup for each row execute function drop_one()',
      );
    });
    await expect(rollUp(variableId, at(48))).rejects.toThrow(
      `the number of rolled-up points of variable ${variableId} must equal the number of deleted points, got 46 rolled up and 48 deleted`,
    );
    await store.database.query('drop trigger drop_one on point_rollup');
    expect(await valuesOf(variableId)).toHaveLength(96);
  });
});

describe('rollups: a run of a calculated variable', () => {
  test('records the date from which an input has all its points, and warns of results at rolled-up dates (R-H8)', async () => {
    const calculations = openCalculationFixture(store);
    const input = await addHours();
    await rollUp(input, at(48));
    const variableId = await calculations.addCalculated(
      calculated('anything', [{ alias: 'a', variableId: input, canBeUsedAsATrigger: true }]),
    );
    await store.write(variableId, hours(0, 96));
    await rollUp(variableId, at(24));
    const run = async (from: number) => {
      await calculations.change(input, [at(from), at(95)]);
      await calculations.runWith(variableId, () => ok([at(5), at(60)].map((micros) => micros / 1_000_000)));
      return (await calculations.runsOf(variableId)).at(-1);
    };
    const warning = `readings of variable ${variableId} were not stored (number of readings: 1, dates: ${formatInstant(at(5))}), because retention has already rolled up these dates`;
    expect(await run(0)).toMatchObject({
      state: 'Succeeded',
      inputs: [{ alias: 'a', points: 48, rawFrom: formatInstant(at(48)) }],
      ...{ counts: { returned: 2, stored: 1 }, notes: { warnings: [warning] } },
    });
    const later = await run(48);
    expect(later?.inputs).toMatchObject([{ points: 48 }]);
    expect(later?.inputs).not.toMatchObject([{ rawFrom: formatInstant(at(48)) }]);
  });
});
