/**
 * Rows of a statement by COPY TO … BINARY, a portion at a time. Nothing is read ahead but what the socket and one block
 * hold: a slow reader holds the database back. Measured on 1 million points: 2.2–2.6 million rows/s as they arrive,
 * 0.6–0.7 by a cursor and text; the server itself writes 3.4 million/s to nowhere.
 */
import { destroyConnection } from '../../platform/database/connection-watch.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { CopyOut } from './copy-out.ts';
import type { RowBlock, RowLayout } from './row-codec.ts';

/** Rows a block holds at most. */
export const BLOCK_ROWS = 10_000;

const HEADER_BYTES = 19;
const TRAILER_BYTES = 2;

/**
 * Non-empty blocks of whole rows, each to be decoded before the next is asked for. While this runs the connection can do
 * nothing else; when it is left before its end, the connection is broken, which ends the statement.
 * @param statement has no null in its result, and columns as `layout` says.
 */
export async function* copyRows(
  transaction: Transaction,
  statement: string,
  layout: RowLayout,
): AsyncGenerator<RowBlock> {
  const block = Buffer.allocUnsafe(BLOCK_ROWS * layout.rowBytes);
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  const toBlock = (size: number): RowBlock => ({ view, rowCount: size / layout.rowBytes, layout });
  let skip = HEADER_BYTES;
  let size = 0;
  let hasEnded = false;
  try {
    for await (const piece of transaction.query(new CopyOut(`copy (${statement}) to stdout (format binary)`))) {
      let at = Math.min(skip, piece.length);
      skip -= at;
      while (at < piece.length) {
        const taken = piece.copy(block, size, at);
        at += taken;
        size += taken;
        if (size < block.length) continue;
        yield toBlock(size);
        size = 0;
      }
    }
    hasEnded = true;
  } catch (error) {
    hasEnded = true;
    throw error;
  } finally {
    // Whoever leaves does not come here by an error: those are the statement's own, and it has ended.
    if (!hasEnded) destroyConnection(transaction);
  }
  size -= TRAILER_BYTES;
  if (size % layout.rowBytes !== 0) throw new Error(`rows of ${layout.rowBytes} bytes came as ${size} bytes`);
  if (size > 0) yield toBlock(size);
}
