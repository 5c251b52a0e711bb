/**
 * Resolves the version parameters of a request (R-G2) into a `VersionChoice`; a relative version becomes an instant.
 */
import { Temporal } from 'temporal-polyfill';
import type { Queryable } from '../platform/database/database.ts';
import { isStorableText } from '../platform/database/storable-text.ts';
import type { CivilDuration, Micros, VersionChoice } from '../points/point.ts';

const MICROS_PER_MILLI = 1000;

export interface VersionRequest {
  readonly versionTags: readonly string[];
  readonly asOfMicros?: Micros | undefined;
  /** Reads the state as it was this long ago. Not allowed together with `asOfMicros`. */
  readonly relative?: CivilDuration | undefined;
  /** Selects only versions whose VersionTimestamp is at least this long before the date of the point. */
  readonly horizon?: CivilDuration | undefined;
  /** Selects only versions that have all of these tags. */
  readonly tags?: readonly (readonly [key: string, value: string])[];
  readonly isEveryVersion?: boolean;
  /** Zone in whose local time the months and days of `relative` and `horizon` are subtracted. Default: UTC. */
  readonly timeZoneId?: string | undefined;
}

/**
 * Resolves the version parameters of a request (R-G2).
 * @param queryable the database whose clock assigns VersionTimestamps; a relative version is relative to this clock.
 */
export async function resolveVersion(
  queryable: Queryable,
  { versionTags, tags = [], ...request }: VersionRequest,
): Promise<VersionChoice> {
  const { relative, horizon, timeZoneId = 'UTC' } = request;
  const asOfMicros = relative ? await findInstantBefore(queryable, relative, timeZoneId) : request.asOfMicros;
  return {
    ...(asOfMicros !== undefined && { asOfMicros }),
    ...(horizon && { horizon: { duration: horizon, timeZoneId } }),
    // A text that cannot be stored matches no VersionTag.
    ...(versionTags.length > 0 && { versionTags: versionTags.filter(isStorableText) }),
    ...(tags.length > 0 && { tags }),
    ...(request.isEveryVersion && { isEvery: true }),
  };
}

/**
 * @returns the current time of the database minus the duration: `months` and `days` in civil time of the zone, `micros`
 * in elapsed time.
 */
async function findInstantBefore(
  queryable: Queryable,
  { months, days, micros }: CivilDuration,
  timeZoneId: string,
): Promise<Micros> {
  const { rows } = await queryable.query<{ now: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000000)::int8 as now',
  );
  const now = rows[0]?.now ?? 0;
  if (months === 0 && days === 0) return now - micros;
  const instant = Temporal.Instant.fromEpochMilliseconds(Math.floor(now / MICROS_PER_MILLI));
  const local = instant.toZonedDateTimeISO(timeZoneId).toPlainDateTime().subtract({ months, days });
  // A repeated local time means the later of its two instants; a skipped local time moves forward by the gap (R-D4).
  const { epochMilliseconds } = local.toZonedDateTime(timeZoneId, { disambiguation: 'later' });
  return epochMilliseconds * MICROS_PER_MILLI + (now % MICROS_PER_MILLI) - micros;
}
