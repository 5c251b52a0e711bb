/** Builds the SQL of aggregates: the selected versions, grouped by civil buckets (R-G1). */

import type { PointSelection } from '../point.ts';
import type { ChosenLabels } from '../read/find-chosen-labels.ts';
import { selectOfVariables, VARIABLE } from '../read/select-of-variables.ts';
import { pagingClause, selectVersions } from '../read/select-versions.ts';
import { integerLiteral } from '../read/sql-literal.ts';
import { MERGED_FUNCTIONS, PART_COLUMNS, withRollups } from '../rollups/select-rollups.ts';
import type { AggregateFunction, Buckets } from './bucket.ts';
import { bucketStart } from './bucket-start.ts';
import { offsetSpans } from './zone-offsets.ts';

const FUNCTIONS: Readonly<Record<AggregateFunction, string>> = {
  sum: 'sum(value)',
  min: 'min(value)',
  max: 'max(value)',
  avg: 'avg(value)',
  count: 'count(*)::float8',
  variance: 'var_samp(value)',
  stdev: 'stddev_samp(value)',
};

const COLUMNS = 'variable.id, wanted.start, wanted.value, wanted.points';

export interface BucketSelection {
  readonly selection: PointSelection;
  readonly labels: ChosenLabels;
  readonly buckets: Buckets;
  readonly aggregate: AggregateFunction;
  /** True when the statement combines rollups with raw points. */
  readonly isRolledUp: boolean;
  /** The limit and offset apply to each variable separately. */
  readonly page: Pick<PointSelection, 'limit' | 'offset'>;
}

/**
 * @returns a statement with the columns variable id, bucket start, value (NaN when there is none) and number of points
 * (R-G1). For days, weeks, months and years, the start is the local midnight written as if it were UTC. The caller
 * converts it to the instant in Node, because PostgreSQL and Node may have different tz databases. For `all`, the start
 * is the date of the first point.
 */
export function selectBuckets(variableIds: readonly number[], wanted: BucketSelection): string {
  const { selection, labels, buckets, isRolledUp, page } = wanted;
  const versions = selectVersions(selection, VARIABLE, labels, 'date, value');
  const { results, having } = resultsOf(wanted);
  const paging = pagingClause(page);
  if (buckets.bucket === 'all') {
    const parts = isRolledUp ? withRollups(versions, selection, VARIABLE, undefined) : versions;
    const whole = `select min(date) as start, ${results} from (${parts}) version ${having}${paging}`;
    return selectOfVariables(variableIds, COLUMNS, whole);
  }
  const { bucket } = buckets;
  const order = selection.order === 'DESC' ? 'desc' : 'asc';
  const spans = offsetSpans(buckets.timeZoneId, selection.fromMicros, selection.toMicros);
  const start = (date: string) => bucketStart(bucket, spans, date);
  // A bucket of an hour or a minute includes a rollup only when all points of the rollup are in the bucket. A longer
  // bucket includes every rollup that begins in the bucket.
  const isWhole = bucket === 'minute' || bucket === 'hour' ? `${start('date')} = ${start('last_date')}` : undefined;
  const parts = isRolledUp ? withRollups(versions, selection, VARIABLE, isWhole) : versions;
  // `offset 0` hides the expression of `start` from the planner. Otherwise the planner would expect as many buckets as
  // points. For a large read, it would then sort all points instead of aggregating them by hash.
  const columns = isRolledUp ? PART_COLUMNS : 'value';
  const placed = `select ${start('date')} as start, ${columns} from (${parts}) version offset 0`;
  const grouped = `select start, ${results} from (${placed}) placed group by start ${having}`;
  return selectOfVariables(variableIds, COLUMNS, `${grouped} order by start ${order}${paging}`);
}

function resultsOf({ aggregate, buckets, isRolledUp }: BucketSelection): {
  readonly results: string;
  readonly having: string;
} {
  const minCount = integerLiteral(Math.max(1, buckets.minCount ?? 1));
  const value = (isRolledUp ? MERGED_FUNCTIONS : FUNCTIONS)[aggregate];
  const points = isRolledUp ? 'sum(points)' : 'count(*)';
  const results = `coalesce(${value}, 'NaN') as value, ${points}::float8 as points`;
  return { results, having: `having ${points} >= ${minCount}` };
}
