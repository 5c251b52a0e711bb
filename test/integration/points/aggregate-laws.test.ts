/**
 * Compares aggregates of the store with aggregates computed point by point, around clock changes of some zones (R-G1).
 */
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withTransaction } from '../../../src/platform/database/database.ts';
import { aggregatePoints } from '../../../src/points/buckets/aggregate-points.ts';
import type { AggregateFunction, Bucket } from '../../../src/points/buckets/bucket.ts';
import type { PointSelection } from '../../../src/points/point.ts';
import { startOfDay } from '../../../src/structure/catalogue/time-zones.ts';
import { openPointStore, type PointStore } from '../../support/fixtures/point-store.ts';

let store: PointStore;
beforeAll(async () => {
  store = await openPointStore();
}, 60_000);
afterAll(() => store?.close());

const ZONES = [
  'UTC',
  'Europe/Brussels',
  'Europe/London',
  'America/New_York',
  'America/Sao_Paulo',
  'America/St_Johns',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Atlantic/Azores',
  'Pacific/Auckland',
];
const BUCKETS = ['minute', 'hour', 'day', 'week', 'month', 'year', 'all'] as const;
const FUNCTIONS = ['sum', 'min', 'max', 'avg', 'count', 'variance', 'stdev'] as const;
const MINUTE = 60_000_000;
const MILLIS = { from: Date.UTC(1990, 0, 1), to: Date.UTC(2025, 0, 1) };

type Point = readonly [micros: number, value: number];

/**
 * Points at intervals of 1 to 200 minutes. They begin two days before the first clock change that follows a random
 * date. In a zone in which no clock change follows the random date, they begin two days before the random date.
 */
const history = fc
  .record({
    zone: fc.constantFrom(...ZONES),
    after: fc.integer({ min: MILLIS.from, max: MILLIS.to }),
    steps: fc.array(
      fc.record({ minutes: fc.integer({ min: 1, max: 200 }), value: fc.integer({ min: -50, max: 50 }) }),
      {
        minLength: 1,
        maxLength: 60,
      },
    ),
  })
  .map(({ zone, after, steps }) => {
    const date = Temporal.Instant.fromEpochMilliseconds(after).toZonedDateTimeISO(zone);
    const change = date.getTimeZoneTransition('next') ?? date;
    let micros = change.subtract({ days: 2 }).round('minute').epochMilliseconds * 1000;
    const points = steps.map(({ minutes, value }): Point => {
      micros += minutes * MINUTE;
      return [micros, value];
    });
    return { zone, points };
  });

test('points: the aggregates equal those computed point by point, in buckets of every size (R-G1)', async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.constantFrom(...FUNCTIONS), async ({ zone, points }, aggregate) => {
      const variableId = await store.addVariable({ isVersioned: false });
      await store.write(variableId, points);
      for (const bucket of BUCKETS) {
        const expected = aggregateByHand(points, bucket, zone, aggregate);
        expect(await read(variableId, bucket, zone, aggregate, 'ASC')).toEqual(expected);
        expect(await read(variableId, bucket, zone, aggregate, 'DESC')).toEqual(expected.toReversed());
      }
    }),
    { numRuns: 60 },
  );
});

async function read(
  variableId: number,
  bucket: Bucket,
  timeZoneId: string,
  aggregate: AggregateFunction,
  order: PointSelection['order'],
): Promise<readonly Point[]> {
  const buckets = {
    ...{ bucket, timeZoneId, fill: 'none' as const },
    functionOf: () => aggregate,
    startOfDay: startOfDay(timeZoneId),
  };
  return withTransaction(store.database, async (transaction) => {
    const rows: Point[] = [];
    for await (const chunk of aggregatePoints(
      transaction,
      { variableIds: [variableId], version: {}, order },
      buckets,
    )) {
      for (const [index, date] of chunk.dates.entries()) rows.push([date, rounded(chunk.values[index] ?? 0)]);
    }
    return rows;
  });
}

function aggregateByHand(
  points: readonly Point[],
  bucket: Bucket,
  zone: string,
  aggregate: AggregateFunction,
): readonly Point[] {
  const found = new Map<number, number[]>();
  for (const [micros, value] of points) {
    const start = bucket === 'all' ? (points[0]?.[0] ?? 0) : startOf(micros, bucket, zone);
    found.set(start, [...(found.get(start) ?? []), value]);
  }
  return [...found].sort(([a], [b]) => a - b).map(([start, values]) => [start, rounded(combine(values, aggregate))]);
}

function startOf(micros: number, bucket: Exclude<Bucket, 'all'>, zone: string): number {
  const date = Temporal.Instant.fromEpochMilliseconds(micros / 1000).toZonedDateTimeISO(zone);
  if (bucket === 'minute') return micros;
  // Start of the local hour, computed with the UTC offset at the date of the point.
  if (bucket === 'hour') return micros - date.minute * MINUTE;
  const day = date.toPlainDate();
  const first = {
    day,
    week: day.subtract({ days: day.dayOfWeek - 1 }),
    month: day.with({ day: 1 }),
    year: day.with({ month: 1, day: 1 }),
  }[bucket];
  return first.toZonedDateTime(zone).epochMilliseconds * 1000;
}

function combine(values: readonly number[], aggregate: AggregateFunction): number {
  const sum = values.reduce((total, value) => total + value, 0);
  const mean = sum / values.length;
  const variance = values.reduce((total, value) => total + (value - mean) ** 2, 0) / (values.length - 1);
  const results = {
    ...{ sum, min: Math.min(...values), max: Math.max(...values), avg: mean, count: values.length },
    ...{ variance, stdev: Math.sqrt(variance) },
  };
  return results[aggregate];
}

const rounded = (value: number) => Math.round(value * 1e6) / 1e6 + 0;
