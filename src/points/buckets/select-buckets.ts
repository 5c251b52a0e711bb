/** The SQL of aggregates: the versions chosen, by buckets of civil time (R-G1). */

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
  /** Of each variable. */
  readonly page: Pick<PointSelection, 'limit' | 'offset'>;
}

/**
 * Rows of variable id, begin of a bucket, value (NaN: none) and number of points. Days and longer begin at a local
 * midnight as if the zone were UTC: which instant that is, the database does not always tell.
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
  // The `offset 0` hides what `start` is made of. The planner would take it for as many buckets as there are points,
  // and sort them all instead of adding each to its bucket as it comes.
  const placed = `select ${start} as start, value from (${versions}) version offset 0`;
  const grouped = `select start, ${results} from (${placed}) placed group by start ${having}`;
  return selectOfVariables(variableIds, COLUMNS, `${grouped} order by start ${order}${paging}`);
}

/**
 * Minutes and hours keep the offset the point has; since only what is left of it after whole ones matters, that of most
 * zones is none. `date::timestamp` is in UTC, as the sessions are, and takes less time than naming it.
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
