/**
 * Points of a selection by buckets of civil time (R-G1): minutes and hours are as long as the clock makes them, days,
 * weeks (from Monday), months and years begin at local midnight in the zone asked for. Whatever version was chosen, the
 * aggregates are of that.
 */
import type { Transaction } from '../platform/database.ts';
import { fetchRows } from './fetch-rows.ts';
import type { Micros, PointSelection } from './point.ts';
import { findVersionTagIds, pagingClause, selectVersions } from './select-versions.ts';
import { instantLiteral, integerLiteral, textLiteral } from './sql-literal.ts';

/** Kinds of bucket; `all` is one bucket of everything. */
export type Bucket = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year' | 'all';

export type AggregateFunction = 'sum' | 'min' | 'max' | 'avg' | 'count' | 'variance' | 'stdev';

/** Of one point, variance and standard deviation are those of a sample: not defined, null. */
const FUNCTIONS: Readonly<Record<AggregateFunction, string>> = {
  sum: 'sum(value)',
  min: 'min(value)',
  max: 'max(value)',
  avg: 'avg(value)',
  count: 'count(*)::float8',
  variance: 'var_samp(value)',
  stdev: 'stddev_samp(value)',
};

/**
 * What stands in a gap: nothing, the value before, what lies on a line between the buckets around it, or no value.
 */
export type Fill = 'none' | 'previous' | 'linear' | 'null';

export interface Buckets {
  readonly bucket: Bucket;
  /** IANA zone whose civil time bounds the buckets. */
  readonly timeZoneId: string;
  readonly functionOf: (variableId: number) => AggregateFunction;
  /** The first instant of a civil date, given as its local midnight; for days and longer. */
  readonly startOfDay: (localMidnight: Micros) => Micros;
  /** A bucket of fewer points counts as a gap; without it, one is enough. */
  readonly minCount?: number;
  readonly fill: Fill;
}

/** Buckets of one variable that hold points, as columns of one length. */
export interface AggregateChunk {
  readonly variableId: number;
  readonly aggregate: AggregateFunction;
  /** Begin of each bucket. */
  readonly dates: Float64Array;
  /** NaN: no value. */
  readonly values: Float64Array;
}

type Row = [startMicros: number, value: number | null];

/**
 * Streams the aggregates of a selection, variable by variable; its paging counts buckets.
 * @param transaction as for `readPoints`.
 */
export async function* aggregatePoints(
  transaction: Transaction,
  selection: PointSelection,
  buckets: Buckets,
): AsyncGenerator<AggregateChunk> {
  const versionTagIds = await findVersionTagIds(transaction, selection);
  for (const variableId of selection.variableIds) {
    const statement = aggregateStatement(selection, variableId, versionTagIds, buckets);
    for await (const rows of fetchRows<Row>(transaction, statement)) yield toChunk(variableId, buckets, rows);
  }
}

/** Counts the buckets a selection without paging would give, over all its variables. */
export async function countBuckets(
  transaction: Transaction,
  selection: PointSelection,
  buckets: Buckets,
): Promise<number> {
  const versionTagIds = await findVersionTagIds(transaction, selection);
  const { limit: _limit, offset: _offset, ...whole } = selection;
  let count = 0;
  for (const variableId of selection.variableIds) {
    const statement = aggregateStatement(whole, variableId, versionTagIds, buckets);
    const counting = `select count(*) as count from (${statement}) bucket`;
    const { rows } = await transaction.query<{ count: number }>(counting);
    count += rows[0]?.count ?? 0;
  }
  return count;
}

function aggregateStatement(
  selection: PointSelection,
  variableId: number,
  versionTagIds: readonly number[] | undefined,
  { bucket, timeZoneId, functionOf, minCount = 1 }: Buckets,
): string {
  const wanted = selectVersions(selection, variableId, versionTagIds);
  const order = selection.order === 'DESC' ? 'desc' : 'asc';
  const value = FUNCTIONS[functionOf(variableId)];
  const having = `having count(*) >= ${integerLiteral(Math.max(1, minCount))}`;
  if (bucket === 'all') {
    const { fromMicros } = selection;
    const start = fromMicros === undefined ? 'min(date)' : instantLiteral(fromMicros);
    const micros = `(extract(epoch from ${start}) * 1000000)::int8`;
    return `select ${micros} as start, ${value} from (${wanted}) wanted ${having}${pagingClause(selection)}`;
  }
  const start = `(extract(epoch from ${bucketStart(bucket, textLiteral(timeZoneId))}) * 1000000)::int8`;
  const grouped = `select ${start} as start, ${value} from (${wanted}) wanted group by 1 ${having}`;
  return `${grouped} order by 1 ${order}${pagingClause(selection)}`;
}

/** Days and longer are grouped by local date: which instant a local midnight is, the database does not always tell. */
function bucketStart(bucket: Exclude<Bucket, 'all'>, zone: string): string {
  if (bucket === 'minute' || bucket === 'hour') return `date_trunc('${bucket}', date, ${zone})`;
  return `date_trunc('${bucket}', date at time zone ${zone})`;
}

function toChunk(variableId: number, buckets: Buckets, rows: readonly Row[]): AggregateChunk {
  const isCivil = !['minute', 'hour', 'all'].includes(buckets.bucket);
  return {
    variableId,
    aggregate: buckets.functionOf(variableId),
    dates: Float64Array.from(rows, ([start]) => (isCivil ? buckets.startOfDay(start) : start)),
    values: Float64Array.from(rows, ([, value]) => value ?? Number.NaN),
  };
}
