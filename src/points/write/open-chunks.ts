/**
 * Prepares compressed chunks (Community edition) for new rows. The writer inserts the rows into the chunk's own table,
 * not through the hypertable. Through the hypertable, TimescaleDB would search the compressed batches for the key of
 * every row: inserting 35,000 rows takes 1.8 s in a compressed chunk, but 0.4 s in an uncompressed chunk (measured
 * 2026-11). The writer needs no such search, because it first deletes the rows that it replaces.
 *
 * Reads ignore the rows in the chunk's own table until the chunk is marked as partial. Only TimescaleDB can set this
 * mark. It sets the mark when a row is inserted through the hypertable, so `insertAndDelete` inserts one row in this
 * way.
 */
import type { Queryable, Transaction } from '../../platform/database/database.ts';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import type { Chunk, PointTable } from './find-chunks.ts';
import { withSideConnection } from './prepare-chunks.ts';

/**
 * Opens every chunk of the given hypertables: rows may then be inserted into the chunk's own table. If the chunk is
 * compressed, marks the chunk as partial. The transaction's lock on `point_gate` (`begin_point_write`) keeps every
 * chunk from being compressed until the transaction ends.
 * @param stored chunks as `findChunks` returned them after `point_gate` was locked.
 * @param tables hypertables that receive rows.
 * @param isShort true when the transaction ends within milliseconds.
 * @returns `stored`, with `isOpen` set for every chunk of `tables`. For a chunk with `isOpen`, `insertTargetOf` returns
 * the chunk's own table instead of the hypertable.
 */
export async function openChunks(
  transaction: Transaction,
  stored: readonly Chunk[],
  tables: readonly PointTable[],
  isShort: boolean,
): Promise<readonly Chunk[]> {
  const isNeeded = ({ isOpen, table }: Chunk) => !isOpen && tables.includes(table);
  const closed = stored.filter((chunk) => isNeeded(chunk) && chunk.isCompressed && !chunk.isPartial);
  if (closed.length > 0) await markPartial(transaction, closed, isShort);
  return stored.map((chunk) => (isNeeded(chunk) ? { ...chunk, isOpen: true } : chunk));
}

/**
 * Marks chunks as partial. The mark is in a row of TimescaleDB's catalogue. After a transaction has set the mark, other
 * writers that set the same mark wait for the end of this transaction. A short write sets the mark in its own
 * transaction. A long write sets the mark on another connection instead, at the cost of more commits. If the other
 * connection fails, the long write sets the mark in its own transaction.
 */
async function markPartial(transaction: Transaction, chunks: readonly Chunk[], isShort: boolean): Promise<void> {
  const mark = async (client: Queryable): Promise<void> => {
    for (const chunk of chunks) await insertAndDelete(client, chunk);
  };
  if (isShort) return mark(transaction);
  await withSideConnection(transaction, mark).catch(() => mark(transaction));
}

/** `insertAndDelete` inserts a row with a random date in the first hour of the chunk. */
const DATES_MICROS = 3_600_000_000;

/**
 * Inserts a row of variable 0, which does not exist, and deletes the row. At the insert, TimescaleDB marks the chunk as
 * partial; the mark remains after the deletion.
 */
async function insertAndDelete(client: Queryable, { table, fromMicros }: Chunk): Promise<void> {
  // The date is random, so that two writers hardly ever insert the same date. With the same date, one writer would wait
  // for the other to commit.
  const values = [formatInstant(fromMicros + Math.floor(Math.random() * DATES_MICROS))];
  await client.query(
    `insert into ${table} (date, value, version_timestamp, variable_id, version_tag_id, tag_set_id)
     values ($1, 0, 'epoch', 0, 0, 0)`,
    values,
  );
  await client.query(`delete from ${table} where variable_id = 0 and date = $1`, values);
}
