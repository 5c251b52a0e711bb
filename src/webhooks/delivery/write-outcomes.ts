/**
 * Writes how tries ended: the history, the next try, what the webhook shows of itself, and whether it is to be disabled, in
 * one transaction for many tries. A claim that was lost meanwhile changes nothing: whoever has it writes how it ended.
 */
import { type Database, type Queryable, type Transaction, withTransaction } from '../../platform/database.ts';
import { toStorableText } from '../../platform/storable-text.ts';
import type { AttemptOutcome } from '../attempt.ts';
import type { ClaimedAttempt } from './claim-attempts.ts';
import type { DisableReason } from './disable-reason-rules.ts';
import { disableWebhook } from './disable-webhook.ts';
import type { NextStep } from './retry-rules.ts';

export interface EndedAttempt {
  readonly claimed: ClaimedAttempt;
  readonly outcome: AttemptOutcome;
  readonly next: NextStep;
  /** Milliseconds for which nothing is to be sent to the webhook. */
  readonly pauseMs: number;
  /** When it ended, by performance.now(). */
  readonly endedMs: number;
}

interface TouchedWebhook {
  readonly webhookId: string;
  readonly isHopeless: boolean | null;
}

// Webhooks are locked in one order, so that processes which write of several do not wait for each other in a circle.
const WRITE = `
  with given as materialized (
    select * from unnest($1::int8[], $2::timestamptz[], $3::uuid[], $4::text[], $5::int8[], $6::int[], $7::jsonb[],
                         $8::jsonb[], $9::text[], $10::int8[], $11::int8[])
      with ordinality given (id, claimed_until, webhook_id, state, age_ms, duration_ms, request, response, error, retry_ms,
                             pause_ms, place)
  ), hook as materialized (
    select id, is_enabled from webhook where id = any($3::uuid[]) order by id for no key update
  ), ended as (
    update webhook_attempt attempt
    set state = given.state, claimed_until = null, duration_ms = given.duration_ms, request = given.request,
        response = given.response, error = given.error,
        date = clock_timestamp() - (given.age_ms + given.duration_ms) * interval '1 millisecond',
        next_attempt_date = case when hook.is_enabled then clock_timestamp() + given.retry_ms * interval '1 millisecond' end
    from given join hook on hook.id = given.webhook_id
    where attempt.id = given.id and attempt.state = 'Pending' and attempt.claimed_until = given.claimed_until
    returning attempt.event_id, attempt.webhook_id, attempt.attempt, attempt.state, attempt.date,
              attempt.next_attempt_date, given.pause_ms, given.place
  ), retried as (
    insert into webhook_attempt (event_id, webhook_id, attempt, due_date, date)
    select event_id, webhook_id, attempt + 1, next_attempt_date, clock_timestamp()
    from ended where next_attempt_date is not null order by place
  ), summary as (
    select webhook_id, max(date) as last_date, (array_agg(state order by place desc))[1] as last_state,
           count(*) filter (where state = 'Succeeded') as succeeded, count(*) filter (where state = 'Failed') as failed,
           min(date) filter (where state = 'Failed') as first_failure, max(pause_ms) as pause_ms
    from ended group by webhook_id
  )
  update webhook
  set success_count = success_count + succeeded, failure_count = failure_count + failed,
      last_attempt_date = greatest(last_attempt_date, last_date), last_attempt_state = last_state,
      failing_since = case
        when last_state = 'Succeeded' or not is_enabled then null
        when succeeded > 0 then first_failure
        else coalesce(failing_since, first_failure) end,
      paused_until = case when pause_ms > 0 and is_enabled
        then greatest(paused_until, clock_timestamp() + pause_ms * interval '1 millisecond') else paused_until end
  from summary where webhook.id = summary.webhook_id
  returning webhook.id as "webhookId", is_enabled and failing_since <= now() - $12 * interval '1 day' as "isHopeless"`;

/**
 * @param disableAfterDays of nothing but failures.
 * @returns the webhooks that were disabled.
 */
export async function writeOutcomes(
  database: Database,
  ended: readonly EndedAttempt[],
  disableAfterDays: number,
): Promise<readonly string[]> {
  // Only a failure can disable a webhook; without one a single statement does, in one round trip instead of three.
  if (ended.every(({ outcome }) => outcome.state === 'Succeeded')) {
    await write(database, ended, disableAfterDays);
    return [];
  }
  return withTransaction(database, async (transaction) => {
    const touched = await write(transaction, ended, disableAfterDays);
    const gone = ended.flatMap(({ next, claimed }) => (next.kind === 'disable' ? [claimed.webhookId] : []));
    const hopeless = touched.flatMap(({ webhookId, isHopeless }) => (isHopeless ? [webhookId] : []));
    return [
      ...(await disableAll(transaction, gone, { kind: 'gone' })),
      ...(await disableAll(transaction, hopeless, { kind: 'failing', days: disableAfterDays })),
    ];
  });
}

async function write(
  queryable: Queryable,
  ended: readonly EndedAttempt[],
  disableAfterDays: number,
): Promise<readonly TouchedWebhook[]> {
  const values = [...toColumns(ended), disableAfterDays];
  const { rows } = await queryable.query<TouchedWebhook>({ name: 'webhook-outcomes', text: WRITE, values });
  return rows;
}

async function disableAll(
  transaction: Transaction,
  webhookIds: readonly string[],
  reason: DisableReason,
): Promise<readonly string[]> {
  const disabled: string[] = [];
  for (const webhookId of webhookIds)
    if (await disableWebhook(transaction, webhookId, reason)) disabled.push(webhookId);
  return disabled;
}

function toColumns(ended: readonly EndedAttempt[]): readonly unknown[] {
  const nowMs = performance.now();
  const outcomes = ended.map(({ outcome }) => outcome);
  return [
    ended.map(({ claimed }) => claimed.id),
    ended.map(({ claimed }) => claimed.claimedUntil),
    ended.map(({ claimed }) => claimed.webhookId),
    outcomes.map(({ state }) => state),
    ended.map(({ endedMs }) => Math.round(nowMs - endedMs)),
    outcomes.map(({ durationMs }) => Math.round(durationMs)),
    outcomes.map(({ request }) => toJson(request)),
    outcomes.map(({ response }) => (response ? toJson(response) : null)),
    outcomes.map(({ error }) => (error === undefined ? null : toStorableText(error))),
    ended.map(({ next }) => (next.kind === 'retry' ? Math.round(next.delayMs) : null)),
    ended.map(({ pauseMs }) => Math.round(pauseMs)),
  ];
}

const UNSTORABLE = /\\u(0000|d[89ab])/i;

/** Receivers answer what they like; what cannot be stored must not keep a try from ending. */
function toJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!UNSTORABLE.test(json)) return json;
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'string' ? toStorableText(member) : member,
  );
}
