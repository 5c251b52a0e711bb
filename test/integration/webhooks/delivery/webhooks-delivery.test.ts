/** Tests deliveries to receivers that accept messages, refuse messages, or recover after failures (R-I3). */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openReceiver, type WebhookReceiver } from '../../../support/doubles/webhook-receiver.ts';
import { eventually } from '../../../support/eventually.ts';
import { createSite } from '../../../support/fixtures/structure.ts';
import { type Delivery, startDelivery } from './webhooks-delivery-fixture.ts';

let delivery: Delivery;
const receivers: WebhookReceiver[] = [];

beforeAll(async () => {
  delivery = await startDelivery();
}, 60_000);
afterAll(() => delivery?.close());
afterEach(async () => {
  await delivery.api.database.query('delete from webhook');
  for (const receiver of receivers.splice(0)) await receiver.close();
});

async function receiver(secret?: string): Promise<WebhookReceiver> {
  const opened = await openReceiver(secret);
  receivers.push(opened);
  return opened;
}

test('webhook delivery: a message is signed, has type, timestamp, account and data, and enters the history (R-I3, R-I5)', async () => {
  const { url, waitFor } = await receiver();
  const webhookId = await delivery.addWebhook(url);
  const before = Date.now();
  const siteId = await createSite(delivery.api.manager, { name: 'Mill' });
  await delivery.api.parts.outbox.relay();
  const [message] = await waitFor(1);
  expect(message?.body).toEqual({
    type: 'SiteCreated',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
    accountId: delivery.api.accountId,
    data: { id: siteId, name: 'Mill' },
  });
  expect(Math.abs(Date.parse(message?.body.timestamp ?? '') - before)).toBeLessThan(30_000);
  const [tried] = await delivery.historyOf(webhookId, 1);
  expect(tried).toMatchObject({ attempt: 1, state: 'Succeeded', status: 200, error: null, eventId: message?.id });
  expect(await delivery.webhook(webhookId)).toMatchObject({
    ...{ success_count: 1, failure_count: 0, last_attempt_state: 'Succeeded', failing_since: null },
  });
});

test('webhook delivery: each of 150 messages is sent once and arrives nearly in the order of the events (R-I3, R-I8)', async () => {
  const { url, waitFor, received } = await receiver();
  await delivery.addWebhook(url);
  await delivery.createSites(150);
  await waitFor(150);
  const ids = received.map(({ body }) => (body.data as { id: number }).id);
  expect([ids.length, new Set(ids).size]).toEqual([150, 150]);
  // Eight attempts run concurrently, so messages may overtake each other.
  const positions = ids
    .toSorted((one, other) => one - other)
    .map((id, position) => Math.abs(ids.indexOf(id) - position));
  expect(Math.max(...positions)).toBeLessThan(16);
});

test('webhook delivery: a failed message is retried with back-off under the same id until it succeeds (R-I3)', async () => {
  const { url, answer, waitFor } = await receiver();
  answer(500, 503, 200);
  const webhookId = await delivery.addWebhook(url);
  await delivery.createSites(1);
  const tries = await waitFor(3);
  expect(new Set(tries.map(({ id }) => id)).size).toBe(1);
  const pauses = tries.slice(1).map(({ atMs }, index) => atMs - (tries[index]?.atMs ?? 0));
  for (const pause of pauses) expect(pause).toBeGreaterThan(290);
  expect(await delivery.historyOf(webhookId, 3)).toMatchObject([
    { attempt: 1, state: 'Failed', status: 500, nextAttemptDate: expect.any(String) },
    { attempt: 2, state: 'Failed', status: 503, nextAttemptDate: expect.any(String) },
    { attempt: 3, state: 'Succeeded', status: 200, nextAttemptDate: null },
  ]);
});

test('webhook delivery: a message is given up after the last retry (R-I3)', async () => {
  const { url, answer, received } = await receiver();
  answer(500);
  const webhookId = await delivery.addWebhook(url);
  await delivery.createSites(1);
  const history = await delivery.historyOf(webhookId, 3);
  expect(history.map(({ attempt, state }) => [attempt, state])).toEqual(
    [1, 2, 3].map((attempt) => [attempt, 'Failed']),
  );
  expect(history.at(-1)).toMatchObject({ nextAttemptDate: null });
  expect(received).toHaveLength(3);
});

