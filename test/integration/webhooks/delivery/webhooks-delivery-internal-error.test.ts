/** An internal error of the service says nothing about a receiver, so it must not count against a webhook (R-A15). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRowLeases } from '../../../../src/platform/database/row-leases.ts';
import { LEASED_ATTEMPTS } from '../../../../src/webhooks/delivery/claim-attempts.ts';
import { type DeliveryServices, deliverSlice } from '../../../../src/webhooks/delivery/deliver-slice.ts';
import { openOutcomeWriter } from '../../../../src/webhooks/delivery/outcome-writer.ts';
import { writeOutcomes } from '../../../../src/webhooks/delivery/write-outcomes.ts';
import { openSecretVault } from '../../../../src/webhooks/secret-vault.ts';
import { addDueMessages } from '../../../support/fixtures/webhooks.ts';
import { startTestApi, type TestApi } from '../../../support/services/start-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
}, 60_000);
afterAll(() => api?.close());

/** Adds a webhook with due messages. */
async function addWebhook(messages: number): Promise<string> {
  const { rows } = await api.database.query<{ id: string }>(
    `insert into webhook (account_id, name, url, event_type, secret)
     values ($1, 'hook', 'https://receiver.example', 'SiteCreated', 'whsec_') returning id`,
    [api.accountId],
  );
  const webhookId = rows[0]?.id ?? '';
  await addDueMessages(api.database, webhookId, messages);
  return webhookId;
}

/** Opens a writer that retries the write of an outcome for 60 s. */
const openWriter = () =>
  openOutcomeWriter({
    store: async (ended) => void (await writeOutcomes(api.database, ended, 5)),
    patienceMs: 60_000,
    log: api.parts.log,
  });

async function deliver(webhookId: string, send: () => Promise<unknown>, writer = openWriter()): Promise<void> {
  const { database, log } = api.parts;
  const leases = openRowLeases(database, LEASED_ATTEMPTS, log);
  const services = {
    ...{ database, leases, send, log, writer, parallel: 2, vault: openSecretVault([]) },
    retries: { delaysSec: [5, 300], maxProbePauseMs: 60_000 },
    chance: () => 0,
    metrics: { attempted: () => {}, disabled: () => {} },
    isStopped: () => false,
    givingUp: new AbortController().signal,
  };
  await deliverSlice(services as unknown as DeliveryServices, webhookId, { isFailing: false }).finally(leases.stop);
}

async function attemptsOf(webhookId: string): Promise<readonly unknown[]> {
  const sql = 'select state, attempt from webhook_attempt where webhook_id = $1 order by attempt';
  return (await api.database.query(sql, [webhookId])).rows;
}

test('webhook delivery: after an internal error, an attempt stays Pending unless its message is older than a day (R-A15, R-I3)', async () => {
  const webhookId = await addWebhook(3);
  await deliver(webhookId, () => Promise.reject(new Error('a bug')));
  const { rows } = await api.database.query(
    `select state, attempt, claimed_until, error, due_date - now() between '50 s' and '60 s' as "isDelayed"
     from webhook_attempt where webhook_id = $1`,
    [webhookId],
  );
  const kept = { state: 'Pending', attempt: 1, claimed_until: null, error: null, isDelayed: true };
  expect(rows).toEqual([kept, kept, kept]);
  const { rows: webhooks } = await api.database.query('select failing_since, paused_until from webhook where id = $1', [
    webhookId,
  ]);
  expect(webhooks).toEqual([{ failing_since: null, paused_until: null }]);
  const oldId = await addWebhook(1);
  await api.database.query(`update webhook_event set date = now() - interval '25 hours' where webhook_id = $1`, [
    oldId,
  ]);
  await deliver(oldId, () => Promise.reject(new Error('a bug')));
  expect(await attemptsOf(oldId)).toEqual([
    { state: 'Failed', attempt: 1 },
    { state: 'Pending', attempt: 2 },
  ]);
});

test('webhook delivery: when an attempt fails at the receiver, the attempt is stored as failed, and its retry has the next attempt number (R-I3)', async () => {
  const webhookId = await addWebhook(1);
  const request = { method: 'POST', url: 'https://receiver.example', headers: {}, body: '' };
  const outcome = { state: 'Failed', request, error: 'refused', durationMs: 1 };
  await deliver(webhookId, async () => outcome);
  expect(await attemptsOf(webhookId)).toEqual([
    { state: 'Failed', attempt: 1 },
    { state: 'Pending', attempt: 2 },
  ]);
});

test('webhook delivery: when the database refuses an outcome, the deliverer discards this outcome and stores the outcomes of other webhooks without delay (R-A14, R-I3)', async () => {
  const [refused, other] = [await addWebhook(1), await addWebhook(1)];
  await api.database.query(
    `alter table webhook_attempt add constraint refused check (webhook_id <> '${refused}' or state <> 'Succeeded')`,
  );
  const request = { method: 'POST', url: 'https://receiver.example', headers: {}, body: '' };
  const outcome = { state: 'Succeeded', request, response: { status: 200, headers: {}, body: '' }, durationMs: 1 };
  const writer = openWriter();
  await Promise.all([refused, other].map((webhookId) => deliver(webhookId, async () => outcome, writer)));
  expect(await attemptsOf(other)).toEqual([{ state: 'Succeeded', attempt: 1 }]);
  expect(await attemptsOf(refused)).toEqual([{ state: 'Pending', attempt: 1 }]);
}, 10_000);
