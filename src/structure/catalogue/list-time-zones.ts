/** The catalogue of time zones (R-C8). */
import type { Queryable } from '../../platform/database/database.ts';
import { findTimeZone } from './time-zones.ts';

export interface TimeZone {
  /** IANA name. */
  readonly id: string;
  /** The same, as people write it. */
  readonly name: string;
}

/**
 * Zones that both the database and the runtime know, UTC first. The runtime alone would list old names, such as
 * Asia/Calcutta, which newer tz databases leave out. Takes a moment: the database reads its whole tz directory.
 */
export async function listTimeZones(queryable: Queryable): Promise<readonly TimeZone[]> {
  const { rows } = await queryable.query<{ id: string }>(
    `select name as id from pg_timezone_names where name = 'UTC' or name ~ '^[A-Z][A-Za-z]+/[A-Z]'
     order by name <> 'UTC', name`,
  );
  return rows.flatMap(({ id }) => (findTimeZone(id) === id ? [{ id, name: id.replaceAll('_', ' ') }] : []));
}
