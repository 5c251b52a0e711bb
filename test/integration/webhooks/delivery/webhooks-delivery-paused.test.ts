/**
 * Tests the delivery of a paused webhook. Replays are sent in spite of the pause. A search for due attempts reads only
 * a few rows, however many attempts wait for the end of the pause (R-I3, R-I5).
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withTransaction } from '../../../../src/platform/database/database.ts';
import { claimAttempts } from '../../../../src/webhooks/delivery/claim-attempts.ts';
import { openReceiver, type WebhookReceiver } from '../../../support/doubles/webhook-receiver.ts';
import { addDueMessages } from '../../../support/fixtures/webhooks.ts';
import { type Delivery, startDelivery } from './webhooks-delivery-fixture.ts';

let delivery: Delivery;
let receiver: WebhookReceiver;
beforeAll(async () => {
  delivery = await startDelivery();
  receiver = await openReceiver();
}, 60_000);
afterAll(async () => {
  await delivery?.close();
  await receiver?.close();
});

async function addPaused(waiting: number): Promise<string> {
  const webhookId = await delivery.addWebhook(receiver.url);
  const { database } = delivery.api;
  await database.query(`update webhook set paused_until = now() + interval '1 day' where id = $1`, [webhookId]);
  await addDueMessages(database, webhookId, waiting);
  return webhookId;
}

test('webhook delivery: a replay is sent although its webhook is paused and the wake-up of the deliverer was lost (R-I5, R-K3)', async () => {
  const webhookId = await addPaused(2);
  const { rows } = await delivery.api.database.query<{ eventId: string }>(
    `insert into webhook_attempt (event_id, webhook_id, attempt, is_replay)
     select event_id, webhook_id, 2, true from webhook_attempt where webhook_id = $1 limit 1
     returning event_id as "eventId"`,
    [webhookId],
  );
  const [messages] = await receiver.waitFor(1);
  expect(messages?.id).toBe(rows[0]?.eventId);
  const ended = await delivery.historyOf(webhookId, 1);
  expect(ended.filter(({ state }) => state === 'Pending')).toHaveLength(2);
  expect(receiver.received).toHaveLength(1);
});

test('webhook delivery: a search for due attempts of a paused webhook reads only a few of the waiting attempts (R-I3)', async () => {
  const webhookId = await addPaused(3000);
  const read = await withTransaction(delivery.api.database, async (transaction) => {
    expect(await claimAttempts(transaction, webhookId, 8, 1000)).toEqual([]);
    const { rows } = await transaction.query<{ count: number }>(
      `select seq_tup_read + idx_tup_fetch as count from pg_stat_xact_user_tables where relname = 'webhook_attempt'`,
    );
    return rows[0]?.count;
  });
  expect(read).toBeLessThan(100);
});
