/** SQL of aggregates: the selected versions, grouped by civil buckets (R-G1). */

import type { PointSelection } from '../point.ts';
import type { ChosenLabels } from '../read/find-chosen-labels.ts';
import { selectOfVariables, VARIABLE } from '../read/select-of-variables.ts';
import { pagingClause, selectVersions } from '../read/select-versions.ts';
import { integerLiteral } from '../read/sql-literal.ts';
import type { AggregateFunction, Bucket, Buckets } from './bucket.ts';
import { offsetAtInstant } from './civil-sql.ts';
import { mergeSpans, type OffsetSpan, offsetSpans } from './zone-offsets.ts';

const FUNCTIONS: Readonly<Record<AggregateFunction, string>> = {
  sum: 'sum(value)',
  min: 'min(value)',
  max: 'max(value)',
  avg: 'avg(value)',
  count: 'count(*)::float8',
  variance: 'var_samp(value)',
  stdev: 'stddev_samp(value)',
};

const CLOCK_LENGTHS = { minute: 60_000_000, hour: 3_600_000_000 } as const;

const COLUMNS = 'variable.id, wanted.start, wanted.value, wanted.points';

export interface BucketSelection {
  readonly selection: PointSelection;
  readonly labels: ChosenLabels;
  readonly buckets: Buckets;
  readonly aggregate: AggregateFunction;
  /** The limit and offset apply to each variable separately. */
  readonly page: Pick<PointSelection, 'limit' | 'offset'>;
}

/**
 * @returns a statement with the columns variable id, bucket start, value (NaN: none) and number of points (R-G1). For
 *   days and longer the start is the local midnight read as UTC; the caller converts it, because the tz database of the
 *   server may differ from that of the runtime.
 */
export function selectBuckets(variableIds: readonly number[], wanted: BucketSelection): string {
  const { selection, labels, buckets, aggregate, page } = wanted;
  const versions = selectVersions(selection, VARIABLE, labels, 'date, value');
  const results = `coalesce(${FUNCTIONS[aggregate]}, 'NaN') as value, count(*)::float8 as points`;
  const having = `having count(*) >= ${integerLiteral(Math.max(1, buckets.minCount ?? 1))}`;
  const paging = pagingClause(page);
  if (buckets.bucket === 'all') {
    const whole = `select min(date) as start, ${results} from (${versions}) version ${having}${paging}`;
    return selectOfVariables(variableIds, COLUMNS, whole);
  }
  const order = selection.order === 'DESC' ? 'desc' : 'asc';
  const start = bucketStart(buckets.bucket, offsetSpans(buckets.timeZoneId, selection.fromMicros, selection.toMicros));
  // `offset 0` hides the expression of `start`. Otherwise the planner expects as many buckets as points and sorts all
  // points instead of aggregating them by hash.
  const placed = `select ${start} as start, value from (${versions}) version offset 0`;
  const grouped = `select start, ${results} from (${placed}) placed group by start ${having}`;
  return selectOfVariables(variableIds, COLUMNS, `${grouped} order by start ${order}${paging}`);
}

/**
 * Minutes and hours keep the offset of the point. Only the remainder of the offset modulo the bucket length matters, which
 * is zero in most zones. `date::timestamp` converts in UTC, the zone of all sessions, and is faster than `at time zone`.
 */
function bucketStart(bucket: Exclude<Bucket, 'all'>, spans: readonly OffsetSpan[]): string {
  if (bucket !== 'minute' && bucket !== 'hour') {
    return `date_trunc('${bucket}', date::timestamp + ${offsetAtInstant('date', mergeSpans(spans))})`;
  }
  const length = CLOCK_LENGTHS[bucket];
  const rests = mergeSpans(spans, (offset) => ((offset % length) + length) % length);
  if (rests.every(({ offset }) => offset === 0)) return `date_trunc('${bucket}', date::timestamp)`;
  const rest = offsetAtInstant('date', rests);
  return `date_trunc('${bucket}', date::timestamp + ${rest}) - ${rest}`;
}
