/** Lists the catalogue of time zones (R-C8). */
import type { Queryable } from '../../platform/database/database.ts';
import { findTimeZone } from './time-zones.ts';

export interface TimeZone {
  /** IANA name. */
  readonly id: string;
  /** IANA name of the zone, with spaces instead of underscores. */
  readonly name: string;
}

/**
 * Returns a function that lists UTC and the zones with a name such as Europe/Brussels, without zones that the database
 * or the runtime does not know (R-C8). The list is cached, because PostgreSQL reads its whole tz directory each time.
 */
export function timeZoneLister(queryable: Queryable): () => Promise<readonly TimeZone[]> {
  let known: readonly TimeZone[] | undefined;
  return async () => {
    known ??= await listTimeZones(queryable);
    return known;
  };
}

/**
 * Reads the names from the database and keeps those that the runtime knows. The runtime alone would list old names,
 * such as Asia/Calcutta, which newer tz databases omit.
 */
async function listTimeZones(queryable: Queryable): Promise<readonly TimeZone[]> {
  const { rows } = await queryable.query<{ id: string }>(
    `select name as id from pg_timezone_names where name = 'UTC' or name ~ '^[A-Z][A-Za-z]+/[A-Z]'
     order by name <> 'UTC', name`,
  );
  return rows.flatMap(({ id }) => (findTimeZone(id) === id ? [{ id, name: id.replaceAll('_', ' ') }] : []));
}
