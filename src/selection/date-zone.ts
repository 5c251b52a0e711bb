/**
 * The zone of dates without one in a read (R-A11): `timeZoneId`, else that of the source when one source is read, else UTC.
 * The answer names it in the header `Time-Zone`. Answers and buckets follow `timeZoneId` alone.
 */
import type { Context } from 'hono';
import type { Caller } from '../identity/caller/caller.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { Zoned } from './read-request.ts';

const UTC = 'UTC';

/**
 * @returns the request with every date as an instant, and the zone that was applied; undefined when every date had its
 * own.
 * @throws {DomainError} invalid_input as `Zoned.in`.
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

/** Sets the header `Time-Zone` to the zone applied to dates of the request. */
export function setDateZone(c: Context, dateZone: string | undefined): void {
  if (dateZone !== undefined) c.header('Time-Zone', dateZone);
}

/** @returns undefined unless exactly one source is read. */
async function findZone(
  queryable: Queryable,
  accountId: number,
  { variableIds, sourceIds }: Zoned<unknown>,
): Promise<string | undefined> {
  const { rows } = await queryable.query<{ zone: string }>(
    `select coalesce(source.time_zone_id, site.time_zone_id) as zone
     from source join site on site.id = source.site_id
     where source.account_id = $1
       and (source.id = any($3::int[]) or source.id in (select source_id from variable where id = any($2::int[])))
     limit 2`,
    [accountId, variableIds, sourceIds],
  );
  return rows.length === 1 ? rows[0]?.zone : undefined;
}
