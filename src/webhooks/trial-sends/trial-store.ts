/** Stores trial sends (test messages), their leases and their results, for 24 h (R-I7). */

import type { Queryable } from '../../platform/database/database.ts';
import type { LeasedRow, LeasedTable } from '../../platform/database/row-leases.ts';
import { DomainError } from '../../platform/errors.ts';
import { isGuid } from '../../platform/guid.ts';
import { parseJsonText } from '../../platform/json/json-text.ts';
import type { AttemptOutcome, Message, ReceivedResponse, SentRequest } from '../attempt.ts';
import type { EventType } from '../event-type.ts';
import type { TargetRow } from '../sealed-columns.ts';
import type { SecretVault } from '../secret-vault.ts';
import type { WebhookTarget } from '../webhook.ts';
import { TARGET_COLUMNS } from '../webhooks.ts';

export interface TrialTarget extends WebhookTarget {
  readonly eventType: EventType;
}

/** A trial send as clients read it; `request` is null while the trial send is Pending and after an internal error. */
export interface Trial {
  readonly id: string;
  readonly state: 'Pending' | 'Succeeded' | 'Failed';
  readonly request: SentRequest | null;
  readonly response?: ReceivedResponse;
  readonly error?: string;
}

export interface ClaimedTrial extends LeasedRow {
  readonly webhook: TrialTarget;
  readonly message: Message;
}

export const LEASED_TRIALS: LeasedTable = {
  ...{ table: 'webhook_test', idType: 'uuid', column: 'claimed_until', state: 'Pending' },
};

/** Result of a trial send. The result has no `request` if an internal error occurred. */
export type TrialOutcome = Pick<AttemptOutcome, 'state' | 'response' | 'error'> & { readonly request?: SentRequest };

const IS_KEPT = `created_date > clock_timestamp() - interval '24 hours'`;
const IS_WAITING = `state = 'Pending' and (claimed_until is null or claimed_until < clock_timestamp()) and ${IS_KEPT}`;
const MAX_FOUND = 1000;

/**
 * Stores a trial send, which is due immediately (R-I7).
 * @returns its id.
 * @throws {Error} when the insert returns no row.
 */
export async function insertTrial(
  queryable: Queryable,
  vault: SecretVault,
  accountId: number,
  webhook: TrialTarget,
  data: unknown,
): Promise<string> {
  const { rows } = await queryable.query<{ id: string }>(
    'insert into webhook_test (account_id, webhook, data) values ($1, $2, $3) returning id',
    [accountId, JSON.stringify(sealTrial(vault, webhook, accountId)), JSON.stringify(data)],
  );
  const [row] = rows;
  if (!row) throw new Error('the database returned no id for the new test message');
  return row.id;
}

/**
 * Reads a trial send of the account (R-I7).
 * @throws {DomainError} not_found when the account has no such trial send, or when the trial send is older than 24 h.
 */
export async function getTrial(queryable: Queryable, accountId: number, id: string): Promise<Trial> {
  const { rows } = isGuid(id)
    ? await queryable.query<Trial & { error: string | null }>(
        `select id, state, request, response, error from webhook_test where id = $1 and account_id = $2 and ${IS_KEPT}`,
        [id, accountId],
      )
    : { rows: [] };
  const [row] = rows;
  if (!row) throw new DomainError('not_found', `test message ${id} does not exist or is older than 24 hours`);
  const { response, error, ...test } = row;
  return { ...test, ...(response && { response }), ...(error !== null && { error }) };
}

/**
 * @returns the secrets of the account's webhook `id` if the URL of the webhook is `url`; otherwise undefined (R-I7).
 */
export async function findReusableSecrets(
  queryable: Queryable,
  vault: SecretVault,
  accountId: number,
  id: string,
  url: string,
): Promise<readonly string[] | undefined> {
  const { rows } = await queryable.query<TargetRow>(
    `select ${TARGET_COLUMNS} from webhook where account_id = $1 and id::text = $2 and url = $3 and deleted_date is null`,
    [accountId, id, url],
  );
  return rows[0]?.secrets.map((secret) => vault.open(secret, accountId));
}

