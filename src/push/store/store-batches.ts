/**
 * Stores push operations and the batches of their readings in one statement: one round trip and one commit for any
 * number of pushes. The pushes are accepted when the statement is committed (R-D1).
 */
import type { Queryable } from '../../platform/database/database.ts';
import { eventLiteral } from '../../platform/database/outbox.ts';
import { TUPLE_BYTES } from '../../points/copy-codec.ts';
import { variableSet } from '../../points/variable-set-codec.ts';
import { plainArray, sparseTextArray, textArray } from './array-literal-codec.ts';
import type { NewBatch, NewOperation, StoreOutcome } from './new-operation.ts';
import { lockTurnSql, turnKeySql } from './turn-lock.ts';

declare module '../../platform/database/outbox.ts' {
  interface OutboxEvents {
    DataPushCompleted: { readonly operations: readonly unknown[] };
  }
}

// The statement assigns each batch its position in the queue, `place`, while it holds the locks of the pushing users
// (turn-lock.ts, R-D6). It acquires the locks in the order of their keys, so concurrent statements cannot deadlock.
const STORE = `
  with batch as materialized (
    select given.* from unnest($1::int[], $2::int8[], $3::boolean[], $4::int[], $5::int[], $30::int4multirange[])
      with ordinality given (account_id, structure_version, is_queued, row_offset, row_bytes, variables, number)
    left join structure_version current using (account_id)
    where given.structure_version is null or given.structure_version = coalesce(current.version, 0)
  ), given as materialized (
    select nextval('push_operation_id_seq') as id, batch.account_id, batch.is_queued, given.*,
           clock_timestamp() + timeout_sec * interval '1 second' as deadline
    from unnest($7::int[], $8::text[], $9::text[], $10::text[], $11::int[], $12::int[], $13::int[], $14::int[],
                $15::text[], $16::text[], $17::text[], $18::text[], $19::boolean[], $25::int[], $26::int[]) with ordinality
      given (batch_number, user_id, label, request_id, elements, readings, tuples, timeout_sec,
             resend_key, mapper_id, rejected, warnings, is_replay, first_member, last_member, ordinal)
    join batch on batch.number = given.batch_number
    order by ordinal
  ), operation as (
    insert into push_operation (id, account_id, user_id, label, request_id, state, accepted_elements, accepted_readings,
                                rejected, warnings, resend_key, mapper_id, is_replay, deadline, member_elements,
                                member_readings, member_request_ids, started_date, completed_date, announced_date)
    overriding system value
    select id, account_id, user_id, label, request_id,
           case when tuples = 0 and elements = 0 and rejected <> '[]' then 'Rejected' when tuples = 0 then 'Completed'
                when is_queued then 'Queued' else 'Processing' end, elements, readings,
           coalesce(rejected, '[]')::jsonb, coalesce(warnings, '[]')::jsonb, decode(resend_key, 'hex'), mapper_id::uuid,
           is_replay, deadline, case when last_member > 0 then ($27::int[])[first_member:last_member] end,
           case when last_member > 0 then ($28::int[])[first_member:last_member] end,
           nullif(($29::text[])[first_member:last_member], '{}'), case when tuples = 0 or not is_queued then clock_timestamp() end,
           case when tuples = 0 then clock_timestamp() end, case when tuples = 0 then clock_timestamp() end
    from given order by ordinal
    on conflict (resend_key) where resend_key is not null do nothing
    returning id, account_id, case when state in ('Completed', 'Rejected') then push_operation_event(push_operation) end as event
  ), announced as (
    insert into outbox_event (account_id, type, payload)
    select account_id, ${eventLiteral('DataPushCompleted')}, jsonb_build_object('operations', jsonb_agg(event order by id))
    from operation where event is not null group by account_id
  ), rejection as (
    insert into push_rejection (operation_id, place, code, message, element)
    select id, place, code, message, element
    from unnest($20::int8[], $21::int[], $22::text[], $23::text[], $24::text[])
      rejected (ordinal, place, code, message, element)
    join given using (ordinal) join operation using (id)
  ), turn as materialized (
    select ${lockTurnSql('key')}
    from (select distinct ${turnKeySql('account_id', 'user_id')} as key from given where is_queued and tuples > 0 order by 1) keys
  ), stored as (
    insert into push_batch (account_id, place, operation_ids, reading_counts, variables, rows, deadline)
    select batch.account_id, nextval('push_batch_place'), ids, counts, batch.variables,
           substring($6::bytea from row_offset + 1 for row_bytes), deadline
    from (
      select batch_number, array_agg(id order by ordinal) as ids, array_agg(tuples order by ordinal) as counts,
             min(deadline) as deadline
      from given join operation using (id) where is_queued and tuples > 0 group by batch_number
    ) accepted
    join batch on batch.number = accepted.batch_number
    cross join (select count(*) from turn) waited
    order by batch_number
  )
  select ordinal, operation.id from given left join operation using (id)`;

