/**
 * Finds operations for clients (R-D7). A USER sees their own operations; MANAGER and ADMIN see all
 * operations of the account.
 */
import type { Caller } from '../../identity/caller/caller.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Paging } from '../../platform/http/paging.ts';
import { type PushAnswer, type PushWarning, type Rejection, toAnswer } from '../push-answer.ts';
import { readMemberLabel } from './operation-label.ts';

export interface Operation {
  readonly id: number;
  readonly label: string;
  readonly userId: string;
  readonly state: 'Queued' | 'Processing' | 'Completed' | 'Rejected' | 'Failed';
  readonly acceptedElements: number;
  readonly acceptedReadings: number;
  readonly rejected: readonly Rejection[];
  readonly warnings: readonly PushWarning[];
  readonly failure: string | null;
  readonly mapperId: string | null;
  readonly isReplay: boolean;
  /** ISO 8601 in UTC, like `startedDate` and `completedDate`. */
  readonly acceptedDate: string;
  readonly startedDate: string | null;
  readonly completedDate: string | null;
}

// The SQL below takes the query parameters that `visibleTo` returns. A push that shares a row with other pushes is
// found by the label of the row ($4) and by the position of the push in the row ($5, from 0).
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

/**
 * Returns one page of the operations that have the label and that the caller may see, newest first (R-D7).
 * @throws {DomainError} not_found when the first page is empty.
 */
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
  throw new DomainError('not_found', `operation ${JSON.stringify(label)} does not exist`);
}

/**
 * @returns the newest operation that has the label and that the caller may see (R-D7).
 * @throws {DomainError} not_found when there is no such operation.
 */
export async function getNewestOperation(queryable: Queryable, caller: Caller, label: string): Promise<Operation> {
  const [operation] = await getOperations(queryable, caller, label, { limit: 1, offset: 0 });
  if (!operation) throw new Error('the first page of operations is empty');
  return operation;
}

/** The fields that the replay of an operation needs. */
export type RejectingOperation = Pick<Operation, 'id' | 'mapperId'>;

/**
 * Finds the operations that have the label and can be replayed, oldest first. An operation can be replayed when it has
 * rejected elements or the state Failed (R-D8).
 * @throws {DomainError} not_found when no operation that the caller may see has the label.
 */
export async function getRejectingOperations(
  queryable: Queryable,
  caller: Caller,
  label: string,
): Promise<readonly RejectingOperation[]> {
  const { rows } = await queryable.query<RejectingOperation>(
    `select id, mapper_id as "mapperId" from push_operation
     where ${VISIBLE} and member_elements is null
       and (state = 'Failed' or exists (select from push_rejection where operation_id = push_operation.id))
     order by id`,
    [...visibleTo(caller, label)],
  );
  if (rows.length === 0) await getNewestOperation(queryable, caller, label);
  return rows;
}

/** @returns the number of operations that have the label and that the caller may see (R-D7). */
export async function countOperations(queryable: Queryable, caller: Caller, label: string): Promise<number> {
  const { rows } = await queryable.query<{ count: number }>(
    `select count(*) as count from push_operation where ${VISIBLE}`,
    [...visibleTo(caller, label)],
  );
  return rows[0]?.count ?? 0;
}

function visibleTo({ accountId, role, userId }: Caller, label: string): readonly unknown[] {
  const { shared, position } = readMemberLabel(label) ?? { shared: label, position: 0 };
  return [accountId, label, role === 'USER' ? userId : null, shared, position];
}

/** @returns the operation as the API sends it (R-D7). */
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

const RESEND_HOURS = 24;

const FIND_RESENT = `
  select label, accepted_elements as "acceptedElements", accepted_readings as "acceptedReadings", rejected, warnings,
         accepted_date < now() - interval '${RESEND_HOURS} hours' as "isOld"
  from push_operation where resend_key = $1`;

const FREE_RESEND_KEY = `
  update push_operation set resend_key = null
  where resend_key = $1 and accepted_date < now() - interval '${RESEND_HOURS} hours'`;

type ResentRow = Omit<Parameters<typeof toAnswer>[0], 'timeZones'> & { readonly isOld: boolean };

/**
 * Finds the operation that stored the first copy of a re-sent push (R-D7). If it is older than 24 hours, removes
 * `resendKey` from it, so that a new operation can take the key.
 * @param timeZones zones of the re-sent push. The answer needs them, and the operation does not store zones.
 * @returns the answer of the operation; undefined when no operation of the last 24 hours has `resendKey`.
 */
export async function findResent(
  queryable: Queryable,
  resendKey: Buffer,
  timeZones: readonly string[],
): Promise<PushAnswer | undefined> {
  const { rows } = await queryable.query<ResentRow>(FIND_RESENT, [resendKey]);
  const [row] = rows;
  if (row && !row.isOld) return toAnswer({ ...row, timeZones });
  await queryable.query(FREE_RESEND_KEY, [resendKey]);
  return undefined;
}