test('webhook delivery: a redirect is a failure and is not followed (R-I3)', async () => {
  const [target, redirecting] = [await receiver(), await receiver()];
  redirecting.answer({ status: 307, headers: { location: target.url } });
  const webhookId = await delivery.addWebhook(redirecting.url);
  await delivery.createSites(1);
  expect(await delivery.historyOf(webhookId, 3)).toMatchObject([{ state: 'Failed', status: 307 }, {}, {}]);
  expect(target.received).toEqual([]);
});

test('webhook delivery: if the receiver does not respond within the time-out, the attempt fails, and its error names the time-out (R-I3)', async () => {
  const { url, answer, waitFor } = await receiver();
  answer('hang', 200);
  const webhookId = await delivery.addWebhook(url);
  await delivery.createSites(1);
  await waitFor(2);
  const [first] = await delivery.historyOf(webhookId, 2);
  expect(first).toMatchObject({
    state: 'Failed',
    status: null,
    error: 'the receiver did not respond within 1.5 s',
  });
  expect(first?.durationMs).toBeGreaterThan(1400);
});

test.each([
  ['seconds', () => '2'],
  ['a date', () => new Date(Date.now() + 3000).toUTCString()],
])('webhook delivery: Retry-After given as %s delays every message to the receiver (R-I3)', async (_, retryAfter) => {
  const { url, answer, waitFor } = await receiver();
  const header = retryAfter();
  answer({ status: 429, headers: { 'retry-after': header } }, 200);
  const webhookId = await delivery.addWebhook(url);
  await delivery.createSites(1);
  const [refused] = await waitFor(1);
  await delivery.historyOf(webhookId, 1);
  await delivery.createSites(1);
  const all = await waitFor(3);
  // The next message must not arrive before `allowedMs`. The 50 ms allow for a difference between the clocks of
  // Date.now() and performance.now().
  const allowedMs = header === '2' ? (refused?.atMs ?? 0) + 2000 : Date.parse(header) - performance.timeOrigin - 50;
  const lateMs = (all[1]?.atMs ?? 0) - allowedMs;
  expect(lateMs).toBeGreaterThan(0);
  expect(lateMs).toBeLessThan(3500);
});

test('webhook delivery: a changed URL and secret apply from the next attempt on (R-I3)', async () => {
  const otherSecret = `whsec_${Buffer.from('a secret that only the other knows').toString('base64')}`;
  const [former, latter] = [await receiver(), await receiver(otherSecret)];
  former.answer(500);
  const webhookId = await delivery.addWebhook(former.url);
  await delivery.createSites(1);
  await former.waitFor(1);
  const { status } = await delivery.api.manager.put(`/account/webhooks/${webhookId}`, {
    ...{ name: 'hook', url: latter.url, eventType: 'SiteCreated', secret: otherSecret },
  });
  expect(status).toBe(200);
  const [message] = await latter.waitFor(1);
  expect(message?.id).toBe(former.received[0]?.id);
  expect(latter.forged).toEqual([]);
});

test('webhook delivery: a disabled webhook gets no messages; once it is enabled again, it gets messages of later events only (R-I1)', async () => {
  const { url, answer, received } = await receiver();
  answer(500);
  const webhookId = await delivery.addWebhook(url);
  await delivery.createSites(1);
  await delivery.historyOf(webhookId, 1);
  const change = (isEnabled: boolean) =>
    delivery.api.manager.patch(`/account/webhooks/${webhookId}`, [
      { op: 'replace', path: '/isEnabled', value: isEnabled },
    ]);
  expect((await change(false)).status).toBeLessThan(300);
  await eventually('the end of waiting messages', async () =>
    (await delivery.historyOf(webhookId, 1)).every(({ state }) => state === 'Failed'),
  );
  const tries = received.length;
  await delivery.createSites(2);
  answer(200);
  expect((await change(true)).status).toBeLessThan(300);
  await delivery.createSites(1);
  await eventually('the later message', async () => received.length > tries && true);
  expect(received).toHaveLength(tries + 1);
  expect((await delivery.historyOf(webhookId, 3)).filter(({ state }) => state === 'Pending')).toEqual([]);
});

test('webhook delivery: no message is lost when the deliverer restarts (R-K2)', async () => {
  const { url, answer, waitFor, received } = await receiver();
  answer('hang', 200);
  await delivery.addWebhook(url);
  await delivery.createSites(20);
  await waitFor(1);
  await delivery.restart();
  await eventually('all messages', async () => new Set(received.map(({ id }) => id)).size === 20);
});
