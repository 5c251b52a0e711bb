/**
 * Takes pushes out of a small batch that waits for an earlier batch. The small pushes of a group share a batch, so
 * otherwise a push to one variable would wait for a rewrite of another variable. Takes only whole pushes. The remaining
 * pushes keep their position in the queue, and a push is taken only when no earlier push with one of its variables
 * waits, so the order within each variable is kept (R-D6).
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
/** Maximum candidate batches tried until one has a push that need not wait. */
const MAX_TRIED = 5;

// `blocked` contains the variables of all earlier batches. Batches that were accepted before migration 0042 have no
// `variables`.
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
  select id, operation_ids as "operationIds", reading_counts as "readingCounts",
         array(select variable_id from (select generate_series(lower(range), upper(range) - 1) as variable_id
                                        from unnest(variables * blocked) range) shared) as "blockedIds"
  from waiting
  where variables && blocked and not variables <@ blocked and not "hasUnknown" and readings <= ${SMALL_BATCH_ROWS}
    and (cardinality(operation_ids) > 1
         or exists (select from push_operation where push_operation.id = operation_ids[1] and cardinality(member_readings) > 1))
  order by place, id limit ${MAX_TRIED}`;

const LOCK = `
  select operation_ids as "operationIds", reading_counts as "readingCounts" from push_batch
  where id = $1 and set_aside_date is null for update skip locked`;

const FIND_MEMBERS = `
  select id, member_readings as readings from push_operation where id = any($1::int8[])`;

const SHORTEN = `
  update push_batch set operation_ids = $2::int8[], reading_counts = $3::int4[], variables = $4::int4multirange, rows = $5
  where id = $1`;

interface Blocked {
  readonly id: string;
  readonly blockedIds: readonly number[];
}

/**
 * Pushes that a transaction has taken from a batch and must itself write, with their operations and counts of readings.
 */
export interface TakenPart extends BatchOperations {
  readonly tuples: Buffer;
  /** Operations without remaining readings in the batch, and the variables of their taken pushes. */
  readonly ended: readonly { readonly id: number; readonly variableIds: ReadonlySet<number> }[];
}

const RECORD = `
  insert into write_origin (${STAMP_COLUMNS}, account_id, operation_ids, reading_counts)
  select ${STAMP_COLUMNS}, $4, $5::int8[], $6::int4[] from ${STAMPS}`;

/** Records the operations of the taken pushes as the origin of the points that the same transaction has written. */
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
 * Takes, from one waiting batch, those pushes that need not wait for an earlier push.
 * @returns undefined when no such push is found; batches that another transaction has locked are skipped.
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
  const { rows } = await transaction.query<BatchOperations>(LOCK, [found.id]);
  const [contents] = rows;
  if (!contents) return undefined;
  const [tuples = Buffer.alloc(0)] = await readBytea(
    transaction,
    `select rows from push_batch where id = ${Number(found.id)}`,
  );
  const pushes = cutIntoPushes(tuples, contents, await findMembers(transaction, contents.operationIds));
  const parts = divide(pushes, new Set(found.blockedIds));
  if (parts.free.length === 0) return undefined;
  await shorten(transaction, found.id, contents, parts.waiting);
  const left = new Set(parts.waiting.map(({ operation }) => operation));
  const taken = countReadings(parts.free);
  return {
    tuples: Buffer.concat(parts.free.map((push) => push.tuples)),
    operationIds: Array.from(taken.keys(), (operation) => contents.operationIds[operation] ?? ''),
    readingCounts: [...taken.values()],
    ended: contents.operationIds.flatMap((id, operation) => {
      if (left.has(operation)) return [];
      const own = parts.free.filter((push) => push.operation === operation);
      return [{ id: Number(id), variableIds: new Set(own.flatMap(({ variableIds }) => [...variableIds])) }];
    }),
  };
}

interface Push {
  /** Index of the push's operation in the batch. */
  readonly operation: number;
  readonly tuples: Buffer;
  readonly variableIds: ReadonlySet<number>;
}

async function findMembers(
  transaction: Transaction,
  operationIds: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const { rows } = await transaction.query<{ id: number; readings: number[] | null }>(FIND_MEMBERS, [operationIds]);
  return new Map(rows.flatMap(({ id, readings }) => (readings ? [[String(id), readings] as const] : [])));
}

/**
 * @param members numbers of readings of the pushes that share an operation, by the id of the operation; an
 * operation without an entry is one push.
 */
function cutIntoPushes(
  tuples: Buffer,
  { operationIds, readingCounts }: BatchOperations,
  members: ReadonlyMap<string, readonly number[]>,
): readonly Push[] {
  let start = 0;
  return operationIds.flatMap((id, operation) => {
    const count = readingCounts[operation] ?? 0;
    const ofMembers = members.get(String(id)) ?? [];
    // After pushes were taken from an operation, its remaining readings count as one push.
    const isWhole = ofMembers.reduce((sum, readings) => sum + readings, 0) === count;
    return (isWhole ? ofMembers : [count]).map((readings) => {
      const own = tuples.subarray(start, start + readings * TUPLE_BYTES);
      start += own.length;
      return { operation, tuples: own, variableIds: variableIdsOf(own) };
    });
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

async function shorten(
  transaction: Transaction,
  id: string,
  { operationIds }: BatchOperations,
  waiting: readonly Push[],
): Promise<void> {
  const counts = countReadings(waiting);
  const variables = variableSet(waiting.flatMap(({ variableIds }) => [...variableIds]));
  const ids = [...counts.keys()].map((operation) => operationIds[operation]);
  const rows = Buffer.concat(waiting.map(({ tuples }) => tuples));
  await transaction.query(SHORTEN, [id, ids, [...counts.values()], variables, rows]);
}

/** @returns the number of readings of each operation, by the index of the operation. */
function countReadings(pushes: readonly Push[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { operation, tuples } of pushes) {
    counts.set(operation, (counts.get(operation) ?? 0) + tuples.length / TUPLE_BYTES);
  }
  return counts;
}
