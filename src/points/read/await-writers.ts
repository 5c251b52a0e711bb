/**
 * Makes as-of reads repeatable (R-F1, R-F5). A write gets its VersionTimestamp some time before it becomes visible. A
 * reader of the state at T therefore first waits for open writes whose VersionTimestamp may be at or before T. Writers
 * hold a shared advisory lock (sql/functions/begin_point_write.sql) and never wait for readers.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Queryable } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Micros, PointSelection } from '../point.ts';

const MICROS_PER_SECOND = 1_000_000;
const WAIT_MS = 30_000;
// `awaitWritersOf` does not wait for writes when the instant is further in the future than this margin. The margin
// covers differences between clocks.
const FUTURE_MARGIN_MICROS = 60_000_000;
const FIRST_PAUSE_MS = 2;
const LAST_PAUSE_MS = 50;

const WRITERS = `
  select virtualtransaction as writer from pg_locks
  where locktype = 'advisory' and mode = 'ShareLock' and objsubid = 1 and classid = $1::int8::oid
    and database = (select oid from pg_database where datname = current_database())`;
// `objid` is the low half of the lock key: the Unix second in which the write began.
const WRITERS_UNTIL = `${WRITERS} and objid::int8 <= $2::int8`;
const WRITERS_AMONG = `${WRITERS} and virtualtransaction = any($2::text[])`;

/**
 * Waits for the writes that can still change the points of an as-of selection (R-F5).
 * @param queryable any connection except the one that holds the reader's snapshot.
 * @throws the same errors as `awaitWriters`.
 */
export async function awaitWritersOf(
  queryable: Queryable,
  { version: { asOfMicros }, variableIds: [variableId = 0] }: PointSelection,
  signal?: AbortSignal,
): Promise<void> {
  if (asOfMicros === undefined || asOfMicros > Date.now() * 1000 + FUTURE_MARGIN_MICROS) return;
  const { rows } = await queryable.query<{ accountId: number }>(
    'select account_id as "accountId" from variable where id = $1',
    [variableId],
  );
  const accountId = rows[0]?.accountId;
  if (accountId !== undefined) await awaitWriters(queryable, accountId, asOfMicros, signal);
}

/**
 * Waits for the end of every write of the account that began before or during the clock second that contains
 * `asOfMicros` (R-F5).
 * Ignores writes that begin during this call, because their VersionTimestamps are later than the start of the call.
 * @param queryable any connection, but not inside the reader's transaction. The reader must open its snapshot after
 *   this call, because an earlier snapshot does not see the writes.
 * @throws {DomainError} dependency_unavailable when one of the writes stays open for longer than `waitMs`.
 * @throws the reason of `signal` when the call must wait and `signal` is aborted.
 */
export async function awaitWriters(
  queryable: Queryable,
  accountId: number,
  asOfMicros: Micros,
  signal?: AbortSignal,
  waitMs = WAIT_MS,
): Promise<void> {
  const deadline = performance.now() + waitMs;
  let writers = await findWriters(queryable, WRITERS_UNTIL, accountId, Math.floor(asOfMicros / MICROS_PER_SECOND));
  for (let pauseMs = FIRST_PAUSE_MS; writers.length > 0; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
    if (performance.now() > deadline) {
      throw new DomainError(
        'dependency_unavailable',
        'an unfinished write may still change the state at the requested instant; try again',
      );
    }
    await pause(pauseMs);
    signal?.throwIfAborted();
    writers = await findWriters(queryable, WRITERS_AMONG, accountId, writers);
  }
}

async function findWriters(
  queryable: Queryable,
  text: string,
  accountId: number,
  among: number | readonly string[],
): Promise<readonly string[]> {
  const { rows } = await queryable.query<{ writer: string }>(text, [accountId, among]);
  return rows.map(({ writer }) => writer);
}
