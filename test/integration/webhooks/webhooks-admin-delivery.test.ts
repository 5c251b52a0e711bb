/** After a client has changed a webhook through the REST API, deliveries use the new configuration (R-I1, R-I3). */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openReceiver, type WebhookReceiver } from '../../support/doubles/webhook-receiver.ts';
import { createWebhook, secretOf } from '../../support/fixtures/webhooks.ts';
import { type Delivery, startDelivery } from './delivery/webhooks-delivery-fixture.ts';

let delivery: Delivery;
const receivers: WebhookReceiver[] = [];
beforeAll(async () => {
  delivery = await startDelivery();
}, 60_000);
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.close()));
  await delivery.close();
});

async function receiverOf(secret: string): Promise<WebhookReceiver> {
  const receiver = await openReceiver(secret);
  receivers.push(receiver);
  return receiver;
}

/** Changes settings of the webhook. Later deliveries use the new settings. */
async function put(id: string, members: object): Promise<void> {
  expect((await delivery.api.manager.put(`/account/webhooks/${id}`, members)).status).toBe(200);
}

it('webhook secret: after a change, deliveries are signed with the former and the new secret until the former secret expires (R-I3)', async () => {
  const { id, secret = '' } = await createWebhook(delivery.api.manager, { eventType: 'SiteCreated' });
  const [former, latter] = [await receiverOf(secret), await receiverOf(secretOf(32))];
  await put(id, { url: former.url });
  await delivery.createSites(1);
  await former.waitFor(1);
  await put(id, { secret: secretOf(32) });
  await delivery.createSites(1);
  const [, both] = await former.waitFor(2);
  expect(both?.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  await put(id, { url: latter.url });
  await delivery.createSites(1);
  await latter.waitFor(1);
  await delivery.api.database.query('update webhook set former_secret_until = now() where id = $1', [id]);
  await delivery.createSites(1);
  const [, alone] = await latter.waitFor(2);
  expect(alone?.headers['webhook-signature']?.split(' ')).toHaveLength(1);
  expect([former.forged, latter.forged]).toEqual([[], []]);
  await delivery.api.manager.delete(`/account/webhooks/${id}`);
});

it('webhook delivery: a changed webhook sends its new headers and template; a disabled or deleted webhook sends nothing (R-I1)', async () => {
  const receiver = await receiverOf(secretOf(24));
  const { id } = await createWebhook(delivery.api.manager, {
    ...{ url: receiver.url, eventType: 'SiteCreated', secret: secretOf(24), headers: { 'X-Place': 'before' } },
  });
  const path = `/account/webhooks/${id}`;
  const operations = [
    { op: 'replace', path: '/headers/X-Place', value: 'after' },
    { op: 'replace', path: '/bodyTemplate', value: '{"told": "{{type}}"}' },
  ];
  expect((await delivery.api.manager.patch(path, operations)).status).toBe(200);
  await delivery.createSites(1);
  const [message] = await receiver.waitFor(1);
  expect(message).toMatchObject({ headers: { 'x-place': 'after' }, body: { told: 'SiteCreated' } });
  await put(id, { isEnabled: false });
  await delivery.createSites(1);
  const other = await receiverOf(secretOf(24));
  await createWebhook(delivery.api.manager, { url: other.url, eventType: 'SiteCreated', secret: secretOf(24) });
  await put(id, { isEnabled: true });
  await delivery.createSites(1);
  await receiver.waitFor(2);
  await delivery.api.manager.delete(path);
  await delivery.createSites(1);
  // The fan-out of the last two events is complete when the other webhook has received both.
  await other.waitFor(2);
  expect(receiver.received).toHaveLength(2);
});
