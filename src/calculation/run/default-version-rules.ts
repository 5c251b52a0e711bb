/** The Version that rows without a Version get (§9.4): the time of the calculation in UTC, rounded up to the hour. */

const MILLIS_PER_HOUR = 3_600_000;

/**
 * Rounds a time up to the hour (§9.4). A time exactly on the hour is unchanged; a time one millisecond later is rounded
 * up to the next hour.
 * @returns `yyyy-MM-ddTHH:mm:ss`, without a Z.
 */
export function defaultVersion(nowMillis: number): string {
  const hourMillis = Math.ceil(nowMillis / MILLIS_PER_HOUR) * MILLIS_PER_HOUR;
  return new Date(hourMillis).toISOString().slice(0, 19);
}
