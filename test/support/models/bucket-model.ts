/**
 * A simple model of aggregates by civil buckets (R-G1). Tests compare Tidemark's results with the results of the model.
 */
import type { Temporal } from 'temporal-polyfill';
import { toInstant, toMicros } from '../../scenarios/engine/instants.ts';
import type { Aggregate, Aggregation, Bucket, Period } from '../../scenarios/engine/syntax.ts';

const MICROS_PER_MINUTE = 60_000_000;

export interface BucketPoint {
  readonly dateMicros: number;
  readonly value: number;
}

export interface ModelBucket {
  readonly dateMicros: number;
  readonly value: number | null;
}

const FUNCTIONS: Readonly<Record<Aggregate, (values: readonly number[]) => number | null>> = {
  sum,
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  avg: (values) => sum(values) / values.length,
  count: (values) => values.length,
  variance,
  stdev: (values) => {
    const squared = variance(values);
    return squared === null ? null : Math.sqrt(squared);
  },
};

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** @returns the sample variance; null for fewer than two values. */
function variance(values: readonly number[]): number | null {
  if (values.length < 2) return null;
  const mean = sum(values) / values.length;
  return sum(values.map((value) => (value - mean) ** 2)) / (values.length - 1);
}

/** @param points the points of one variable, each in the version that the read selects. */
export function aggregate(points: readonly BucketPoint[], asked: Aggregation, period: Period): readonly ModelBucket[] {
  const found = findBuckets(points, asked, period);
  const { bucket, fill } = asked;
  if (fill === 'none' || bucket === 'all' || found.length === 0) return found;
  const axis = axisOf(found, { ...asked, bucket }, period);
  const isKnown = ({ value }: ModelBucket) => fill === 'null' || value !== null;
  const known = found.filter(isKnown);
  return axis.map((dateMicros) => {
    const own = known.find((candidate) => candidate.dateMicros === dateMicros);
    return own ?? { dateMicros, value: gapValue(dateMicros, known, fill) };
  });
}

/** @returns the buckets with at least `minCount` points, in ascending order of their start. */
function findBuckets(points: readonly BucketPoint[], asked: Aggregation, period: Period): readonly ModelBucket[] {
  const buckets = new Map<number, number[]>();
  for (const { dateMicros, value } of points) {
    const start =
      asked.bucket === 'all' ? startOfAll(points, period) : startOf(dateMicros, asked.bucket, asked.timeZoneId);
    buckets.set(start, [...(buckets.get(start) ?? []), value]);
  }
  const starts = [...buckets.keys()].sort((a, b) => a - b);
  return starts.flatMap((dateMicros) => {
    const values = buckets.get(dateMicros) ?? [];
    return values.length < asked.minCount ? [] : [{ dateMicros, value: FUNCTIONS[asked.aggregate](values) }];
  });
}

/**
 * @returns the start of each bucket of the period. A period without a start begins at the first bucket found; a period
 * without an end stops at the last bucket found.
 */
function axisOf(
  found: readonly ModelBucket[],
  { bucket, timeZoneId }: Aggregation & { readonly bucket: Exclude<Bucket, 'all'> },
  { fromMicros, toMicros, isToIncluded }: Period,
): readonly number[] {
  const first = fromMicros === undefined ? found[0]?.dateMicros : startOf(fromMicros, bucket, timeZoneId);
  const lastInstant = toMicros === undefined ? undefined : toMicros - (isToIncluded ? 0 : 1);
  const last = lastInstant === undefined ? found.at(-1)?.dateMicros : startOf(lastInstant, bucket, timeZoneId);
  const step = bucket === 'minute' ? MICROS_PER_MINUTE : 15 * MICROS_PER_MINUTE;
  const axis = new Set<number>();
  for (let micros = first ?? 0; micros <= (last ?? -1); micros += step) axis.add(startOf(micros, bucket, timeZoneId));
  return [...axis];
}

function gapValue(dateMicros: number, known: readonly ModelBucket[], fill: Aggregation['fill']): number | null {
  const previous = known.filter((bucket) => bucket.dateMicros < dateMicros).at(-1);
  const next = known.find((bucket) => bucket.dateMicros > dateMicros);
  if (fill === 'previous') return previous?.value ?? null;
  if (fill !== 'linear' || !previous || !next || previous.value === null || next.value === null) return null;
  const share = (dateMicros - previous.dateMicros) / (next.dateMicros - previous.dateMicros);
  return previous.value + share * (next.value - previous.value);
}

function startOfAll(points: readonly BucketPoint[], { fromMicros }: Period): number {
  return fromMicros ?? Math.min(...points.map(({ dateMicros }) => dateMicros));
}

/**
 * @returns the start of the bucket that contains `dateMicros`. A bucket of a minute or hour starts at the local time of
 * `dateMicros`, rounded down to the minute or hour, with the UTC offset that applies at `dateMicros`. A longer bucket
 * starts when its first local day starts.
 */
function startOf(dateMicros: number, bucket: Exclude<Bucket, 'all'>, timeZoneId: string): number {
  const date = toInstant(dateMicros).toZonedDateTimeISO(timeZoneId);
  if (bucket === 'minute' || bucket === 'hour') {
    const local = date.toPlainDateTime().round({ smallestUnit: bucket, roundingMode: 'floor' });
    const elapsed = date.toPlainDateTime().since(local, { largestUnit: 'hour' });
    return toMicros(date.toInstant().subtract(elapsed));
  }
  return toMicros(firstDay(date.toPlainDate(), bucket).toZonedDateTime(timeZoneId).toInstant());
}

function firstDay(day: Temporal.PlainDate, bucket: 'day' | 'week' | 'month' | 'year'): Temporal.PlainDate {
  if (bucket === 'week') return day.subtract({ days: day.dayOfWeek - 1 });
  if (bucket === 'month') return day.with({ day: 1 });
  return bucket === 'year' ? day.with({ day: 1, month: 1 }) : day;
}
