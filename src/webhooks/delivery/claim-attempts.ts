/**
 * Which process sends what: whoever claimed an attempt has it until the lease ends; a process that dies leaves its claims
 * to anybody after that. The end of the lease is also the proof that a claim is still one's own.
 */
import type { Queryable } from '../../platform/database/database.ts';
import type { Message } from '../attempt.ts';
import type { WebhookTarget } from '../webhook.ts';
import { TARGET_COLUMNS } from '../webhooks.ts';

export interface ClaimedAttempt {
  readonly id: number;
  readonly webhookId: string;
  readonly attempt: number;
  readonly isReplay: boolean;
  /** ISO 8601 to the microsecond: see above. */
  readonly claimedUntil: string;
  readonly message: Message;
}

interface AttemptRow extends Omit<ClaimedAttempt, 'message' | 'webhookId'>, Omit<Message, 'id'> {
  readonly messageId: string;
}

/** A webhook as its deliverer needs it. */
export interface Receiver {
  readonly accountId: number;
  readonly isEnabled: boolean;
  /** Nothing succeeded since the last failure. */
  readonly isFailing: boolean;
  readonly target: WebhookTarget;
}

type ReceiverRow = Omit<Receiver, 'target'> & WebhookTarget;

const FIND_RECEIVER = `
  select account_id as "accountId", is_enabled as "isEnabled", failing_since is not null as "isFailing", ${TARGET_COLUMNS}
  from webhook where id = $1`;

// A replay is asked for by a manager, who may want to see whether the receiver is there before it said it would be. Those
// have an index of their own: a paused webhook may have a hundred thousand others waiting, and is looked at for every event.
const IS_DUE = `state = 'Pending' and due_date <= now() and (claimed_until is null or claimed_until < now())`;

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

const HAND_BACK = `
  update webhook_attempt set claimed_until = null
  from unnest($1::int8[], $2::timestamptz[]) given (id, claimed_until)
  where webhook_attempt.id = given.id and webhook_attempt.claimed_until = given.claimed_until and state = 'Pending'`;

// Of a webhook that is disabled too: what is left of it is ended by whoever looks.
const FIND_DUE = `
  select id from webhook where case when paused_until is null or paused_until <= now()
    then exists (select from webhook_attempt where webhook_id = webhook.id and ${IS_DUE})
    else exists (select from webhook_attempt where webhook_id = webhook.id and is_replay and ${IS_DUE}) end`;

// What became due since the last claim is due now.
const FIND_NEXT = `
  select extract(epoch from greatest(next.due_date, paused_until) - now())::float8 * 1000 as "delayMs"
  from webhook cross join lateral (
    select due_date from webhook_attempt
    where webhook_id = webhook.id and state = 'Pending' and (claimed_until is null or claimed_until < now())
    order by due_date limit 1
  ) next
  where id = $1 and is_enabled`;

export async function findReceiver(queryable: Queryable, webhookId: string): Promise<Receiver | undefined> {
  const { rows } = await queryable.query<ReceiverRow>({
    name: 'webhook-receiver',
    text: FIND_RECEIVER,
    values: [webhookId],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { accountId, isEnabled, isFailing, ...target } = row;
  return { accountId, isEnabled, isFailing, target };
}

/** Takes attempts of a webhook that are due, the oldest first, for `leaseMs`. */
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

/** Lets others have what was claimed and not begun (R-K2). */
export async function releaseClaims(queryable: Queryable, attempts: readonly ClaimedAttempt[]): Promise<void> {
  if (attempts.length === 0) return;
  await queryable.query(HAND_BACK, [attempts.map(({ id }) => id), attempts.map((it) => it.claimedUntil)]);
}

/** Webhooks of which something is due that nobody is at. */
export async function findDueWebhooks(queryable: Queryable): Promise<readonly string[]> {
  const { rows } = await queryable.query<{ id: string }>(FIND_DUE);
  return rows.map(({ id }) => id);
}

/** Milliseconds until the next attempt of a webhook may be made; Infinity: there is none to make. */
export async function findNextDue(queryable: Queryable, webhookId: string): Promise<number> {
  const { rows } = await queryable.query<{ delayMs: number }>({
    name: 'webhook-next-due',
    text: FIND_NEXT,
    values: [webhookId],
  });
  return Math.max(rows[0]?.delayMs ?? Number.POSITIVE_INFINITY, 0);
}
