/**
 * Frees, by VACUUM FULL, the pages that compression leaves in a chunk:
 * - indexes of the table for uncompressed rows, which is empty after the compression (57 bytes per current point, 89 per
 *   superseded version)
 * - free space maps and visibility maps of this table and of the table with the compressed data (at most 80 kB per
 *   chunk)
 */
import type { Connection } from '../../platform/database/database.ts';
import { LOCK_NOT_AVAILABLE } from './move-rows.ts';

/** Shorter than `deadlock_timeout`: in a deadlock, the VACUUM usually gives up before PostgreSQL aborts a write. */
const LIMIT = `set lock_timeout = '200ms'`;
const RESET_LIMIT = 'reset lock_timeout';

/**
 * The table with the compressed data of a chunk is rewritten only when it has at most this size, to save the space of
 * its free space map and visibility map. In a larger table, these maps take less than 0.4 bytes per point.
 */
const SMALL_BYTES = 4 * 2 ** 20;

// Finds compressed chunks that waste disk space. A compressed chunk has a table for uncompressed rows (`name`) and a
// table of compressed data (`columns_name`). The table for uncompressed rows must be empty, and one of these conditions
// must hold:
// - An index of the table for uncompressed rows has more than one page (8192 bytes).
// - The table of compressed data has at most SMALL_BYTES bytes, and one of the two tables (or the TOAST table of the
//   compressed data) has a free space map.
const FIND_WASTEFUL = `
  select name, case when columns_bytes <= ${SMALL_BYTES} and map_bytes > 0 then columns_name end as "columnsName"
  from point_chunks() chunk
  cross join lateral (
    select pg_total_relation_size(columns.oid) as columns_bytes,
           pg_relation_size(chunk.name::regclass, 'fsm') + pg_relation_size(columns.oid, 'fsm')
             + coalesce(pg_relation_size(nullif(columns.reltoastrelid, 0), 'fsm'), 0) as map_bytes
    from pg_class columns where columns.oid = columns_name::regclass
  ) size
  where is_compressed and not is_partial and ($1::text is null or name = $1) and pg_relation_size(name::regclass) = 0
    and ((columns_bytes <= ${SMALL_BYTES} and map_bytes > 0)
         or exists (select from pg_index where indrelid = name::regclass and pg_relation_size(indexrelid) > 8192))`;

/**
 * Frees pages of one chunk or all chunks; skips a chunk that is in use.
 * @param chunkName quoted name of a chunk's table. Default: every chunk.
 * @throws {DatabaseError} when a statement fails for a reason other than a chunk in use.
 */
export async function freePages(connection: Connection, chunkName?: string): Promise<void> {
  const { rows } = await connection.query<{ name: string; columnsName: string | null }>(FIND_WASTEFUL, [chunkName]);
  if (rows.length === 0) return;
  await connection.query(LIMIT);
  try {
    for (const { name, columnsName } of rows) {
      for (const table of [name, ...(columnsName ? [columnsName] : [])]) await rewrite(connection, table);
    }
  } finally {
    await connection.query(RESET_LIMIT);
  }
}

async function rewrite(connection: Connection, table: string): Promise<void> {
  try {
    await connection.query(`vacuum (full) ${table}`);
  } catch (error) {
    if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
  }
}
