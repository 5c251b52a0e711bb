/** Builds SQL that aggregates raw points and rollups together. Each point is stored either raw or in one rollup. */
import type { AggregateFunction } from '../buckets/bucket.ts';
import type { PointSelection } from '../point.ts';
import { narrowingConditions, periodConditions } from '../read/select-versions.ts';

const MOMENTS = 'merge_moments(array[points, sum_value, squares])';

/** SQL expressions of the aggregate functions, over the columns of `withRollups`. */
export const MERGED_FUNCTIONS: Readonly<Record<AggregateFunction, string>> = {
  sum: 'sum(sum_value)',
  min: 'min(min_value)',
  max: 'max(max_value)',
  avg: 'sum(sum_value) / sum(points)',
  count: 'sum(points)',
  variance: `float8_var_samp(${MOMENTS})`,
  stdev: `float8_stddev_samp(${MOMENTS})`,
};

/** Columns of a part (a raw point or a rollup, see `withRollups`) besides `date`. */
export const PART_COLUMNS = 'points, sum_value, squares, min_value, max_value';

/**
 * Returns true when rollups can answer the read; a rollup has neither the labels nor the
 * superseded versions of its points.
 */
export function isAnsweredByRollups({ version: { versionTags, tags, isEvery } }: PointSelection): boolean {
  return versionTags === undefined && (tags === undefined || tags.length === 0) && isEvery !== true;
}

/**
 * Builds the subquery of the parts of one variable: a row for each raw point and for each rollup. The date of a rollup
 * is the date of its first point; only rollups whose date is in the period are included. A read of a past state
 * includes a rollup only when all points of the rollup had been written by the instant of that state (R-F5).
 *
 * @param versions subquery of the raw points with `date` and `value`.
 * @param variable SQL expression of the variable's id.
 * @param isWhole SQL condition on `date` and `last_date` that is true when a rollup lies within one bucket; undefined
 * when every rollup is included.
 */
export function withRollups(
  versions: string,
  selection: PointSelection,
  variable: string,
  isWhole: string | undefined,
): string {
  const conditions = [
    ...periodConditions(selection, variable),
    ...narrowingConditions(selection, { versionTagIds: undefined, tagSetIds: undefined }),
    ...(isWhole === undefined ? [] : [isWhole]),
  ];
  return `
    select date, 1::float8 as points, value as sum_value, 0::float8 as squares, value as min_value, value as max_value
    from (${versions}) version
    union all
    select date, points, sum_value, squares, min_value, max_value
    from (select variable_id, first_date as date, last_date, version_timestamp, point_count::float8 as points,
                 sum_value, squares, min_value, max_value from point_rollup) rollup
    where ${conditions.join(' and ')}`;
}
