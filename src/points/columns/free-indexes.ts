/**
 * Rebuilds the indexes of chunks whose rows have all been compressed. Compression deletes the rows, and vacuum truncates the
 * table but never an index: without this, a compressed chunk keeps the index pages of its rows (57 bytes per current point
 * and 89 per superseded version; a compressed point takes 10).
 */
import { type Connection, inTransaction } from '../../platform/database/database.ts';

/**
 * Shorter than `deadlock_timeout`, like the lock time-outs of compression. A read of the chunk waits for the rebuild when it
 * is planned; the rebuild of an empty index takes milliseconds.
 */
const LOCK_TIMEOUT = `set local lock_timeout = '200ms'`;

// An index of an empty table has one page.
const FIND_EMPTY = `
  select indexrelid::regclass::text as name
  from point_chunks() chunk join pg_index on indrelid = chunk.name::regclass
  where is_compressed and not is_partial and ($1::text is null or chunk.name = $1)
    and pg_relation_size(indrelid) = 0 and pg_relation_size(indexrelid) > 8192`;

/** SQLSTATE lock_not_available: the chunk is in use, and a later call rebuilds its index. */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * @param chunkName quoted name of a chunk's table; default: every chunk.
 * @throws {DatabaseError} for any failure except a chunk in use.
 */
export async function freeIndexes(connection: Connection, chunkName?: string): Promise<void> {
  const { rows } = await connection.query<{ name: string }>(FIND_EMPTY, [chunkName]);
  for (const { name } of rows) {
    try {
      await inTransaction(connection, async (transaction) => {
        await transaction.query(LOCK_TIMEOUT);
        await transaction.query(`reindex index ${name}`);
      });
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
    }
  }
}
