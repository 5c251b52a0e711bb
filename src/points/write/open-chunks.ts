/**
 * Prepares compressed chunks (Community edition) so that a writer can insert rows directly into the chunk's own table.
 * An insert through the hypertable is more than four times slower (measured 2026-11), because TimescaleDB searches the
 * compressed batches for rows with the same key. A direct insert skips this search, so the writer must first delete the
 * rows that it replaces.
 *
 * Reads ignore the rows in the chunk's own table until TimescaleDB has marked the chunk as partial. An insert through
 * the hypertable sets this mark. So the preparation inserts a row through the hypertable, and deletes the row.
 */
import type { Queryable, Transaction } from '../../platform/database/database.ts';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import type { Chunk, PointTable } from './find-chunks.ts';
import { withSideConnection } from './prepare-chunks.ts';

/**
 * Opens every chunk of `tables`: rows may then be inserted into the chunk's own table. The transaction must hold the
 * lock on `point_gate` (`begin_point_write`), because the lock prevents compression.
 * @param stored chunks that `findChunks` returned after `point_gate` was locked.
 * @param tables hypertables that receive rows.
 * @param isShort true when the transaction ends within milliseconds.
 * @returns `stored`, with `isOpen` set for every chunk of `tables`.
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
 * Marks chunks as partial. Other writers that set the same mark wait until this transaction ends. To keep the wait
 * short, a long write sets the mark on another connection, where each statement commits at once. If that fails, the
 * write sets the mark in its own transaction.
 */
async function markPartial(transaction: Transaction, chunks: readonly Chunk[], isShort: boolean): Promise<void> {
  const mark = async (client: Queryable): Promise<void> => {
    for (const chunk of chunks) await insertAndDelete(client, chunk);
  };
  if (isShort) return mark(transaction);
  await withSideConnection(transaction, mark).catch(() => mark(transaction));
}

/** Length of the span, from the start of a chunk, in which `insertAndDelete` chooses a random date: one hour. */
const DATES_MICROS = 3_600_000_000;

/**
 * Inserts a row of variable 0, which does not exist, and deletes the row. At the insert, TimescaleDB marks the chunk as
 * partial; the mark remains after the deletion.
 */
async function insertAndDelete(client: Queryable, { table, fromMicros }: Chunk): Promise<void> {
  // The date is random, because a writer would wait for another writer that inserts the same date.
  const values = [formatInstant(fromMicros + Math.floor(Math.random() * DATES_MICROS))];
  await client.query(
    `insert into ${table} (date, value, version_timestamp, variable_id, version_tag_id, tag_set_id)
     values ($1, 0, 'epoch', 0, 0, 0)`,
    values,
  );
  await client.query(`delete from ${table} where variable_id = 0 and date = $1`, values);
}
