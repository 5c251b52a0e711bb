/**
 * Concurrent transactions that write rows of one webhook either wait for each other or skip locked rows; they do not
 * deadlock (R-I3, R-I5).
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Transaction, withTransaction } from '../../../../src/platform/database/database.ts';
import { claimAttempts } from '../../../../src/webhooks/delivery/claim-attempts.ts';
import { purgeHistory } from '../../../../src/webhooks/delivery/purge-history.ts';
import { writeOutcomes } from '../../../../src/webhooks/delivery/write-outcomes.ts';
import { eventually } from '../../../support/eventually.ts';
import { addDueMessages, createWebhook } from '../../../support/fixtures/webhooks.ts';
import { startTestApi, type TestApi } from '../../../support/services/start-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
}, 60_000);
afterAll(() => api?.close());

/** Runs a statement in a transaction that stays open until `end` is called. */
async function hold(statement: string, value: unknown): Promise<{ readonly end: () => Promise<void> }> {
  const held = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<void>();
  const done = withTransaction(
    api.database,
    async (transaction: Transaction) => {
      await transaction.query(statement, [value]);
      held.resolve();
      await ending.promise;
    },
    { idleTimeoutMs: 0 },
  );
  await Promise.race([held.promise, done]);
  return {
    end: () => {
      ending.resolve();
      return done;
    },
  };
}

const waitUntilWaiting = (count: number) =>
  eventually(`${count} sessions that wait for a lock`, async () => {
    const { rows } = await api.database.query<{ count: number }>(
      `select count(*) as count from pg_stat_activity
       where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`,
    );
    return rows[0]?.count === count;
  });

/** Adds a message to the webhook and claims the attempt to deliver this message. */
async function claimOne(webhookId: string) {
  await addDueMessages(api.database, webhookId, 1);
  const [claimed] = await claimAttempts(api.database, webhookId, 1, 60_000);
  if (!claimed) throw new Error('no attempt was claimed');
  return claimed;
}

const REQUEST = { method: 'POST', url: 'https://receiver.example', headers: {}, body: '' };

test.each(['Succeeded', 'Failed'] as const)(
  'webhook delivery: when a webhook is changed while one of its attempts ends with the state %s, no deadlock occurs (R-I5)',
  async (state) => {
    const { id } = await createWebhook(api.manager, { name: state });
    const claimed = await claimOne(id);
    const outcome = { state, request: REQUEST, durationMs: 1 };
    const ended = { claimed, outcome, next: { kind: 'end' }, pauseMs: 0, endedMs: performance.now() } as const;
    // Each `hold` plays a concurrent transaction, and takes the lock that this transaction would take: a fan-out that
    // stores a message, an uncommitted change of the webhook, and a slow write of the attempt's outcome.
    const fanOut = await hold('select from webhook where id = $1 for key share', id);
    const change = await hold(`update webhook set modified_date = now() where id = $1`, id);
    const slow = await hold('select from webhook_attempt where webhook_id = $1 for update', id);
    const written = writeOutcomes(api.parts.database, [ended], 5);
    await waitUntilWaiting(1);
    const renamed = api.manager.put(`/account/webhooks/${id}`, { name: 'renamed' });
    await waitUntilWaiting(2);
    await change.end();
    await waitUntilWaiting(2);
    await slow.end();
    expect(await written).toEqual([]);
    expect((await renamed).status).toBe(200);
    await fanOut.end();
    const { rows } = await api.database.query('select state from webhook_attempt where webhook_id = $1', [id]);
    expect(rows).toEqual([{ state }]);
  },
);

test('webhook delivery: when a response with status 410 disables a webhook, `writeOutcomes` returns the id of the webhook and the reason (R-I3)', async () => {
  const { id } = await createWebhook(api.manager);
  const outcome = { state: 'Failed', request: REQUEST, durationMs: 1 } as const;
  const end = { outcome, next: { kind: 'disable' }, pauseMs: 0, endedMs: performance.now() } as const;
  const disabled = await writeOutcomes(api.parts.database, [{ claimed: await claimOne(id), ...end }], 5);
  expect(disabled).toEqual([{ webhookId: id, reason: { kind: 'gone' } }]);
});

/**
 * Adds a message that was stored `days` days ago.
 * @returns the ids of the message and its attempt.
 */
async function addOld(webhookId: string, days: number): Promise<{ readonly eventId: string; readonly id: string }> {
  const { rows } = await api.database.query<{ eventId: string; id: string }>(
    `with event as (
       insert into webhook_event (webhook_id, account_id, type, date, data, created_date)
       select id, account_id, event_type, now(), '{}', now() - make_interval(days => $2) from webhook where id = $1
       returning id
     ) insert into webhook_attempt (event_id, webhook_id, state) select id, $1, 'Failed' from event
     returning event_id as "eventId", id::text`,
    [webhookId, days],
  );
  const [row] = rows;
  if (!row) throw new Error('the message was not added');
  return row;
}

test('webhook history: the purge skips a locked message; the first purge after the lock is released deletes the message (R-I5)', async () => {
  const { id } = await createWebhook(api.manager);
  const [held, other] = [await addOld(id, 31), await addOld(id, 31)];
  const holder = await hold('select from webhook_event where id = $1 for update', held.eventId);
  await purgeHistory(api.parts.database, 30, () => false);
  const left = await api.database.query('select id from webhook_event where id = any($1)', [
    [held.eventId, other.eventId],
  ]);
  expect(left.rows).toEqual([{ id: held.eventId }]);
  await holder.end();
  await purgeHistory(api.parts.database, 30, () => false);
  const { rowCount } = await api.database.query('select from webhook_event where id = $1', [held.eventId]);
  expect(rowCount).toBe(0);
});

test('webhook history: a request to replay a message gets 404 when the message is being purged (R-I5, R-A5)', async () => {
  const { id } = await createWebhook(api.manager);
  const old = await addOld(id, 31);
  const purge = await hold('delete from webhook_event where id = $1', old.eventId);
  const replay = api.manager.post(`/account/webhooks/${id}/history/${old.id}/replay`, undefined);
  await waitUntilWaiting(1);
  await purge.end();
  expect((await replay).status).toBe(404);
});
