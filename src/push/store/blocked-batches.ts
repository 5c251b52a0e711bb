/**
 * Group commit (accept/group-commit.ts) puts small pushes into a shared batch. If the batch must wait for an earlier
 * batch, this module takes out the pushes that need not wait. These pushes share no variable with an earlier waiting
 * push, so the order within each variable is kept (R-D6).
 */
import type { Transaction } from '../../platform/database/database.ts';
import { readBytea } from '../../platform/database/read-bytea.ts';
import { TUPLE_BYTES, variableIdsOf } from '../../points/copy-codec.ts';
import { orderedStampValues, STAMP_COLUMNS, STAMPS } from '../../points/origins/record-origin.ts';
import { variableSet } from '../../points/variable-set-codec.ts';
import type { WriteResult } from '../../points/write/write-points.ts';
import { SMALL_BATCH_ROWS } from './waiting-batches.ts';
import type { BatchOperations } from './warn-of-refused.ts';

/** Maximum number of batches examined, oldest first. The time of FIND_BLOCKED grows with the square of this number. */
const MAX_EXAMINED = 200;
/** Maximum number of batches that one search opens to find a push that need not wait. */
const MAX_TRIED = 5;

// `blocked` contains the variables of all earlier batches. In a batch from before migration 0042, `variables` is null:
// the batch may have readings of any variable. Therefore, that batch and all later batches are skipped.
const FIND_BLOCKED = `
  with examined as (
    select id, place, variables, operation_ids, reading_counts
    from push_batch where account_id = $1 and set_aside_date is null order by place, id limit ${MAX_EXAMINED}
  ), waiting as (
    select *, range_agg(variables) over (order by place, id rows between unbounded preceding and 1 preceding) as blocked,
           bool_or(variables is null) over (order by place, id rows between unbounded preceding and 1 preceding) as "hasUnknown",
           (select sum(count) from unnest(reading_counts) count) as readings
    from examined
  )
  select id, array(select variable_id from (select generate_series(lower(range), upper(range) - 1) as variable_id
                                            from unnest(variables * blocked) range) shared) as "blockedIds"
  from waiting
  where variables && blocked and not variables <@ blocked and not "hasUnknown" and readings <= ${SMALL_BATCH_ROWS}
    and (cardinality(operation_ids) > 1
         or exists (select from push_operation where push_operation.id = operation_ids[1] and cardinality(member_readings) > 1))
  order by place, id limit ${MAX_TRIED}`;

const LOCK = `select from push_batch where id = $1 and set_aside_date is null for update skip locked`;

// Splits each shared operation of the batch into one operation per push, because the pushes no longer end together.
const SPLIT = `select part_push_batch($1)`;

const FIND_OPERATIONS = `
  select operation_ids as "operationIds", reading_counts as "readingCounts" from push_batch where id = $1`;

const SHORTEN = `
  update push_batch set operation_ids = $2::int8[], reading_counts = $3::int4[], variables = $4::int4multirange, rows = $5
  where id = $1`;

interface Blocked {
  readonly id: string;
  readonly blockedIds: readonly number[];
}

/** The pushes that a transaction has taken out of a batch. The same transaction must write these pushes. */
export interface TakenPart extends BatchOperations {
  readonly tuples: Buffer;
  /**
   * The operations of the pushes in this part, each with the ids of its variables. The transaction must complete these
   * operations after it has written the pushes.
   */
  readonly ended: readonly { readonly id: number; readonly variableIds: ReadonlySet<number> }[];
}

const RECORD = `
  insert into write_origin (${STAMP_COLUMNS}, account_id, operation_ids, reading_counts)
  select ${STAMP_COLUMNS}, $4, $5::int8[], $6::int4[] from ${STAMPS}`;

/**
 * Records which operations the points of a `TakenPart` came from. Call `recordPart` in the transaction that has written
 * the points.
 */
export async function recordPart(
  transaction: Transaction,
  accountId: number,
  { stamps }: Pick<WriteResult, 'stamps'>,
  { tuples, operationIds, readingCounts }: TakenPart,
): Promise<void> {
  const values = [...orderedStampValues(stamps, [tuples]), accountId, operationIds, readingCounts];
  await transaction.query(RECORD, values);
}

/**
 * Takes, from one waiting batch, those pushes that need not wait for an earlier push. Skips batches that another
 * transaction has locked.
 * @returns undefined when no such push is found.
 */
export async function takeFreePart(transaction: Transaction, accountId: number): Promise<TakenPart | undefined> {
  const { rows } = await transaction.query<Blocked>(FIND_BLOCKED, [accountId]);
  for (const found of rows) {
    const taken = await takeFrom(transaction, found);
    if (taken) return taken;
  }
  return undefined;
}

async function takeFrom(transaction: Transaction, found: Blocked): Promise<TakenPart | undefined> {
  if ((await transaction.query(LOCK, [found.id])).rowCount === 0) return undefined;
  await transaction.query(SPLIT, [found.id]);
  const { rows } = await transaction.query<BatchOperations>(FIND_OPERATIONS, [found.id]);
  const contents = rows[0] ?? { operationIds: [], readingCounts: [] };
  const [tuples = Buffer.alloc(0)] = await readBytea(
    transaction,
    `select rows from push_batch where id = ${Number(found.id)}`,
  );
  const { free, waiting } = divide(cutIntoPushes(tuples, contents), new Set(found.blockedIds));
  if (free.length === 0) return undefined;
  await shorten(transaction, found.id, waiting);
  return {
    tuples: Buffer.concat(free.map((push) => push.tuples)),
    operationIds: free.map(({ operationId }) => operationId),
    readingCounts: free.map(countReadings),
    ended: free.map(({ operationId, variableIds }) => ({ id: Number(operationId), variableIds })),
  };
}

interface Push {
  readonly operationId: string;
  readonly tuples: Buffer;
  readonly variableIds: ReadonlySet<number>;
}

function cutIntoPushes(tuples: Buffer, { operationIds, readingCounts }: BatchOperations): readonly Push[] {
  let start = 0;
  return operationIds.map((operationId, index) => {
    const own = tuples.subarray(start, start + (readingCounts[index] ?? 0) * TUPLE_BYTES);
    start += own.length;
    return { operationId, tuples: own, variableIds: variableIdsOf(own) };
  });
}

/**
 * Divides pushes into free and waiting pushes. A push must wait when one of its variables is blocked, or is in an
 * earlier push that must wait.
 */
function divide(pushes: readonly Push[], blocked: Set<number>) {
  const free: Push[] = [];
  const waiting: Push[] = [];
  for (const push of pushes) {
    const isBlocked = [...push.variableIds].some((id) => blocked.has(id));
    if (isBlocked) for (const id of push.variableIds) blocked.add(id);
    (isBlocked ? waiting : free).push(push);
  }
  return { free, waiting };
}

async function shorten(transaction: Transaction, id: string, waiting: readonly Push[]): Promise<void> {
  const variables = variableSet(waiting.flatMap(({ variableIds }) => [...variableIds]));
  const ids = waiting.map(({ operationId }) => operationId);
  const rows = Buffer.concat(waiting.map(({ tuples }) => tuples));
  await transaction.query(SHORTEN, [id, ids, waiting.map(countReadings), variables, rows]);
}

function countReadings({ tuples }: Push): number {
  return tuples.length / TUPLE_BYTES;
}
