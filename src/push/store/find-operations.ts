/** Operations as clients follow them (R-D7): who pushed sees their own, managers and admins those of the account. */
import type { Caller } from '../../identity/caller/caller.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Paging } from '../../platform/http/paging.ts';
import type { PushWarning, Rejection } from '../push-answer.ts';
import { readMemberLabel } from './operation-label.ts';

export interface Operation {
  readonly id: number;
  readonly label: string;
  readonly userId: string;
  readonly state: 'Queued' | 'Processing' | 'Completed' | 'Failed';
  readonly acceptedElements: number;
  readonly acceptedReadings: number;
  readonly rejected: readonly Rejection[];
  readonly warnings: readonly PushWarning[];
  readonly failure: string | null;
  readonly mapperId: string | null;
  readonly isReplay: boolean;
  /** Instants as ISO 8601 in UTC. */
  readonly acceptedDate: string;
  readonly startedDate: string | null;
  readonly completedDate: string | null;
}

// Of the parameters of `visibleTo`. A push that shares a row is found by the label of the row and its place there.
const PLACE = '$5::int + 1';
const COLUMNS = `
  id, $2::text as label, user_id as "userId", state,
  coalesce(member_elements[${PLACE}], accepted_elements) as "acceptedElements",
  coalesce(member_readings[${PLACE}], accepted_readings) as "acceptedReadings",
  rejected, warnings, failure, mapper_id as "mapperId", is_replay as "isReplay", accepted_date as "acceptedDate",
  started_date as "startedDate", completed_date as "completedDate"`;

const VISIBLE = `
  account_id = $1 and label in ($2, $4) and ($3::text is null or user_id = $3)
  and case when member_elements is null then label = $2 else cardinality(member_elements) >= ${PLACE} end`;

/** The operations under a label, the newest first. @throws DomainError not_found when there is none to be seen. */
export async function getOperations(
  queryable: Queryable,
  caller: Caller,
  label: string,
  { limit, offset }: Paging,
): Promise<readonly Operation[]> {
  const { rows } = await queryable.query<Operation>(
    `select ${COLUMNS} from push_operation where ${VISIBLE} order by id desc limit $6 offset $7`,
    [...visibleTo(caller, label), limit ?? null, offset],
  );
  if (rows.length > 0 || offset > 0) return rows;
  throw new DomainError('not_found', `there is no operation ${JSON.stringify(label)}`);
}

/** The newest operation under a label. @throws DomainError not_found. */
export async function getNewestOperation(queryable: Queryable, caller: Caller, label: string): Promise<Operation> {
  const [operation] = await getOperations(queryable, caller, label, { limit: 1, offset: 0 });
  if (!operation) throw new Error('a page of operations that were found is empty');
  return operation;
}

/** An operation that has rejected something, and what it takes to replay it. */
export type RejectingOperation = Pick<Operation, 'id' | 'mapperId'>;

/** All operations under a label that have rejected something. @throws DomainError not_found when there is none at all. */
export async function getRejectingOperations(
  queryable: Queryable,
  caller: Caller,
  label: string,
): Promise<readonly RejectingOperation[]> {
  const { rows } = await queryable.query<RejectingOperation>(
    `select id, mapper_id as "mapperId" from push_operation
     where ${VISIBLE} and member_elements is null and exists (select from push_rejection where operation_id = push_operation.id) order by id`,
    [...visibleTo(caller, label)],
  );
  if (rows.length === 0) await getNewestOperation(queryable, caller, label);
  return rows;
}

/** How many operations of a label are to be seen. */
export async function countOperations(queryable: Queryable, caller: Caller, label: string): Promise<number> {
  const { rows } = await queryable.query<{ count: number }>(
    `select count(*) as count from push_operation where ${VISIBLE}`,
    [...visibleTo(caller, label)],
  );
  return rows[0]?.count ?? 0;
}

function visibleTo({ accountId, role, userId }: Caller, label: string): readonly unknown[] {
  const { shared, place } = readMemberLabel(label) ?? { shared: label, place: 0 };
  return [accountId, label, role === 'USER' ? userId : null, shared, place];
}

/** An operation as it is answered. */
export function toOperationBody({ label, acceptedElements, acceptedReadings, ...operation }: Operation) {
  const { failure, mapperId, startedDate, completedDate, isReplay, ...given } = operation;
  return {
    operationId: label,
    ...given,
    accepted: { elements: acceptedElements, readings: acceptedReadings },
    ...(failure !== null && { failure }),
    ...(mapperId !== null && { mapperId }),
    ...(isReplay && { isReplay }),
    ...(startedDate !== null && { startedDate }),
    ...(completedDate !== null && { completedDate }),
  };
}