/** @returns one list for each batch: the outcomes of the operations of the batch, in the order given (R-D1). */
export async function storeBatches(
  queryable: Queryable,
  batches: readonly NewBatch[],
): Promise<readonly (readonly StoreOutcome[])[]> {
  const operations = batches.flatMap((batch) => batch.operations);
  const { rows } = await queryable.query<[ordinal: number, id: number | null]>({
    name: 'store-pushes',
    text: STORE,
    values: [
      ...batchColumns(batches),
      ...operationColumns(batches, operations),
      ...rejectionColumns(operations),
      ...memberColumns(operations),
      textArray(batches.map(variablesOf)),
    ],
    rowMode: 'array',
  });
  const ids = new Map(rows);
  let ordinal = 0;
  return batches.map((batch) =>
    batch.operations.map(() => {
      ordinal += 1;
      const id = ids.get(ordinal);
      if (id === undefined) return { kind: 'stale' };
      return id === null ? { kind: 'resent' } : { kind: 'stored', id };
    }),
  );
}

function batchColumns(batches: readonly NewBatch[]): readonly unknown[] {
  const rows = batches.map(({ operations, isQueued }) => {
    if (!isQueued) return NOTHING;
    const [only] = operations;
    return operations.length === 1 && only ? only.tuples : Buffer.concat(operations.map(({ tuples }) => tuples));
  });
  let offset = 0;
  const offsets = rows.map(({ length }) => {
    offset += length;
    return offset - length;
  });
  return [
    plainArray(batches.map(({ accountId }) => accountId)),
    plainArray(batches.map(({ structureVersion }) => structureVersion)),
    plainArray(batches.map(({ isQueued }) => isQueued)),
    plainArray(offsets),
    plainArray(rows.map(({ length }) => length)),
    rows.length === 1 ? rows[0] : Buffer.concat(rows),
  ];
}

const NOTHING = Buffer.alloc(0);

function variablesOf({ operations, isQueued }: NewBatch): string {
  return isQueued ? variableSet(operations.flatMap(({ variableIds }) => variableIds)) : '{}';
}

function operationColumns(batches: readonly NewBatch[], operations: readonly NewOperation[]): readonly unknown[] {
  const numbers = batches.flatMap((batch, index) => batch.operations.map(() => index + 1));
  const json = (values: readonly unknown[]): string | null => (values.length === 0 ? null : JSON.stringify(values));
  return [
    plainArray(numbers),
    textArray(operations.map(({ userId }) => userId)),
    textArray(operations.map(({ label }) => label)),
    textArray(operations.map(({ requestId }) => requestId)),
    plainArray(operations.map(({ acceptedElements }) => acceptedElements)),
    plainArray(operations.map(({ acceptedReadings }) => acceptedReadings)),
    plainArray(operations.map(({ tuples }) => tuples.length / TUPLE_BYTES)),
    plainArray(operations.map(({ timeoutSec }) => timeoutSec)),
    sparseTextArray(operations.map(({ resendKey }) => resendKey?.toString('hex') ?? null)),
    sparseTextArray(operations.map(({ mapperId }) => mapperId)),
    sparseTextArray(operations.map(({ rejected }) => json(rejected))),
    sparseTextArray(operations.map(({ warnings }) => json(warnings))),
    plainArray(operations.map(({ isReplay }) => isReplay)),
  ];
}

function rejectionColumns(operations: readonly NewOperation[]): readonly string[] {
  const rejections = operations.flatMap(({ rejected, rejectedElements }, index) =>
    rejected.map((rejection, position) => ({
      ...rejection,
      ordinal: index + 1,
      element: rejectedElements[position] ?? '',
    })),
  );
  return [
    plainArray(rejections.map(({ ordinal }) => ordinal)),
    plainArray(rejections.map(({ index }) => index)),
    textArray(rejections.map(({ code }) => code)),
    textArray(rejections.map(({ message }) => message)),
    textArray(rejections.map(({ element }) => element)),
  ];
}

/**
 * The members of an operation are the pushes that share its row. The first two returned columns have one element per
 * operation: the positions of its first and its last member in the other columns. Positions begin at 1; both are 0 if
 * the operation has no members. The other columns have one element per member.
 */
function memberColumns(operations: readonly NewOperation[]): readonly string[] {
  const shared = operations.flatMap(({ members }) => members ?? []);
  let last = 0;
  const ranges = operations.map(({ members }) => {
    if (!members) return [0, 0] as const;
    last += members.readings.length;
    return [last - members.readings.length + 1, last] as const;
  });
  return [
    plainArray(ranges.map(([from]) => from)),
    plainArray(ranges.map(([, to]) => to)),
    plainArray(shared.flatMap(({ elements }) => elements)),
    plainArray(shared.flatMap(({ readings }) => readings)),
    sparseTextArray(shared.flatMap(({ requestIds }) => requestIds)),
  ];
}
