/**
 * Packs uncompressed chunks to save disk space: moves rows out of the last pages, and rebuilds the indexes. A rebuilt
 * index has less free space in its pages. A chunk is due after enough writes and then some time without writes.
 * `compressChunks` records the number and the time of the writes to each chunk.
 */
import { type Connection, type Database, withConnection } from '../../platform/database/database.ts';
import { withLease } from '../../platform/database/session-lease.ts';
import type { Log } from '../../platform/log.ts';
import { LOCK_NOT_AVAILABLE, moveRows } from './move-rows.ts';

/** Lock class of the lease for packing. Only the process that holds the lease packs chunks. */
const LOCK_CLASS = 0x7061_636b;
/**
 * Time limits for packing a chunk. The rebuild of an index waits for running transactions, but does not block reads and
 * writes of the chunk.
 */
const LIMITS = `set lock_timeout = '60s'; set statement_timeout = '30min'`;
const RESET_LIMITS = 'reset lock_timeout; reset statement_timeout';
/** Leaves a tenth of each page free, so that later revisions split fewer pages. */
const FILLFACTOR = 90;

/**
 * A rewritten chunk is packed when it has had no writes for this many seconds. A chunk counts as rewritten when it had
 * at least 10,000 changes since the last packing, and at least two changes per row of the chunk. Each inserted row and
 * each deleted row is a change.
 */
export const REWRITTEN_QUIET_SEC = 300;

// Finds chunks with enough changes since the last packing and without recent writes. A revised row counts as two
// changes: a deletion and an insertion.
const FIND_DUE = `
  select chunk_id as "chunkId", chunk.name, write_count as "writeCount"
  from point_chunk_activity
  join point_chunks() chunk using (chunk_id)
  join pg_class relation on relation.oid = chunk.name::regclass
  cross join lateral (
    select greatest(reltuples, pg_stat_get_live_tuples(relation.oid)) as row_count,
           abs(write_count - coalesce(packed_count, 0)) as changes,
           extract(epoch from clock_timestamp() - changed_date) as quiet_sec
  ) state
  where not is_compressed and changes >= greatest(row_count / 5, 10000)
    and (not is_compressible and quiet_sec >= $1 or quiet_sec >= $2 and changes >= 2 * row_count)
  order by changed_date`;

const NOTE_PACKED = 'update point_chunk_activity set packed_count = $2 where chunk_id = $1';

const FIND_INDEXES = `
  select indexrelid::regclass::text as name, indisvalid as "isValid" from pg_index where indrelid = $1::regclass`;

interface DueChunk {
  readonly chunkId: number;
  /** Quoted name of the chunk's table. */
  readonly name: string;
  readonly writeCount: number;
}

export interface PackSettings {
  /**
   * Seconds without writes after which a chunk with enough changes is due for packing. This rule does not apply to
   * chunks that TimescaleDB can compress.
   */
  readonly quietSec: number;
  /** Seconds without writes after which a rewritten chunk is due for packing. */
  readonly rewrittenQuietSec: number;
}

/** Packs the chunks that are due, and skips chunks that are in use. @returns the number of packed chunks. */
export async function packIndexes(
  database: Database,
  { quietSec, rewrittenQuietSec }: PackSettings,
  log: Log,
  isStopped: () => boolean = () => false,
): Promise<number> {
  const work = async (connection: Connection): Promise<number> => {
    const { rows } = await connection.query<DueChunk>(FIND_DUE, [quietSec, rewrittenQuietSec]);
    let count = 0;
    for (const chunk of rows) {
      if (isStopped()) break;
      const startMs = performance.now();
      if (!(await packChunk(connection, chunk))) {
        log.info({ chunk: chunk.name }, 'did not pack a chunk, because it is in use; a later call packs it');
        continue;
      }
      count += 1;
      log.info(
        { chunk: chunk.name, durationMs: Math.round(performance.now() - startMs) },
        'rebuilt the indexes of a chunk',
      );
    }
    return count;
  };
  const count = await withConnection(database, (connection) =>
    withLease(connection, LOCK_CLASS, 0, () => work(connection)),
  );
  return count ?? 0;
}

/**
 * @returns false when a lock was not available in time, or when vacuum could not free the space of dead rows, for
 *   example because of an autovacuum or a long transaction. The chunk then stays due. If rows were already moved, the
 *   moves count as writes: the chunk is due again after some time without writes.
 */
async function packChunk(connection: Connection, { chunkId, name, writeCount }: DueChunk): Promise<boolean> {
  await connection.query(LIMITS);
  try {
    // Frees the space of dead rows, because `moveRows` requires a vacuumed chunk.
    await connection.query(`vacuum (truncate) ${name}`);
    const { count: moved, isBlocked } = await moveRows(connection, name);
    if (isBlocked) return false;
    const { rows } = await connection.query<{ name: string; isValid: boolean }>(FIND_INDEXES, [name]);
    for (const index of rows) await packIndex(connection, index);
    // A moved row counts as two changes. `packed_count` includes these changes immediately. The flush makes
    // PostgreSQL's statistics include them immediately too.
    if (moved > 0) await connection.query('select pg_stat_force_next_flush()');
    await connection.query(NOTE_PACKED, [chunkId, writeCount + 2 * moved]);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
    return false;
  } finally {
    await connection.query(RESET_LIMITS);
  }
}

async function packIndex(connection: Connection, { name, isValid }: { name: string; isValid: boolean }): Promise<void> {
  // An invalid index is what an interrupted rebuild left behind.
  if (!isValid) return void (await connection.query(`drop index concurrently ${name}`));
  await connection.query(`alter index ${name} set (fillfactor = ${FILLFACTOR})`);
  await connection.query(`reindex index concurrently ${name}`);
}
