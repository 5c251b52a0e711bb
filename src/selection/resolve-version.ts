/** Which versions a reader asks for (R-G2) → the choice the store understands: what is relative becomes an instant. */
import { Temporal } from 'temporal-polyfill';
import type { Queryable } from '../platform/database/database.ts';
import { isStorableText } from '../platform/database/storable-text.ts';
import type { CivilDuration, Micros, VersionChoice } from '../points/point.ts';

const MICROS_PER_MILLI = 1000;

export interface VersionRequest {
  readonly versionTags: readonly string[];
  readonly asOfMicros?: Micros | undefined;
  /** The state known so long ago; not together with `asOfMicros`. */
  readonly relative?: CivilDuration | undefined;
  /** Only versions known at least so long before the date they are for. */
  readonly horizon?: CivilDuration | undefined;
  /** Tags that must all be there. */
  readonly tags?: readonly (readonly [key: string, value: string])[];
  readonly isEveryVersion?: boolean;
  /** Calendar of `relative` and `horizon`; undefined is UTC. */
  readonly timeZoneId?: string | undefined;
}

/** Which versions count; a relative version becomes the instant it means now. */
export async function resolveVersion(
  queryable: Queryable,
  { versionTags, tags = [], ...request }: VersionRequest,
): Promise<VersionChoice> {
  const { relative, horizon, timeZoneId = 'UTC' } = request;
  const asOfMicros = relative ? await findInstantBefore(queryable, relative, timeZoneId) : request.asOfMicros;
  return {
    ...(asOfMicros !== undefined && { asOfMicros }),
    ...(horizon && { horizon: { duration: horizon, timeZoneId } }),
    // A text that cannot be stored is nobody's VersionTag.
    ...(versionTags.length > 0 && { versionTags: versionTags.filter(isStorableText) }),
    ...(tags.length > 0 && { tags }),
    ...(request.isEveryVersion && { isEvery: true }),
  };
}

/** Now, by the clock that VersionTimestamps are from, less months and days on the zone's calendar and the rest of time. */
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
  // A local time that comes twice is the later one, one that is skipped is moved forward by the gap (R-D4).
  const { epochMilliseconds } = local.toZonedDateTime(timeZoneId, { disambiguation: 'later' });
  return epochMilliseconds * MICROS_PER_MILLI + (now % MICROS_PER_MILLI) - micros;
}
