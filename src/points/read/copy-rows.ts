/**
 * Streams the rows of a statement by COPY TO … BINARY in blocks. At most one block and a full socket buffer are read
 * ahead, so a slow consumer puts back-pressure on the database. Measured rates: src/points/MEASUREMENTS.md.
 */
import { destroyConnection } from '../../platform/database/connection-watch.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { CopyOut, HEAD_BYTES } from './copy-out.ts';
import type { RowBlock, RowLayout } from './row-codec.ts';

/** Maximum rows of a block. */
export const BLOCK_ROWS = 10_000;

/** Rows of the first block; small, so that a short answer, such as a last point, allocates little memory. */
const FIRST_BLOCK_ROWS = 250;

/**
 * Length in bytes of the header of COPY BINARY: signature, flags and length of the extension. The header stands between
 * the head of the first message (HEAD_BYTES) and the first row. `copyRows` drops this number of bytes, so that
 * HEAD_BYTES bytes stand before the first row, as before every other row. Their values are not read.
 */
const SIGNATURE_BYTES = 19;
/** Length in bytes of the last message: a head, and a column count of two bytes with the value -1. */
const TRAILER_BYTES = HEAD_BYTES + 2;

/**
 * Yields non-empty blocks of whole rows. Decode a block before the next is requested, because blocks share memory. The
 * connection is busy during the iteration. Ending the iteration early breaks the connection and ends the statement.
 * @param statement a query. Its result must have the columns of `layout` and no nulls.
 * @throws the error of the statement.
 * @throws {Error} when the stream ends within a row.
 */
export async function* copyRows(
  transaction: Transaction,
  statement: string,
  layout: RowLayout,
): AsyncGenerator<RowBlock> {
  let block: Buffer = Buffer.allocUnsafe(FIRST_BLOCK_ROWS * layout.rowBytes);
  let skip = SIGNATURE_BYTES;
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
        yield toBlock(block, size, layout);
        if (block.length < BLOCK_ROWS * layout.rowBytes) block = takeBlock(layout);
        size = 0;
      }
    }
    hasEnded = true;
    size -= TRAILER_BYTES;
    if (size % layout.rowBytes !== 0)
      throw new Error(
        `the last block of the stream must consist of whole rows of ${layout.rowBytes} bytes, got ${size} bytes`,
      );
    if (size > 0) yield toBlock(block, size, layout);
  } catch (error) {
    hasEnded = true;
    throw error;
  } finally {
    // When the consumer stops early, the statement may still be running. Breaking the connection ends the statement.
    if (!hasEnded) destroyConnection(transaction);
    giveBlock(block, layout);
  }
}

/** Blocks whose memory the next read can reuse. Few blocks are kept, because most reads run one after the other. */
const spareBlocks: Buffer[] = [];
const MAX_SPARE_BLOCKS = 4;

/** @returns memory for one block: a spare block of the same size, or new memory. Give it back with `giveBlock`. */
function takeBlock({ rowBytes }: RowLayout): Buffer {
  const index = spareBlocks.findIndex(({ length }) => length === BLOCK_ROWS * rowBytes);
  const [spare] = index < 0 ? [] : spareBlocks.splice(index, 1);
  return spare ?? Buffer.allocUnsafeSlow(BLOCK_ROWS * rowBytes);
}

function giveBlock(block: Buffer, { rowBytes }: RowLayout): void {
  if (block.length === BLOCK_ROWS * rowBytes && spareBlocks.length < MAX_SPARE_BLOCKS) spareBlocks.push(block);
}

function toBlock(block: Buffer, size: number, layout: RowLayout): RowBlock {
  const view = new DataView(block.buffer, block.byteOffset, size);
  return { view, rowCount: size / layout.rowBytes, layout };
}
