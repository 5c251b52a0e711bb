/**
 * Compresses chunks of points (Community edition of TimescaleDB). The compressed form is columnar and takes a tenth of
 * the space. A chunk is compressed when no write has changed it for some hours, whatever its dates. Later writes add
 * uncompressed rows to the chunk, and it is compressed again. The Apache edition cannot compress chunks.
 */
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Connection,
  type Database,
  inTransaction,
  type Transaction,
  withConnection,
} from '../../platform/database/database.ts';
import { withLease } from '../../platform/database/session-lease.ts';
import type { Log } from '../../platform/log.ts';
import { findColumnsTable } from './find-columns-table.ts';
import { freePages } from './free-pages.ts';

export interface ColumnSettings {
  /** Seconds without writes after which an uncompressed chunk is compressed. */
  readonly quietSec: number;
  /** Seconds without writes after which the new, uncompressed rows of a compressed chunk are compressed. */
  readonly settleSec: number;
}

/** Seconds after which uncompressed rows of a compressed chunk are compressed even while writes continue. */
const MAX_ROWS_SEC = 480;
/**
 * Maximum wait for a lock. It is short, because writes queue behind a compression that waits. It is shorter than
 * `deadlock_timeout` (1 s), so in a deadlock the compression usually gives up before PostgreSQL aborts a write.
 */
const LOCK_TIMEOUT_MS = 200;
const COMPRESS_TIMEOUT_MS = 600_000;
/** Lock class of the lease that lets only one process at a time compress chunks. */
const LOCK_CLASS = 0x636f_6c73;
/**
 * SQLSTATEs of failures after which the chunk is skipped until the next call: lock_not_available, deadlock_detected,
 * query_canceled, serialization_failure (rows were written meanwhile).
 */
const LATER: ReadonlySet<string> = new Set(['55P03', '40P01', '57014', '40001']);

// Records the number of row changes of each chunk, and returns the chunks to compress. PostgreSQL's statistics of
// writes can lag by some seconds.
const OBSERVE = `
  with seen as (
    select chunk_id as id, name::regclass as relation, is_compressible, is_compressed, is_partial as has_rows
    from point_chunks()
  ), gone as (
    delete from point_chunk_activity where chunk_id not in (select id from seen)
  ), observed as (
    insert into point_chunk_activity as activity (chunk_id, write_count, rows_date)
    select id, coalesce(pg_stat_get_tuples_inserted(relation) + pg_stat_get_tuples_updated(relation)
                        + pg_stat_get_tuples_deleted(relation), 0),
           case when has_rows then clock_timestamp() end
    from seen
    on conflict (chunk_id) do update set
      write_count = excluded.write_count,
      changed_date = case when activity.write_count = excluded.write_count
        then activity.changed_date else excluded.changed_date end,
      rows_date = case when excluded.rows_date is not null then coalesce(activity.rows_date, excluded.rows_date) end
    returning chunk_id, extract(epoch from clock_timestamp() - changed_date) as quiet_sec,
              extract(epoch from clock_timestamp() - rows_date) as rows_sec
  )
  select relation::text as name
  from observed join seen on seen.id = observed.chunk_id
  where is_compressible and case when is_compressed then has_rows and (quiet_sec >= $2 or rows_sec >= $3)
        else quiet_sec >= $1 and pg_relation_size(relation) > 0 end
  order by is_compressed desc, quiet_sec desc`;

/**
 * Compresses the chunks that are due. Does nothing while another process compresses chunks. Skips a chunk that is in
 * use or whose compression takes too long; the next call tries this chunk again.
 * @returns the number of chunks compressed.
 */
export async function compressChunks(
  database: Database,
  { quietSec, settleSec }: ColumnSettings,
  log: Log,
  isStopped: () => boolean = () => false,
): Promise<number> {
  const work = async (connection: Connection): Promise<number> => {
    const { rows } = await connection.query<{ name: string }>(OBSERVE, [quietSec, settleSec, MAX_ROWS_SEC]);
    let count = 0;
    for (const { name } of rows) {
      if (isStopped()) break;
      const startMs = performance.now();
      const isDone = await compressChunk(connection, name);
      if (isDone) count += 1;
      const durationMs = Math.round(performance.now() - startMs);
      log.info(
        { chunk: name, durationMs },
        isDone
          ? 'chunk compressed'
          : 'the chunk is in use, or its compression took too long; the next pass tries again',
      );
    }
    // Frees the pages that `compressChunk` could not free, because their chunk was in use.
    await freePages(connection);
    return count;
  };
  const count = await withConnection(database, (connection) =>
    withLease(connection, LOCK_CLASS, 0, () => work(connection)),
  );
  return count ?? 0;
}

/**
 * Compresses a chunk, or the uncompressed rows of a compressed chunk. Writes to an uncompressed chunk wait until the
 * commit; writes to a compressed chunk wait only at the end. In both cases, the function finally locks `point_gate` for
 * a moment, during which all reads and writes of points wait.
 * @param name quoted name of the chunk's table.
 * @returns false when the chunk is in use or its compression takes too long; the chunk is then unchanged.
 * @throws {Error} for any other failure.
 */
