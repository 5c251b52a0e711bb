/** The boundary: the date before which points are rolled up. It moves once a month. */
import type { Queryable } from '../platform/database/database.ts';
import type { Micros } from '../points/point.ts';

/**
 * @param years SQL expression for the number of years to keep.
 * @returns SQL expression for the boundary: the start of the current month (UTC), minus `years` years.
 */
export const boundarySql = (years: string) =>
  `(date_trunc('month', clock_timestamp(), 'UTC') - make_interval(years => ${years}))`;

/** @returns the boundary according to the database's clock. @throws {Error} when the database returns no row. */
export async function findBoundary(queryable: Queryable, keepRawYears: number): Promise<Micros> {
  const { rows } = await queryable.query<{ micros: Micros }>(
    `select (extract(epoch from ${boundarySql('$1::int')}) * 1000000)::int8 as micros`,
    [keepRawYears],
  );
  const [found] = rows;
  if (!found) throw new Error('the database returned no boundary for rollups');
  return found.micros;
}
