/**
 * Queries the queue of accepted batches. The queries return how many bytes of readings wait in the queue, the values of
 * the gauges, and whether a push must join the queue instead of being written directly. `waiting-batches.ts` locks,
 * completes and deletes batches.
 */
import type { Queryable } from '../../platform/database/database.ts';
import type { BacklogQuery } from '../../platform/metrics/backlog.ts';
import { variableSet } from '../../points/variable-set-codec.ts';
import { plainArray } from './array-literal-codec.ts';
import { lockTurnSql, turnKey } from './turn-lock.ts';

const QUEUED_BYTES = `
  select account_id as "accountId", sum(length(rows))::int8 as bytes from push_batch
  where set_aside_date is null group by account_id`;

/** @returns for each account, the size in bytes of its readings that wait to be written (R-D10). */
export async function findQueuedBytes(queryable: Queryable): Promise<ReadonlyMap<number, number>> {
  const { rows } = await queryable.query<{ accountId: number; bytes: number }>(QUEUED_BYTES);
  return new Map(rows.map(({ accountId, bytes }) => [accountId, bytes]));
}

// A batch without `variables`, accepted before migration 0042, may have readings of any variable.
const hasWaiting = (variables: string) => `
  exists (select from push_batch
          where account_id = $1 and set_aside_date is null and (variables is null or variables && ${variables}::int4multirange))`;

// A direct write may add only dates after `max_date`, so a push with an earlier or equal date must be queued.
const MUST_QUEUE = `
  select ${hasWaiting('$4')}
      or exists (select from unnest($2::int[], $3::int8[]) first (variable_id, micros)
                 join series using (variable_id)
                 where max_date >= to_timestamp(0) + micros * interval '1 microsecond') as "mustQueue"`;

/**
 * @param firstDates the first date of the push for each of its variables, in microseconds.
 * @returns true when the push must be queued: when a waiting batch may contain readings of one of the push's variables
 *   (R-D6), or when a date of the push is not later than the latest stored date of its variable.
 */
export async function mustQueue(
  queryable: Queryable,
  accountId: number,
  firstDates: ReadonlyMap<number, number>,
): Promise<boolean> {
  const { rows } = await queryable.query<{ mustQueue: boolean }>(MUST_QUEUE, [
    accountId,
    plainArray([...firstDates.keys()]),
    plainArray([...firstDates.values()]),
    variableSet(firstDates.keys()),
  ]);
  return rows[0]?.mustQueue !== false;
}

const TAKE_TURN = `select ${lockTurnSql('$1')}`;
const HAS_WAITING = `select ${hasWaiting('$2')} as "hasWaiting"`;

/**
 * Acquires the lock of a user (turn-lock.ts) for the rest of the transaction. Until the transaction ends, no further
 * push of the user can be queued (R-D6).
 * @returns true when a waiting batch may have readings of one of the variables.
 */
export async function takeTurn(
  queryable: Queryable,
  accountId: number,
  userId: string,
  variableIds: Iterable<number>,
): Promise<boolean> {
  await queryable.query(TAKE_TURN, [turnKey(accountId, userId)]);
  const { rows } = await queryable.query<{ hasWaiting: boolean }>(HAS_WAITING, [accountId, variableSet(variableIds)]);
  return rows[0]?.hasWaiting !== false;
}

/**
 * Query for the gauges of accepted batches that are not written yet, and of dead letters. A dead letter is a batch that
 * failed too often and waits for an operator.
 */
export const PUSH_BACKLOG: BacklogQuery = {
  sql: `
    select count(*) filter (where set_aside_date is null)::int as batches,
           count(*) filter (where set_aside_date is not null)::int as "setAside",
           coalesce(sum(length(rows)) filter (where set_aside_date is null), 0)::float8 as bytes,
           coalesce((
             select extract(epoch from now() - accepted_date) from push_operation
             where id = (select operation_ids[1] from push_batch where set_aside_date is null order by id limit 1)
           ), 0)::float8 as age
    from push_batch`,
  gauges: [
    { column: 'batches', name: 'tidemark_push_waiting_batches', help: 'Accepted batches that wait to be written.' },
    { column: 'bytes', name: 'tidemark_push_waiting_bytes', help: 'Bytes of readings in waiting batches.' },
    {
      column: 'age',
      name: 'tidemark_push_waiting_age_seconds',
      help: 'Age of the oldest waiting batch in seconds; 0 when no batch waits.',
    },
    {
      column: 'setAside',
      name: 'tidemark_push_set_aside_batches',
      help: 'Batches that could not be written and wait for a replay or an operator.',
    },
  ],
};