export async function compressChunk(connection: Connection, name: string): Promise<boolean> {
  let replaced: string | undefined;
  try {
    const work = async (transaction: Transaction) => {
      await transaction.query(START, [String(LOCK_TIMEOUT_MS)]);
      replaced = await compress(transaction, name);
      await closeGate(transaction);
    };
    await inTransaction(connection, work, { statementTimeoutMs: COMPRESS_TIMEOUT_MS });
  } catch (error) {
    if (isLockFailure(error)) return false;
    throw error;
  }
  // Removes dead rows, and returns free pages at the end of a table to the file system; autovacuum would do so later.
  // The chunk's own table has dead rows because TimescaleDB deletes rows after compressing them. If the chunk already
  // had a table of compressed data before this compression, `replaced` names that table: it has dead rows because new
  // batches have replaced old ones.
  await connection.query(`vacuum (truncate, skip_locked) ${[name, ...(replaced ? [replaced] : [])].join()}`);
  await freePages(connection, name);
  return true;
}

/**
 * Compresses a chunk into its table of compressed data.
 * @returns the quoted name of this table if the table existed before; otherwise undefined. Only a table that existed
 *   before can have dead rows.
 */
async function compress(transaction: Transaction, name: string): Promise<string | undefined> {
  const { rows } = await transaction.query(SET_BATCH_ROWS, [name]);
  const before = await findColumnsTable(transaction, name);
  await transaction.query('select compress_chunk($1::regclass, if_not_compressed => true)', [name]);
  const columns = await findColumnsTable(transaction, name);
  if (columns === before) return columns;
  if (columns && rows.length > 0) await inlineBatches(transaction, columns);
  return undefined;
}

// Limits the wait for locks. Makes TimescaleDB remove the uncompressed originals of compressed rows with DELETE instead
// of TRUNCATE, so that readers with older snapshots still see these originals.
const START = `
  select set_config('lock_timeout', $1, true), set_config('timescaledb.enable_delete_after_compression', 'on', true)`;

// A correction decompresses whole batches, so smaller batches make corrections cheaper. Four batches of 240 points fit
// into a page. The statement returns a row only when the setting exists and the chunk has current points.
const SET_BATCH_ROWS = `
  select set_config(settings.name, '240', true)
  from pg_settings settings, point_chunks() chunk
  where settings.name = 'timescaledb.compression_batch_size_limit' and chunk.table_name = 'point' and chunk.name = $1`;

/**
 * Greatest allowed `toast_tuple_target`: a row of up to 8,160 bytes is stored inline. TimescaleDB itself sets 128. With
 * 128, a batch above 2 kB moves to the TOAST table and takes more space.
 */
const TOAST_TUPLE_TARGET = 8160;

const FIND_INDEX = `
  select quote_ident(relname) as name from pg_index join pg_class on pg_class.oid = indexrelid
  where indrelid = $1::regclass limit 1`;

/**
 * Changes a table of compressed data so that PostgreSQL stores the batches inline, not in the TOAST table. No reader
 * waits for this change, because the same transaction has created the table.
 */
async function inlineBatches(transaction: Transaction, columnsName: string): Promise<void> {
  const { rows } = await transaction.query<{ name: string }>(FIND_INDEX, [columnsName]);
  const index = rows[0]?.name;
  if (index === undefined) return;
  // The setting only applies to rows written later, so `cluster` writes the existing rows again.
  await transaction.query(`alter table ${columnsName} set (toast_tuple_target = ${TOAST_TUPLE_TARGET})`);
  await transaction.query(`cluster ${columnsName} using ${index}`);
}

/** Maximum duration of an attempt to lock `point_gate`. It is short, because new reads and writes wait meanwhile. */
const GATE_TIMEOUT_MS = 50;
const GATE_PAUSE_MS = 100;
const GATE_TRIES = 20;

// True when another session waits for this transaction. That session may hold `point_gate`, so waiting for
// `point_gate` could cause a deadlock.
const IS_WAITED_FOR = `
  select exists (select from pg_stat_activity
                 where datname = current_database() and pg_backend_pid() = any(pg_blocking_pids(pid))) as "isWaitedFor"`;

class ChunkInUseError extends Error {}

/**
 * Locks `point_gate`: waits for running reads and writes of points. New reads and writes then wait until this
 * transaction ends.
 * @throws {ChunkInUseError} when another session waits for this transaction.
 * @throws {DatabaseError} 55P03 when a running read or write lasts too long.
 */
async function closeGate(transaction: Transaction): Promise<void> {
  await transaction.query('savepoint gate');
  for (let attempt = 1; ; attempt += 1) {
    const { rows } = await transaction.query<{ isWaitedFor: boolean }>(IS_WAITED_FOR);
    if (rows[0]?.isWaitedFor) throw new ChunkInUseError();
    try {
      await transaction.query(`set local lock_timeout = ${GATE_TIMEOUT_MS}`);
      await transaction.query('lock table point_gate in access exclusive mode');
      return;
    } catch (error) {
      if (attempt === GATE_TRIES || !isLockFailure(error)) throw error;
      await transaction.query('rollback to savepoint gate');
      await wait(GATE_PAUSE_MS);
    }
  }
}

function isLockFailure(error: unknown): boolean {
  return error instanceof ChunkInUseError || LATER.has((error as { code?: string }).code ?? '');
}
