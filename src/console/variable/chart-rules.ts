/** Decides the range, the resolution and the versions of a chart. Has no side effects. */

/** A period in Unix seconds; `to` is exclusive. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface Points {
  /** Dates in Unix seconds, ascending. */
  readonly seconds: Float64Array;
  /** The value at each date; NaN for a missing value. */
  readonly values: Float64Array;
}

export type Resolution = 'Raw' | 'Minute' | 'Hour' | 'Day' | 'Month';

/**
 * Maximum number of points in a chart of raw points. When the estimated number of points is higher, the chart reads
 * buckets instead. The limit allows a year of quarter-hours, which are at most 35,136 points.
 */
export const RAW_LIMIT = 45_000;
/** Maximum number of buckets in a chart. The limit does not apply to months, the longest buckets. */
const BUCKET_LIMIT = 6000;
/** Step that is assumed when the step of a variable is not known, in seconds. */
const DEFAULT_STEP_SEC = 900;
const DAY_SEC = 86_400;
const YEAR_SEC = 366 * DAY_SEC;

const BUCKETS = [
  ['Minute', 60],
  ['Hour', 3600],
  ['Day', DAY_SEC],
  ['Month', 31 * DAY_SEC],
] as const;

const STEP_SEC: Readonly<Record<string, number>> = {
  Millisecond: 0.001,
  Second: 1,
  Minute: 60,
  Hour: 3600,
  Day: DAY_SEC,
  Week: 7 * DAY_SEC,
  Month: 31 * DAY_SEC,
  Year: YEAR_SEC,
};

/** @returns seconds between points according to granularity and time base; DEFAULT_STEP_SEC when either is null. */
export function stepOf(granularity: number | null, timeBase: string | null): number {
  const base = timeBase === null ? undefined : STEP_SEC[timeBase];
  return granularity === null || base === undefined ? DEFAULT_STEP_SEC : granularity * base;
}

/** Dates of the first and the last point of a variable, and the usual interval between its points. */
export interface Bounds extends Range {
  /** Median interval between the newest points of the variable, in seconds; undefined with fewer than two points. */
  readonly spacingSec: number | undefined;
}

/**
 * @param seconds dates in Unix seconds, in any order.
 * @returns the median interval between consecutive dates; undefined for fewer than two dates.
 */
export function spacingOf(seconds: readonly number[]): number | undefined {
  const dates = seconds.toSorted((a, b) => a - b);
  const distances = dates.slice(1).map((date, index) => date - (dates[index] ?? date));
  return distances.toSorted((a, b) => a - b)[distances.length >> 1];
}

/**
 * @returns the step, in seconds, with which a chart estimates the number of points in a range. The step is the shorter
 * of the declared step and the usual interval (`spacingSec`). It is DEFAULT_STEP_SEC when neither is known, or when the
 * shorter one is 0. When the points are closer together than declared, an estimate with the declared step would be too
 * low, and the chart could read millions of raw points.
 */
export function chartStepOf(granularity: number | null, timeBase: string | null, { spacingSec }: Bounds): number {
  const declared = granularity === null || timeBase === null ? undefined : stepOf(granularity, timeBase);
  const step = Math.min(declared ?? Number.POSITIVE_INFINITY, spacingSec ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(step) && step > 0 ? step : DEFAULT_STEP_SEC;
}

/**
 * @returns `Raw` up to RAW_LIMIT points; else the smallest bucket that is longer than the step and fits at most
 * BUCKET_LIMIT times into the range; else `Month`.
 */
export function planResolution({ from, to }: Range, stepSec: number): Resolution {
  if ((to - from) / stepSec <= RAW_LIMIT) return 'Raw';
  const found = BUCKETS.find(([, length]) => length > stepSec && (to - from) / length <= BUCKET_LIMIT);
  return found?.[0] ?? 'Month';
}

/**
 * @param dates starts of the shown buckets, ascending. @param start one of these dates.
 * @returns the period from `start` to the next shown bucket; for the last bucket, to the end of the range. The period
 * has at least one second.
 */
export function bucketAt(dates: ArrayLike<number>, start: number, range: Range): Range {
  const next = Array.from(dates).find((date) => date > start) ?? range.to;
  return { from: start, to: Math.max(next, start + 1) };
}

/**
 * @returns the range of all points, but at most their last year.
 * @param bounds dates of the first and last point.
 */
export function defaultRange(bounds: Range, stepSec: number): Range {
  const to = bounds.to + stepSec;
  return { from: Math.max(bounds.from, to - YEAR_SEC), to };
}

/** @returns the range moved by `by` times its length. When `by` is -1, this is the preceding range. */
export function moveRange({ from, to }: Range, by: number): Range {
  const length = to - from;
  return { from: from + by * length, to: to + by * length };
}

/** @returns the range of `days` days that ends where the given range ends. */
export function resizeRange({ to }: Range, days: number): Range {
  return { from: to - days * DAY_SEC, to };
}

/**
 * The versions that a line of the chart shows, or that one side of a comparison shows: `latest`, `label:<VersionTag>`
 * or `known:<instant>`.
 */
export type Side = string;

export type Selection =
  | { readonly kind: 'latest' }
  | { readonly kind: 'labels'; readonly labels: readonly string[] }
  | { readonly kind: 'known'; readonly at: string | undefined }
  | { readonly kind: 'compare'; readonly left: Side; readonly right: Side };

/** Query parameters that select versions. */
export interface VersionQuery {
  readonly version?: string;
  readonly asOf?: string;
}

/** @returns the query parameters that select the versions of `side`. */
export function versionOf(side: Side): VersionQuery {
  if (side.startsWith('label:')) return { version: side.slice('label:'.length) };
  if (side.startsWith('known:')) return { asOf: side.slice('known:'.length) };
  return {};
}

/** @returns one `Side` for each line that a chart draws for a variable, in order, the most important line first. */
export function sidesOf(selection: Selection): readonly Side[] {
  switch (selection.kind) {
    case 'latest':
      return ['latest'];
    case 'labels':
      return selection.labels.length === 0 ? ['latest'] : selection.labels.map((label) => `label:${label}`);
    case 'known':
      return selection.at === undefined ? ['latest'] : [`known:${selection.at}`, 'latest'];
    case 'compare':
      return [selection.right, selection.left];
  }
}

/**
 * @returns the query parameters of `GET /data/compare` for two sides.
 * @param now instant that stands for `latest` on the left side, because the API requires a version there.
 */
export function compareQuery(left: Side, right: Side, now: string) {
  const leftSide: VersionQuery = left === 'latest' ? { asOf: now } : versionOf(left);
  const { version: leftVersion, asOf: leftAsOf } = leftSide;
  const { version: rightVersion, asOf: rightAsOf } = versionOf(right);
  return { leftVersion, leftAsOf, rightVersion, rightAsOf };
}

/**
 * @param timeZone zone whose civil time delimits the buckets; not used for raw points.
 * @returns the query parameters of a request for the points of one side.
 */
export function pointQuery(variableId: number, range: Range, side: Side, resolution: Resolution, timeZone?: string) {
  return {
    variableIds: variableId,
    from: toInstant(range.from),
    to: toInstant(range.to),
    ...versionOf(side),
    ...(resolution !== 'Raw' && { granularity: resolution, aggregation: 'AVG', timeZoneId: timeZone }),
  };
}

/** Converts Unix seconds to an ISO 8601 instant. */
export function toInstant(seconds: number): string {
  return new Date(Math.round(seconds * 1000)).toISOString();
}
