/** Rows of a query in portions, through a cursor: memory does not grow with the answer, and an early end stops the query. */
import type { Transaction } from '../platform/database.ts';

/** Rows a portion holds at most. */
export const CHUNK_ROWS = 10_000;

const CURSOR = 'point_cursor';
const FETCH = `fetch ${CHUNK_ROWS} from ${CURSOR}`;

/** Non-empty portions of rows, each an array of columns. One query at a time per transaction. */
export async function* fetchRows<Row extends unknown[]>(
  transaction: Transaction,
  statement: string,
): AsyncGenerator<readonly Row[]> {
  await transaction.query(`declare ${CURSOR} no scroll cursor for ${statement}`);
  try {
    for (;;) {
      const { rows } = await transaction.query<Row>({ text: FETCH, rowMode: 'array' });
      if (rows.length > 0) yield rows;
      if (rows.length < CHUNK_ROWS) return;
    }
  } finally {
    // After an error the transaction is over and the cursor with it.
    await transaction.query(`close ${CURSOR}`).catch(() => {});
  }
}
