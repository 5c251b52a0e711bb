/**
 * Claims of attempts: the claiming process owns an attempt until its lease ends, and renews the lease until the attempt
 * has an outcome (platform/database/row-leases.ts). When the lease ends, for example after a crash, any process may
 * claim the attempt. `claimed_until` is also the fencing token: the claiming process can write an outcome only while it
 * has the value that this process last set.
 */
import type { Queryable } from '../../platform/database/database.ts';
import type { LeasedRow, LeasedTable } from '../../platform/database/row-leases.ts';
import type { Message } from '../attempt.ts';
import { openTarget, type TargetRow } from '../sealed-columns.ts';
import type { SecretVault } from '../secret-vault.ts';
import type { WebhookTarget } from '../webhook.ts';
import { TARGET_COLUMNS } from '../webhooks.ts';

export interface ClaimedAttempt extends LeasedRow {
  readonly id: number;
  readonly webhookId: string;
  readonly attempt: number;
  readonly isReplay: boolean;
  readonly message: Message;
}

/** @returns the ids of an attempt for a log line (R-K4). */
export function idsOf({ id, webhookId, message: { accountId } }: ClaimedAttempt): object {
  return { accountId, webhookId, historyId: id };
}

interface AttemptRow extends Omit<ClaimedAttempt, 'message' | 'webhookId'>, Omit<Message, 'id'> {
  readonly messageId: string;
}

export const LEASED_ATTEMPTS: LeasedTable = {
  ...{ table: 'webhook_attempt', idType: 'int8', column: 'claimed_until', state: 'Pending' },
};

/** The fields of a webhook that are needed to deliver its messages. */
export interface Receiver {
  readonly accountId: number;
  readonly isEnabled: boolean;
  /** Whether the last attempt failed. Enabling or disabling the webhook, or changing its URL, resets this to false. */
  readonly isFailing: boolean;
  readonly target: WebhookTarget;
}

type ReceiverRow = Omit<Receiver, 'target'> & TargetRow;

const FIND_RECEIVER = `
  select account_id as "accountId", is_enabled as "isEnabled", failing_since is not null as "isFailing", ${TARGET_COLUMNS}
  from webhook where id = $1`;

const IS_DUE = `state = 'Pending' and due_date <= now() and (claimed_until is null or claimed_until < now())`;

// A replay ignores the pause of its webhook: a manager may want to test the receiver early. Replays have an index of
// their own, so that this query does not read the waiting attempts of a paused webhook (there may be 100,000).
const CLAIM = `
  with hook as materialized (
    select paused_until is null or paused_until <= now() as is_open from webhook where id = $1 and is_enabled
  ), due as materialized (
    select id from webhook_attempt where webhook_id = $1 and ${IS_DUE} and (select is_open from hook)
    order by due_date, id limit $2 for update skip locked
  ), replay as materialized (
    select id from webhook_attempt where webhook_id = $1 and is_replay and ${IS_DUE} and (select not is_open from hook)
    order by due_date, id limit $2 for update skip locked
  ), claimed as (
    update webhook_attempt set claimed_until = clock_timestamp() + $3 * interval '1 millisecond'
    from (select id from due union all select id from replay) taken where webhook_attempt.id = taken.id
    returning webhook_attempt.id, event_id, attempt, is_replay, claimed_until, due_date
  )
  select claimed.id, attempt, is_replay as "isReplay", claimed_until as "claimedUntil", event.id as "messageId",
         event.type, event.date as timestamp, event.account_id as "accountId", event.data
  from claimed join webhook_event event on event.id = claimed.event_id
  order by claimed.due_date, claimed.id`;

const RELEASE = `
  update webhook_attempt
  set claimed_until = null,
      due_date = case when $3::float8 > 0 then clock_timestamp() + $3 * interval '1 millisecond' else due_date end
  from unnest($1::int8[], $2::timestamptz[]) given (id, claimed_until)
  where webhook_attempt.id = given.id and webhook_attempt.claimed_until = given.claimed_until and state = 'Pending'`;

