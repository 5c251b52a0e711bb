/**
 * Moves the rows of the last pages of a chunk into free space of earlier pages, so that vacuum can return the last
 * pages to the file system. A revision of a whole chunk leaves free space in the earlier pages. Vacuum alone does not
 * return this space, because it truncates only free pages at the end of the table. UPDATE cannot move rows, because it
 * may write the new row to the same page. VACUUM FULL would block reads for its whole duration.
 */
import { type Connection, inTransaction } from '../../platform/database/database.ts';

/**
 * Number of rows of `point` or `point_version` that fit in a page of 8 KiB. A row takes 68 bytes: 24 for the header, 36
 * for the values, 4 for padding, and 4 for a line pointer.
 */
const ROWS_OF_PAGE = 120;
/** Pages per step. Writers of the chunk wait during a step (some tens of milliseconds); readers do not wait. */
const PAGES_OF_STEP = 100;
/** Rows are moved only when the table's pages divided by the pages that its rows need exceed about this number. */
const WORTHWHILE = 1.2;
/**
 * Maximum number of rounds. A round may move rows to other pages near the end of the table, so another round may be
 * needed.
 */
const MAX_ROUNDS = 3;
const LOCK_TIMEOUT = `set local lock_timeout = '200ms'`;
/** SQLSTATE lock_not_available: another session held a lock on the chunk for longer than `lock_timeout`. */
export const LOCK_NOT_AVAILABLE = '55P03';

const PAGES = `select (pg_relation_size($1::regclass) / current_setting('block_size')::int)::float8 as pages`;
const SIZE = (name: string) => `${PAGES}, (select count(*) from ${name})::float8 as rows`;

/** The result of `moveRows`. */
export interface Moved {
  /** Number of rows moved. */
  readonly count: number;
  /**
   * True when free pages remain although no row uses them. A transaction that began before the move still sees the old
   * rows, or another session prevents that vacuum truncates the table.
   */
  readonly isBlocked: boolean;
}

/**
 * Moves rows out of the last pages of a chunk and vacuums the chunk. Stops when the table grows, because then vacuum
 * could not free the space of the dead rows.
 * @param name quoted name of the chunk's table. The chunk must be uncompressed and already vacuumed.
 * @throws {DatabaseError} LOCK_NOT_AVAILABLE when the chunk is in use. Rows that were already moved stay moved.
 */
export async function moveRows(connection: Connection, name: string): Promise<Moved> {
  let count = 0;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { rows, pages } = await readSize(connection, name);
    const needed = Math.ceil(rows / ROWS_OF_PAGE);
    if (pages <= needed * WORTHWHILE + 1) break;
    const ofRound = await moveTail(connection, name, needed, pages);
    count += ofRound.count;
    await connection.query(`vacuum (truncate) ${name}`);
    if (ofRound.count === 0 || ofRound.isBlocked) return { count, isBlocked: true };
  }
  return { count, isBlocked: false };
}

async function readSize(connection: Connection, name: string): Promise<{ rows: number; pages: number }> {
  const { rows } = await connection.query<{ rows: number; pages: number }>(SIZE(name), [name]);
  return rows[0] ?? { rows: 0, pages: 0 };
}

/**
 * Moves the rows of the pages from `first` to `end` (exclusive). The last PAGES_OF_STEP pages come first. Stops after a
 * step that makes the table grow.
 * @throws {DatabaseError} LOCK_NOT_AVAILABLE when the chunk is in use.
 */
async function moveTail(connection: Connection, name: string, first: number, end: number): Promise<Moved> {
  let count = 0;
  for (let to = end; to > first; to -= PAGES_OF_STEP) {
    const from = Math.max(first, to - PAGES_OF_STEP);
    const step = await moveStep(connection, name, from, to);
    count += step.count;
    if (step.pages > end) return { count, isBlocked: true };
  }
  return { count, isBlocked: false };
}

/** @returns the number of rows moved, and the pages of the table after the step. */
function moveStep(connection: Connection, name: string, from: number, to: number) {
  return inTransaction(connection, async (transaction) => {
    await transaction.query(LOCK_TIMEOUT);
    // Locks out writers. The move deletes a row and inserts a copy elsewhere, so a writer that has already found the
    // row would not find the copy.
    await transaction.query(`lock table ${name} in share row exclusive mode`);
    const { rowCount } = await transaction.query(
      `with moved as (delete from ${name} where ctid >= '(${from},0)'::tid and ctid < '(${to},0)'::tid returning *)
       insert into ${name} select * from moved`,
    );
    const { rows } = await transaction.query<{ pages: number }>(PAGES, [name]);
    return { count: rowCount ?? 0, pages: rows[0]?.pages ?? 0 };
  });
}
