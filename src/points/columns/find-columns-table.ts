/** Finds the table in which TimescaleDB keeps the compressed rows of a chunk. */
import type { Queryable } from '../../platform/database/database.ts';

const COLUMNS_OF = `select columns_name as name from point_chunks() where name = $1 and columns_name is not null`;

/**
 * @param chunkName quoted name of the chunk's own table.
 * @returns the quoted name of the table of compressed data; undefined for an uncompressed chunk.
 */
export async function findColumnsTable(queryable: Queryable, chunkName: string): Promise<string | undefined> {
  const { rows } = await queryable.query<{ name: string }>(COLUMNS_OF, [chunkName]);
  return rows[0]?.name;
}
