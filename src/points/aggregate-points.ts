/**
 * Points of a selection by buckets of civil time (R-G1): minutes and hours are as long as the clock makes them, days,
 * weeks (from Monday), months and years begin at local midnight in the zone asked for. Whatever version was chosen, the
 * aggregates are of that.
 */
import type { Transaction } from '../platform/database.ts';
import { fetchRows } from './fetch-rows.ts';
import type { Micros, PointSelection } from './point.ts';
import { findVersionTagIds, pagingClause, type Statement, selectVersions } from './select-versions.ts';

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

export interface Buckets {
  readonly bucket: Bucket;
  /** IANA zone whose civil time bounds the buckets. */
  readonly timeZoneId: string;
  readonly functionOf: (variableId: number) => AggregateFunction;
  /** The first instant of a civil date, given as its local midnight; for days and longer. */
  readonly startOfDay: (localMidnight: Micros) => Micros;
}

/** Buckets of one variable that hold points, as columns of one length. */
export interface AggregateChunk {
  readonly variableId: number;
  readonly aggregate: AggregateFunction;
  /** Begin of each bucket. */
  readonly dates: Float64Array;
  readonly values: readonly (number | null)[];
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
    const { text, values } = aggregateStatement(whole, variableId, versionTagIds, buckets);
    const counting = `select count(*) as count from (${text}) bucket`;
    const { rows } = await transaction.query<{ count: number }>(counting, values);
    count += rows[0]?.count ?? 0;
  }
  return count;
}

function aggregateStatement(
  selection: PointSelection,
  variableId: number,
  versionTagIds: readonly number[] | undefined,
  { bucket, timeZoneId, functionOf }: Buckets,
): Statement {
  const { text, values } = selectVersions(selection, variableId, versionTagIds);
  const order = selection.order === 'DESC' ? 'desc' : 'asc';
  const value = FUNCTIONS[functionOf(variableId)];
  if (bucket === 'all') {
    const { fromMicros } = selection;
    const micros =
      fromMicros === undefined
        ? '(extract(epoch from min(date)) * 1000000)::int8'
        : `$${values.push(fromMicros)}::int8`;
    const whole = `select ${micros} as start, ${value} from (${text}) wanted having count(*) > 0`;
    return { text: `${whole}${pagingClause(selection, values)}`, values };
  }
  const zone = `$${values.push(timeZoneId)}::text`;
  const start = `(extract(epoch from ${bucketStart(bucket, zone)}) * 1000000)::int8`;
  const grouped = `select ${start} as start, ${value} from (${text}) wanted group by 1 order by 1 ${order}`;
  return { text: `${grouped}${pagingClause(selection, values)}`, values };
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
    values: rows.map(([, value]) => value),
  };
}
