/** Limits of deliveries: hanging receivers, disabled webhooks, full backlogs, purge of history (R-I3, R-I5, R-I7). */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { purgeHistory } from '../../../../src/webhooks/delivery/purge-history.ts';
import { openReceiver, type WebhookReceiver } from '../../../support/doubles/webhook-receiver.ts';
import { eventually } from '../../../support/eventually.ts';
import { addPerson } from '../../../support/fixtures/people.ts';
import { type Delivery, startDelivery } from './webhooks-delivery-fixture.ts';

const MAX_PENDING = 20;

let delivery: Delivery;
const receivers: WebhookReceiver[] = [];

beforeAll(async () => {
  // A message that failed twice stays Pending until the tests end, because its second retry is due after 1000 s.
  delivery = await startDelivery({
    WEBHOOK_MAX_PENDING: String(MAX_PENDING),
    WEBHOOK_RETRY_SEC: '0.2,1000',
    WEBHOOK_TIMEOUT_MS: '15000',
    WEBHOOK_PROBE_MS: '200',
  });
  const { api } = delivery;
  await addPerson(api, 'fleur', { role: 'MANAGER', email: 'fleur@north.example', firstName: 'Fleur' });
  await addPerson(api, 'karl', { role: 'MANAGER', email: 'karl@north.example' });
  await addPerson(api, 'ute', { role: 'USER', email: 'ute@north.example' });
  await addPerson(api, 'mona', { role: 'MANAGER', email: 'mona@south.example', accountIds: [api.otherAccountId] });
  await addPerson(api, 'lock', { role: 'MANAGER', email: 'lock@north.example' });
  await api.database.query(`update app_user set language = 'fr-BE' where user_name = 'fleur'`);
  // The user `karl` was locked until an hour ago; the user `lock` is still locked.
  await api.database.query(
    `update app_user set is_locked = true, locked_until = now() + case user_name when 'lock' then 1 else -1 end * interval '1 h'
     where user_name in ('karl', 'lock')`,
  );
}, 60_000);
afterAll(() => delivery?.close());
afterEach(async () => {
  await delivery.api.database.query('delete from webhook; delete from mail');
  for (const receiver of receivers.splice(0)) await receiver.close();
});

async function receiver(): Promise<WebhookReceiver> {
  const opened = await openReceiver();
  receivers.push(opened);
  return opened;
}

async function mails(): Promise<readonly Record<string, unknown>[]> {
  const { rows } = await delivery.api.database.query(
    'select kind, to_address as to, language, data from mail order by to_address',
  );
  return rows;
}

const isDisabled = (webhookId: string) =>
  eventually('the webhook to be disabled', async () => {
    const webhook = await delivery.webhook(webhookId);
    return webhook.is_enabled === false && webhook;
  });

test('webhook delivery: while the receiver of one webhook hangs, other webhooks of the same account and of another account get their messages (R-I3)', async () => {
  const { api } = delivery;
  const [dead, alive, foreign] = [await receiver(), await receiver(), await receiver()];
  dead.answer('hang');
  const deadId = await delivery.addWebhook(dead.url);
  await delivery.addWebhook(alive.url);
  await delivery.addWebhook(foreign.url, {}, api.stranger);
  await delivery.createSites(5);
  // The hanging receiver gets a second message while the first one is unanswered.
  await dead.waitFor(2, 8000);
  await delivery.createSites(1);
  await delivery.createSites(1, api.stranger);
  await Promise.all([alive.waitFor(6), foreign.waitFor(1)]);
  // The delivery attempts to the hanging receiver have not ended: each waits for its time-out of 15 s.
  const ended = (await delivery.historyOf(deadId, 0)).filter(({ state }) => state !== 'Pending');
  expect(ended).toEqual([]);
});

test('webhook delivery: the answer 410 disables the webhook, fails its waiting messages and notifies the managers (R-I3)', async () => {
  const { url, answer, waitFor, received } = await receiver();
  answer(500);
  const webhookId = await delivery.addWebhook(`${url}?key=secret`, { name: 'North hook' });
  await delivery.createSites(3);
  await delivery.historyOf(webhookId, 6);
  answer(410);
  await delivery.createSites(1);
  await waitFor(7);
  expect(await isDisabled(webhookId)).toMatchObject({
    disabled_reason: 'its receiver answered 410 Gone and wants no more messages.',
    disabled_date: expect.any(String),
  });
  const history = await delivery.historyOf(webhookId, 10);
  expect(history.filter(({ status }) => status === 410)).toMatchObject([{ state: 'Failed', nextAttemptDate: null }]);
  expect(history.filter(({ error }) => error?.startsWith('the webhook was disabled'))).toHaveLength(3);
  const data = { webhookName: 'North hook', accountName: 'North', url };
  expect(await mails()).toEqual([
    {
      ...{ kind: 'webhook_disabled', to: 'fleur@north.example', language: 'fr-BE' },
      data: { ...data, name: 'Fleur', reason: expect.stringContaining('a répondu 410') },
    },
    {
      ...{ kind: 'webhook_disabled', to: 'karl@north.example', language: 'en' },
      data: { ...data, name: 'karl', reason: expect.stringContaining('answered 410') },
    },
  ]);
  const tries = received.length;
  await delivery.createSites(1);
  expect(await delivery.historyOf(webhookId, 10)).toHaveLength(10);
  expect(received).toHaveLength(tries);
});

