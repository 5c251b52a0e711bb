/**
 * Messages that wait for a receiver that is down must not noticeably delay messages of other webhooks and accounts
 * (R-I5, R-I8).
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Transaction, withTransaction } from '../../../../src/platform/database/database.ts';
import { openBacklogLimit } from '../../../../src/webhooks/fan-out/backlog-limit.ts';
import { openDropRecorder } from '../../../../src/webhooks/fan-out/drop-recorder.ts';
import { addDueMessages } from '../../../support/fixtures/webhooks.ts';
import { startTestApi, type TestApi } from '../../../support/services/start-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
}, 60_000);
afterAll(() => api?.close());

async function addWebhooks(count: number): Promise<readonly string[]> {
  const { rows } = await api.database.query<{ id: string }>(
    `insert into webhook (account_id, name, url, event_type, secret)
     select $1, 'down', 'https://receiver.example', 'SiteCreated', 'whsec_' from generate_series(1, $2) returning id`,
    [api.accountId, count],
  );
  return rows.map(({ id }) => id);
}

/** @returns the number of statements that `work` executed. */
async function countStatements(work: (transaction: Transaction) => Promise<unknown>): Promise<number> {
  return withTransaction(api.database, async (transaction) => {
    let count = 0;
    const query = (...values: Parameters<Transaction['query']>) => {
      count += 1;
      return transaction.query(...values);
    };
    await work(
      new Proxy(transaction, { get: (target, name) => (name === 'query' ? query : Reflect.get(target, name)) }),
    );
    return count;
  });
}

const messageOf = (minute: number) => ({
  ...{ accountId: api.accountId, type: 'SiteCreated', data: {} },
  date: `2026-03-01T00:0${minute}:00Z`,
});

test('webhook fan-out: dropping messages of a hundred webhooks takes at most four SQL statements and leaves one history entry per webhook (R-I5)', async () => {
  const webhookIds = await addWebhooks(100);
  const write = (minutes: readonly number[]) =>
    countStatements(async (transaction) => {
      const drops = openDropRecorder(transaction, 10);
      for (const minute of minutes) for (const id of webhookIds) drops.record(id, messageOf(minute));
      drops.record(webhookIds[0] ?? '', messageOf(9));
      await drops.write([]);
    });
  expect(await write([1, 2])).toBeLessThanOrEqual(4);
  await write([5]);
  const { rows } = await api.database.query<{ webhookId: string; error: string; isMarked: boolean }>(
    `select webhook_id as "webhookId", error, gap_event_id = event_id as "isMarked"
     from webhook_attempt join webhook on webhook.id = webhook_id where webhook_id = any($1)`,
    [webhookIds],
  );
  expect(rows).toHaveLength(100);
  for (const { webhookId, error, isMarked } of rows) {
    const [count, last] = webhookId === webhookIds[0] ? [5, 9] : [3, 5];
    const why = 'were dropped: the maximum of 10 waiting messages was reached';
    expect(error).toBe(`${count} messages from 2026-03-01T00:01:00Z to 2026-03-01T00:0${last}:00Z ${why}`);
    expect(isMarked).toBe(true);
  }
});

test('webhook fan-out: the history entry of a single dropped message uses the singular and gives the date of the message (R-I5)', async () => {
  const [webhookId = ''] = await addWebhooks(1);
  await withTransaction(api.database, async (transaction) => {
    const drops = openDropRecorder(transaction, 10);
    drops.record(webhookId, messageOf(1));
    await drops.write([]);
  });
  const { rows } = await api.database.query('select error from webhook_attempt where webhook_id = $1', [webhookId]);
  const error = '1 message of 2026-03-01T00:01:00Z was dropped: the maximum of 10 waiting messages was reached';
  expect(rows).toEqual([{ error }]);
});

test('webhook fan-out: the count of a backlog of 20,000 messages is cached for 6 s', async () => {
  const [webhookId = ''] = await addWebhooks(1);
  await addDueMessages(api.database, webhookId, 20_000);
  let nowMillis = 0;
  const backlog = openBacklogLimit(100_000, () => nowMillis);
  const measure = (millis: number) => {
    nowMillis = millis;
    return countStatements((transaction) => backlog.measure(transaction, [{ webhookId, isFull: false }]));
  };
  expect([await measure(0), await measure(5900), await measure(6100)]).toEqual([1, 0, 1]);
});

test('webhook fan-out: webhooks without a backlog accept messages, even when the cache of backlog counts is too small for all webhooks (R-I8)', async () => {
  const backlog = openBacklogLimit(10, () => 0);
  const hooks = (count: number) => Array.from({ length: count }, () => ({ webhookId: randomUUID(), isFull: false }));
  const known = hooks(10_001);
  const refused = await withTransaction(api.database, async (transaction) => {
    await backlog.measure(transaction, known);
    const all = [...known.slice(0, 10), ...hooks(1)];
    const capacity = await backlog.measure(transaction, all);
    return all.filter(({ webhookId }) => !capacity.tryTake(webhookId));
  });
  expect(refused).toEqual([]);
});
