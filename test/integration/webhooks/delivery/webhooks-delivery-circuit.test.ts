/** A receiver that is down gets one message at a time, as a probe; its other messages wait (R-I3, R-I5). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReceiver, type WebhookReceiver } from '../../../support/doubles/webhook-receiver.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Delivery, startDelivery } from './webhooks-delivery-fixture.ts';

const PROBE_MS = 1000;
const PARALLEL = 4;
const EVENTS = 40;

let delivery: Delivery;
let receiver: WebhookReceiver;
beforeAll(async () => {
  delivery = await startDelivery({ WEBHOOK_RETRY_SEC: '1,1,1', WEBHOOK_PARALLEL: String(PARALLEL) });
  receiver = await openReceiver();
}, 60_000);
afterAll(async () => {
  await delivery?.close();
  await receiver?.close();
});

test('webhook delivery: a receiver that is down gets one probe at a time; when it answers again, every message is delivered exactly once, under its own id (R-I3, R-I5)', async () => {
  receiver.answer(500);
  const webhookId = await delivery.addWebhook(receiver.url);
  await delivery.createSites(EVENTS);
  await eventually('the pause', async () => (await delivery.webhook(webhookId)).paused_until !== null);
  // Waits for the end of the requests that were still running when the circuit opened.
  await delivery.historyOf(webhookId, receiver.received.length);
  const before = receiver.received.length;
  expect(before).toBeLessThanOrEqual(2 * PARALLEL);
  const probes = (await receiver.waitFor(before + 3)).slice(before, before + 3);
  const gapsMs = probes.slice(1).map(({ atMs }, index) => atMs - (probes[index]?.atMs ?? 0));
  for (const gapMs of gapsMs) expect(gapMs).toBeGreaterThan(PROBE_MS / 2);
  const waiting = (await delivery.historyOf(webhookId, before + 3)).filter(({ state }) => state === 'Pending');
  expect(waiting.filter(({ attempt }) => attempt === 1).length).toBeGreaterThanOrEqual(EVENTS - 2 * PARALLEL - 4);

  receiver.answer(200);
  const isDone = async () => {
    const rows = await delivery.historyOf(webhookId, EVENTS);
    return rows.every(({ state }) => state !== 'Pending') && rows;
  };
  const rows = await eventually('every message to be delivered', isDone);
  const delivered = rows.filter(({ state }) => state === 'Succeeded').map(({ eventId }) => eventId);
  expect([delivered.length, new Set(delivered).size]).toEqual([EVENTS, EVENTS]);
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(EVENTS);
  expect(rows.length - EVENTS).toBe(receiver.received.length - EVENTS);
});
