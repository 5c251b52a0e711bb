/**
 * Writes the outcomes of many attempts in one transaction: the history, the next attempts and the counters of the
 * webhooks. The same transaction may disable webhooks. An attempt that another process has claimed meanwhile is
 * skipped, because the other process writes the outcome.
 */
import { type Database, type Queryable, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { toStorableText } from '../../platform/database/storable-text.ts';
import type { AttemptOutcome } from '../attempt.ts';
import type { ClaimedAttempt } from './claim-attempts.ts';
import type { DisableReason } from './disable-reason.ts';
import { disableWebhook } from './disable-webhook.ts';
import type { NextStep } from './retry-rules.ts';

export interface EndedAttempt {
  readonly claimed: ClaimedAttempt;
  readonly outcome: AttemptOutcome;
  readonly next: NextStep;
  /** Milliseconds for which the webhook is paused; 0 means no pause. */
  readonly pauseMs: number;
  /** End of the attempt, on the clock of performance.now(). */
  readonly endedMs: number;
}

/** A webhook that the service disabled. */
interface DisabledWebhook {
  readonly webhookId: string;
  readonly reason: DisableReason;
}

interface TouchedWebhook {
  readonly webhookId: string;
  readonly isHopeless: boolean | null;
}

const WRITE = `
  select webhook_id as "webhookId", is_hopeless as "isHopeless"
  from write_webhook_outcomes($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`;

/**
 * Writes the outcomes of ended attempts, and disables webhooks whose receiver answered 410 or has failed for too long
 * (R-I3, R-I5).
 * @param disableAfterDays number of days for which all attempts must have failed before a webhook is disabled.
 * @returns the webhooks that were disabled.
 */
export async function writeOutcomes(
  database: Database,
  ended: readonly EndedAttempt[],
  disableAfterDays: number,
): Promise<readonly DisabledWebhook[]> {
  // Only a failure can disable a webhook, so successes alone need no transaction: one round trip instead of three.
  if (ended.every(({ outcome }) => outcome.state === 'Succeeded')) {
    await write(database, ended, disableAfterDays);
    return [];
  }
  return withTransaction(database, async (transaction) => {
    const touched = await write(transaction, ended, disableAfterDays);
    const goneIds = ended.flatMap(({ next, claimed }) => (next.kind === 'disable' ? [claimed.webhookId] : []));
    const hopeless = touched.flatMap(({ webhookId, isHopeless }) => (isHopeless ? [webhookId] : []));
    return [
      ...(await disableAll(transaction, goneIds, { kind: 'gone' })),
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
): Promise<readonly DisabledWebhook[]> {
  const disabled: DisabledWebhook[] = [];
  for (const webhookId of webhookIds)
    if (await disableWebhook(transaction, webhookId, reason)) disabled.push({ webhookId, reason });
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

/** Serializes a value, and replaces characters that PostgreSQL cannot store: a receiver may send such characters. */
function toJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!UNSTORABLE.test(json)) return json;
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'string' ? toStorableText(member) : member,
  );
}
