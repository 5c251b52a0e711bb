/** Finds the table in which TimescaleDB keeps the columns of a chunk. */
import type { Queryable } from '../../platform/database/database.ts';

const COLUMNS_OF = `
  select format('%I.%I', columns.schema_name, columns.table_name) as name
  from _timescaledb_catalog.chunk
  join _timescaledb_catalog.chunk columns on columns.id = chunk.compressed_chunk_id
  where (chunk.schema_name, chunk.table_name) = (
    select nspname, relname from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where pg_class.oid = $1::regclass)`;

/**
 * @param chunkName quoted name of the chunk's own table.
 * @returns the quoted name of the table; undefined for a chunk in rows.
 */
export async function findColumnsTable(queryable: Queryable, chunkName: string): Promise<string | undefined> {
  const { rows } = await queryable.query<{ name: string }>(COLUMNS_OF, [chunkName]);
  return rows[0]?.name;
}