// The query also finds disabled webhooks, because the deliverer ends the remaining attempts of these webhooks.
const FIND_DUE = `
  select id from webhook where case when paused_until is null or paused_until <= now()
    then exists (select from webhook_attempt where webhook_id = webhook.id and ${IS_DUE})
    else exists (select from webhook_attempt where webhook_id = webhook.id and is_replay and ${IS_DUE}) end`;

// The delay is negative when an unclaimed attempt is already due and the webhook is not paused.
const FIND_NEXT = `
  select extract(epoch from greatest(next.due_date, paused_until) - now())::float8 * 1000 as "delayMs"
  from webhook cross join lateral (
    select due_date from webhook_attempt
    where webhook_id = webhook.id and state = 'Pending' and (claimed_until is null or claimed_until < now())
    order by due_date limit 1
  ) next
  where id = $1 and is_enabled`;

/**
 * Reads the receiver of a webhook, even if the webhook is marked as deleted.
 * @returns the receiver; undefined when no webhook has this id.
 * @throws {Error} when the secrets or headers of the webhook cannot be decrypted.
 */
export async function findReceiver(
  queryable: Queryable,
  vault: SecretVault,
  webhookId: string,
): Promise<Receiver | undefined> {
  const { rows } = await queryable.query<ReceiverRow>({
    name: 'webhook-receiver',
    text: FIND_RECEIVER,
    values: [webhookId],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { accountId, isEnabled, isFailing, ...target } = row;
  return { accountId, isEnabled, isFailing, target: openTarget(vault, target, accountId) };
}

/**
 * Claims the due attempts of a webhook, at most `limit`, in the order of their due dates. The claims last `leaseMs`.
 * Claims only replays if the webhook is paused. Claims nothing if the webhook is disabled.
 */
export async function claimAttempts(
  queryable: Queryable,
  webhookId: string,
  limit: number,
  leaseMs: number,
): Promise<readonly ClaimedAttempt[]> {
  const { rows } = await queryable.query<AttemptRow>({
    name: 'webhook-claim',
    text: CLAIM,
    values: [webhookId, limit, leaseMs],
  });
  return rows.map(({ id, attempt, isReplay, claimedUntil, messageId, ...message }) => ({
    ...{ id, webhookId, attempt, isReplay, claimedUntil },
    message: { id: messageId, ...message },
  }));
}

/**
 * Releases the claims of attempts that have no outcome (R-K2).
 * @param delayMs milliseconds until the attempts are due; 0 leaves their due dates unchanged.
 */
export async function releaseClaims(
  queryable: Queryable,
  attempts: readonly ClaimedAttempt[],
  delayMs = 0,
): Promise<void> {
  if (attempts.length === 0) return;
  await queryable.query(RELEASE, [attempts.map(({ id }) => id), attempts.map((it) => it.claimedUntil), delayMs]);
}

/** @returns ids of the webhooks that have a due, unclaimed attempt. For a paused webhook, only replays count. */
export async function findDueWebhooks(queryable: Queryable): Promise<readonly string[]> {
  const { rows } = await queryable.query<{ id: string }>(FIND_DUE);
  return rows.map(({ id }) => id);
}

/**
 * @returns milliseconds until the first unclaimed attempt of the webhook is due or until the pause of the webhook ends,
 *   whichever is later; Infinity when the webhook has no unclaimed attempt or is disabled.
 */
export async function findNextDue(queryable: Queryable, webhookId: string): Promise<number> {
  const { rows } = await queryable.query<{ delayMs: number }>({
    name: 'webhook-next-due',
    text: FIND_NEXT,
    values: [webhookId],
  });
  return Math.max(rows[0]?.delayMs ?? Number.POSITIVE_INFINITY, 0);
}