test('webhook delivery: five days without a success disable the webhook; a success resets the period (R-I3)', async () => {
  const { url, answer } = await receiver();
  const webhookId = await delivery.addWebhook(url);
  const { database } = delivery.api;
  const failSince = (ago: string) =>
    database.query('update webhook set failing_since = now() - $2::interval where id = $1', [webhookId, ago]);
  await failSince('6 days');
  await delivery.createSites(1);
  await delivery.historyOf(webhookId, 1);
  answer(500);
  await delivery.createSites(1);
  await delivery.historyOf(webhookId, 2);
  expect(await delivery.webhook(webhookId)).toMatchObject({ is_enabled: true, failing_since: expect.any(String) });
  await failSince('4 days 23 hours');
  await delivery.createSites(1);
  await delivery.historyOf(webhookId, 5);
  expect(await delivery.webhook(webhookId)).toMatchObject({ is_enabled: true });
  await failSince('5 days');
  await delivery.createSites(1);
  expect(await isDisabled(webhookId)).toMatchObject({
    disabled_reason: 'nothing could be delivered for 5 days.',
    failing_since: null,
  });
  expect((await mails()).map(({ to }) => to)).toEqual(['fleur@north.example', 'karl@north.example']);
});

test('webhook delivery: a full backlog drops messages, and one history entry counts them (R-I5)', async () => {
  const { url, answer, received } = await receiver();
  answer(500);
  const webhookId = await delivery.addWebhook(url);
  for (let round = 0; round < 6; round += 1) await delivery.createSites(10);
  const pending = async () => {
    const { rows } = await delivery.api.database.query<{ count: number }>(
      `select count(*) as count from webhook_attempt where webhook_id = $1 and state = 'Pending'`,
      [webhookId],
    );
    return rows[0]?.count ?? 0;
  };
  expect(await pending()).toBeLessThanOrEqual(MAX_PENDING);
  const gaps = () => delivery.historyOf(webhookId, 1).then((rows) => rows.filter(({ attempt }) => attempt === 0));
  const [gap, ...others] = await gaps();
  expect(others).toEqual([]);
  expect(gap).toMatchObject({
    state: 'Failed',
    error: expect.stringMatching(
      /^40 messages from 2\S+Z to 2\S+Z were dropped: the maximum of 20 waiting messages was reached$/,
    ),
  });
  // When the receiver answers 200 again, the backlog is sent. After that, new messages are accepted.
  answer(200);
  await eventually('the backlog to be sent', async () => {
    // Repeats the statement, because an attempt in flight during the statement may fail and postpone its message again.
    await delivery.api.database.query(
      `update webhook_attempt set due_date = now() where webhook_id = $1 and state = 'Pending' and due_date > now()`,
      [webhookId],
    );
    return (await pending()) === 0;
  });
  const before = received.length;
  await eventually('a later message', async () => {
    await delivery.createSites(1);
    return received.length > before;
  });
  expect(await delivery.webhook(webhookId)).toMatchObject({ gap_event_id: null });
  expect((await gaps()).length).toBe(1);
}, 30_000);

test('webhook history: the purge deletes trial sends after 24 hours, and messages after 30 days unless they are still waiting (R-I5, R-I7)', async () => {
  const { url, answer } = await receiver();
  const webhookId = await delivery.addWebhook(url);
  await delivery.createSites(2);
  await delivery.historyOf(webhookId, 2);
  answer(500);
  await delivery.createSites(1);
  await delivery.historyOf(webhookId, 4);
  const { database, accountId } = delivery.api;
  const age = (ago: string, index: number) =>
    database.query(
      `update webhook_event set created_date = now() - $1::interval
       where id = (select id from webhook_event where webhook_id = $2 order by date offset $3 limit 1)`,
      [ago, webhookId, index],
    );
  await age('29 days 23 hours', 0);
  await age('30 days 1 hour', 1);
  await age('40 days', 2);
  for (const ago of ['23 hours 59 minutes', '24 hours 1 minute']) {
    await database.query(
      `insert into webhook_test (account_id, webhook, data, created_date) values ($1, '{}', '{}', now() - $2::interval)`,
      [accountId, ago],
    );
  }
  await purgeHistory(database, 30, () => false);
  const history = await delivery.historyOf(webhookId, 3);
  expect(history.map(({ state }) => state)).toEqual(['Succeeded', 'Failed', 'Failed', 'Pending']);
  expect((await database.query('select from webhook_test')).rowCount).toBe(1);
});
