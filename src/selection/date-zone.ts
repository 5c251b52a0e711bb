/**
 * Determines the zone for the dates without a zone in a request (R-A11), by the first rule that applies:
 * - A read has a `timeZoneId`: this zone.
 * - The request concerns exactly one source: the zone of the source.
 * - Otherwise: UTC.
 *
 * The zone of the dates in answers, and of buckets, depends only on `timeZoneId`.
 */
import type { Context } from 'hono';
import type { Caller } from '../identity/caller/caller.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { ParsedMoment } from '../platform/dates/date-rules.ts';
import { setDateZones } from '../platform/dates/date-zone-header.ts';
import { formatInstant } from '../platform/dates/instant-rules.ts';
import type { Micros } from '../points/point.ts';
import { toMicros, type Zoned } from './read-request.ts';

const UTC = 'UTC';

/**
 * @returns the request with every date as an instant, and the applied zone, which is undefined when every date had a
 *   zone.
 * @throws {DomainError} invalid_input in the same cases as `Zoned.in`.
 */
export async function settleDates<Request>(
  queryable: Queryable,
  { accountId }: Caller,
  given: Zoned<Request>,
): Promise<{ readonly request: Request; readonly dateZone: string | undefined }> {
  if (!given.hasLocalDates) return { request: given.in(undefined), dateZone: undefined };
  const dateZone = given.zone ?? (await findZone(queryable, accountId, given)) ?? UTC;
  return { request: given.in(dateZone), dateZone };
}

/** The variables, sources or sites that a request concerns. */
export interface Owners {
  readonly variableIds?: readonly number[];
  readonly sourceIds?: readonly number[];
  readonly siteIds?: readonly number[];
}

/**
 * Converts dates of requests that have no parameter `timeZoneId` to instants.
 * @returns the converted dates by name, and the zone that was applied, which is undefined when every date had a zone.
 */
export async function settleMoments<Name extends string>(
  queryable: Queryable,
  { accountId }: Caller,
  owners: Owners,
  moments: Readonly<Partial<Record<Name, ParsedMoment | null | undefined>>>,
): Promise<{ readonly instants: Readonly<Partial<Record<Name, Micros>>>; readonly dateZone: string | undefined }> {
  const given = (Object.entries(moments) as [Name, ParsedMoment | null | undefined][]).flatMap(([name, moment]) =>
    moment ? [[name, moment] as const] : [],
  );
  const hasLocalDates = given.some(([, { isLocal }]) => isLocal);
  const dateZone = hasLocalDates ? ((await findZone(queryable, accountId, owners)) ?? UTC) : undefined;
  const instants = given.map(([name, moment]) => [name, toMicros(moment, dateZone)]);
  return { instants: Object.fromEntries(instants), dateZone };
}

/** @returns ISO 8601 in UTC; undefined for an absent date. */
export function formatOptional(micros: Micros | undefined): string | undefined {
  return micros === undefined ? undefined : formatInstant(micros);
}

/**
 * Sets the header `Time-Zone` to the zone in which dates of the request were interpreted, unless `dateZone` is
 * undefined.
 */
export function setDateZone(c: Context, dateZone: string | undefined): void {
  setDateZones(c, dateZone === undefined ? [] : [dateZone]);
}

/** @returns the time zone of the source if the request concerns exactly one source; otherwise undefined. */
async function findZone(
  queryable: Queryable,
  accountId: number,
  { variableIds = [], sourceIds = [], siteIds = [] }: Owners,
): Promise<string | undefined> {
  const { rows } = await queryable.query<{ zone: string }>(
    `select coalesce(source.time_zone_id, site.time_zone_id) as zone
     from source join site on site.id = source.site_id
     where source.account_id = $1
       and (source.id = any($3::int[]) or source.site_id = any($4::int[])
            or source.id in (select source_id from variable where id = any($2::int[])))
     limit 2`,
    [accountId, variableIds, sourceIds, siteIds],
  );
  return rows.length === 1 ? rows[0]?.zone : undefined;
}
