/**
 * Accepted batches → points, exactly once: the points, the end of the batch and the event that announces them are one
 * transaction. Whoever runs it, how often and at the same time does not matter: an account is drained by one
 * transaction at a time, in the order its batches were accepted (R-D6).
 */
import { type Database, type Transaction, withTransaction } from '../platform/database/database.ts';
import { readBytea } from '../platform/database/read-bytea.ts';
import { announcePoints } from '../points/announce-points.ts';
import { TUPLE_BYTES } from '../points/copy-codec.ts';
import { writePoints } from '../points/write/write-points.ts';

// First key of the advisory locks that keep an account's batches in order.
const LOCK_CLASS = 0x696e;
const WRITE_TIMEOUT_MS = 600_000;
const MARK_AFTER_MS = 200;

const MAX_BATCHES = 1000;

const TAKE_BATCHES = `
  select id, "operationIds", found, count::int as readings, "waitedSec", "requestId"
  from (
    select id, place, operation_ids as "operationIds", length(rows) / ${TUPLE_BYTES} as count,
           sum(length(rows) / ${TUPLE_BYTES}) over (order by place, id) as total, count(*) over () as found
    from (select id, operation_ids, place, rows from push_batch
          where account_id = $1 and set_aside_date is null order by place, id limit ${MAX_BATCHES}) waiting
  ) counted
  left join lateral (
    select extract(epoch from clock_timestamp() - accepted_date)::float8 as "waitedSec",
           coalesce(member_request_ids[1], request_id) as "requestId"
    from push_operation where total = count and push_operation.id = "operationIds"[1]
  ) first on true
  where total <= $2 or total = count
  order by place, id`;

export interface Portion {
  /** Of the push accepted first (R-A10); undefined: nothing waited. */
  readonly requestId: string | undefined;
  readonly readings: number;
  /** Seconds the oldest of them had waited when the transaction began. */
  readonly waitedSec: number;
  /** How many batches were written; 0 means none waits. */
  readonly batches: number;
  /** Whether others waited that did not fit in. Of what has come since, the ingester is told anew. */
  readonly isMoreWaiting: boolean;
}

const NOTHING_WAITS: Portion = {
  ...{ batches: 0, readings: 0, waitedSec: 0, isMoreWaiting: false },
  requestId: undefined,
};

/** As `ingestPortion`. @returns how many batches were written. */
export async function ingestAccount(database: Database, accountId: number, maxRows: number): Promise<number> {
  return (await ingestPortion(database, accountId, maxRows)).batches;
}

/** Whoever writes the batches of an account, or decides about one, does so alone until the end of the transaction. */
export async function lockIngest(transaction: Transaction, accountId: number): Promise<void> {
  await transaction.query('select pg_advisory_xact_lock($1, $2)', [LOCK_CLASS, accountId]);
}

/**
 * Writes the waiting batches of an account, up to `maxRows` readings but at least one batch.
 * @param onTaken told which they are before they are written: what fails then, fails with them.
 */
export async function ingestPortion(
  database: Database,
  accountId: number,
  maxRows: number,
  onTaken: (batchIds: readonly number[]) => void = () => {},
): Promise<Portion> {
  return withTransaction(
    database,
    async (transaction) => {
      await lockIngest(transaction, accountId);
      const { rows: batches } = await transaction.query<WaitingBatch>(TAKE_BATCHES, [accountId, maxRows]);
      const [first] = batches;
      if (!first) return NOTHING_WAITS;
      const { found, waitedSec } = first;
      const requestId = first.requestId ?? undefined;
      onTaken(batches.map(({ id }) => id));
      const operationIds = batches.flatMap((batch) => batch.operationIds.map(Number));
      const marking = markWhenSlow(database, operationIds);
      try {
        await writeBatches(transaction, accountId, batches, requestId);
      } finally {
        clearTimeout(marking);
      }
      await transaction.query(`select end_push_operations($1::int8[], 'Completed', null)`, [operationIds]);
      const readings = batches.reduce((sum, batch) => sum + batch.readings, 0);
      const isMoreWaiting = found > batches.length || found === MAX_BATCHES;
      return { batches: batches.length, readings, waitedSec: waitedSec ?? 0, requestId, isMoreWaiting };
    },
    { statementTimeoutMs: WRITE_TIMEOUT_MS },
  );
}

interface WaitingBatch {
  readonly id: number;
  readonly readings: number;
  /** Of the first one. */
  readonly waitedSec: number | null;
  readonly requestId: string | null;
  /** As the driver gives an array of 64-bit integers. */
  readonly operationIds: readonly string[];
  /** Batches that were looked at. */
  readonly found: number;
}

async function writeBatches(
  transaction: Transaction,
  accountId: number,
  batches: readonly WaitingBatch[],
  requestId: string | undefined,
): Promise<void> {
  const ids = batches.map(({ id }) => id);
  const rows = await readBytea(
    transaction,
    `select rows from push_batch where id = any('{${ids.join()}}'::int8[]) order by place, id`,
  );
  const { ranges } = await writePoints(transaction, rows);
  await announcePoints(transaction, accountId, ranges, requestId === undefined ? {} : { requestId });
  await transaction.query('delete from push_batch where id = any($1::int8[])', [ids]);
}

/** What takes a while can be seen to be under way (R-D7); what does not would cost more to mark than to write. */
function markWhenSlow(database: Database, operationIds: readonly number[]): NodeJS.Timeout {
  const mark = () =>
    database.query(
      `update push_operation set state = 'Processing', started_date = clock_timestamp()
       where id = any($1::int8[]) and state = 'Queued'`,
      [operationIds],
    );
  // A mark that fails is missed by nobody but an onlooker.
  return setTimeout(() => void mark().catch(() => {}), MARK_AFTER_MS);
}

/** Accounts whose batches wait: their wake-up may have got lost. */
export async function findWaitingAccounts(database: Database): Promise<readonly number[]> {
  const { rows } = await database.query<{ accountId: number }>(
    'select distinct account_id as "accountId" from push_batch where set_aside_date is null',
  );
  return rows.map(({ accountId }) => accountId);
}
