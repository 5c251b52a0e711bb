/** Replay from request to delivery: the receiver gets the same message again, under the same id (R-I5). */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openReceiver, type WebhookReceiver } from '../../support/doubles/webhook-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { type Delivery, startDelivery } from './delivery/webhooks-delivery-fixture.ts';

interface Entry {
  readonly id: string;
  readonly eventId: string;
  readonly attempt: number;
  readonly isReplay: boolean;
  readonly state: string;
  readonly nextAttemptDate?: string;
}

let delivery: Delivery;
let receiver: WebhookReceiver;
beforeAll(async () => {
  delivery = await startDelivery();
}, 60_000);
afterAll(() => delivery.close());

beforeEach(async () => {
  receiver = await openReceiver();
  return () => receiver.close();
});

const pathOf = (webhookId: string) => `/account/webhooks/${webhookId}/history`;
const read = async (webhookId: string) => (await delivery.api.manager.get<readonly Entry[]>(pathOf(webhookId))).body;

/**
 * Waits until the history of a webhook has at least `count` entries and no entry is Pending.
 * @returns the entries of the history.
 */
const ended = (webhookId: string, count: number) =>
  eventually(`${count} attempts`, async () => {
    const entries = await read(webhookId);
    return entries.length >= count && entries.every(({ state }) => state !== 'Pending') && entries;
  });

async function replay(webhookId: string, entry: Entry | undefined): Promise<void> {
  const { status } = await delivery.api.manager.post(`${pathOf(webhookId)}/${entry?.id}/replay`, undefined);
  expect(status).toBe(200);
}

test('webhook replay: sends the same message again under the same id (R-I3, R-I5)', async () => {
  const webhookId = await delivery.addWebhook(receiver.url);
  await delivery.createSites(1);
  const [first] = await ended(webhookId, 1);
  await replay(webhookId, first);
  const [again, before] = await receiver.waitFor(2);
  expect(again?.id).toBe(before?.id);
  expect(again?.body).toEqual(before?.body);
  expect(await ended(webhookId, 2)).toMatchObject([
    { attempt: 2, isReplay: true, state: 'Succeeded', eventId: first?.eventId },
    { attempt: 1, isReplay: false, state: 'Succeeded' },
  ]);
});

test('webhook replay: after the last retry of a message has failed, each replay is one attempt, without retries (R-I5)', async () => {
  receiver.answer(500);
  const webhookId = await delivery.addWebhook(receiver.url);
  await delivery.createSites(1);
  const [last] = await ended(webhookId, 3);
  await replay(webhookId, last);
  const [failed] = await ended(webhookId, 4);
  expect(failed).toMatchObject({ attempt: 4, isReplay: true, state: 'Failed' });
  expect(failed).not.toHaveProperty('nextAttemptDate');
  receiver.answer(200);
  await replay(webhookId, failed);
  expect((await ended(webhookId, 5))[0]).toMatchObject({ attempt: 5, state: 'Succeeded' });
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
});