/**
 * Claims a trial send for `leaseMs` (R-I7).
 * @returns undefined when the trial send has ended, is older than 24 h or has a lease that has not ended.
 */
export async function claimTrial(
  queryable: Queryable,
  vault: SecretVault,
  id: string,
  leaseMs: number,
): Promise<ClaimedTrial | undefined> {
  const { rows } = await queryable.query<TrialRow>(
    `update webhook_test set claimed_until = clock_timestamp() + $2 * interval '1 millisecond'
     where id = $1 and ${IS_WAITING}
     returning webhook, data, account_id as "accountId", created_date as timestamp, claimed_until as "claimedUntil"`,
    [id, leaseMs],
  );
  const [row] = rows;
  if (!row) return undefined;
  const { webhook: stored, claimedUntil, ...message } = row;
  const webhook = openTrial(vault, stored, message.accountId);
  return { id, webhook, claimedUntil, message: { id, type: webhook.eventType, ...message } };
}

/**
 * Writes the result and deletes the secrets (R-I7).
 * @returns false when the claim was lost; nothing is written then.
 */
export async function finishTrial(
  queryable: Queryable,
  { id, claimedUntil }: ClaimedTrial,
  { state, request, response, error }: TrialOutcome,
): Promise<boolean> {
  const { rowCount } = await queryable.query(
    `update webhook_test
     set state = $3, request = $4, response = $5, error = $6, claimed_until = null, webhook = webhook - '{secrets,sealed}'::text[]
     where id = $1 and claimed_until = $2 and state = 'Pending'`,
    [id, claimedUntil, state, toJson(request), toJson(response), error],
  );
  return rowCount === 1;
}

/** Releases the claim of a trial send, so that another process can claim the trial send (R-K2). */
export async function releaseTrial(queryable: Queryable, { id, claimedUntil }: ClaimedTrial): Promise<void> {
  await queryable.query('update webhook_test set claimed_until = null where id = $1 and claimed_until = $2', [
    id,
    claimedUntil,
  ]);
}

/**
 * Finds the trial sends (test messages) that wait to be sent and have no valid lease (R-I7).
 * @returns at most 1,000 trial sends, oldest first.
 */
export async function findWaitingTrials(
  queryable: Queryable,
): Promise<readonly { readonly id: string; readonly accountId: number }[]> {
  const { rows } = await queryable.query<{ id: string; accountId: number }>(
    `select id, account_id as "accountId" from webhook_test where ${IS_WAITING} order by created_date limit $1`,
    [MAX_FOUND],
  );
  return rows;
}

/** A trial as stored: headers and secrets are sealed together; without a key they are stored in clear text. */
type StoredTrial = Omit<TrialTarget, 'headers' | 'secrets'> &
  (Pick<TrialTarget, 'headers' | 'secrets'> | { readonly sealed: string });

interface TrialRow extends Omit<Message, 'id' | 'type'> {
  readonly webhook: StoredTrial;
  readonly claimedUntil: string;
}

function sealTrial(vault: SecretVault, trial: TrialTarget, accountId: number): StoredTrial {
  if (vault.keyId === undefined) return trial;
  const { headers, secrets, ...rest } = trial;
  return { ...rest, sealed: vault.seal(JSON.stringify({ headers, secrets }), accountId) };
}

function openTrial(vault: SecretVault, stored: StoredTrial, accountId: number): TrialTarget {
  if (!('sealed' in stored)) return stored;
  const { sealed, ...rest } = stored;
  return { ...rest, ...(parseJsonText(vault.open(sealed, accountId)) as Pick<TrialTarget, 'headers' | 'secrets'>) };
}

function toJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
