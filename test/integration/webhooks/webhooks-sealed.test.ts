/**
 * The secrets and headers of webhooks are encrypted at rest (R-I1, R-I3). `admin rotate-webhook-keys` encrypts all
 * secrets and headers again with a new key.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runAdmin } from '../../../src/roles/admin-role.ts';
import { startDelivererRole } from '../../../src/roles/deliverer-role.ts';
import type { Role } from '../../../src/roles/parts.ts';
import { openReceiver, SECRET, type WebhookReceiver } from '../../support/doubles/webhook-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { createWebhook } from '../../support/fixtures/webhooks.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const [OLD, NEW] = ['old', 'new'].map((id) => `${id}:${randomBytes(32).toString('base64')}`) as [string, string];
const SETTINGS = { WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8', SWEEP_INTERVAL_MS: '300' };
const HEADERS = { Authorization: 'Bearer of-the-receiver' };

let api: TestApi;
let receiver: WebhookReceiver;
let deliverer: Role;
beforeAll(async () => {
  api = await startTestApi({ ...SETTINGS, WEBHOOK_KEYS: OLD });
  receiver = await openReceiver();
  deliverer = await startDelivererRole(api.parts);
}, 60_000);
afterAll(async () => {
  await deliverer?.stop();
  await receiver?.close();
  await api?.close();
});

/** @returns all that the tables `webhook` and `webhook_test` store, as one text. */
async function stored(): Promise<string> {
  const { rows } = await api.database.query<{ text: string }>(
    `select (select json_agg(webhook)::text from webhook) || coalesce((select json_agg(webhook_test)::text from webhook_test), '')
       as text`,
  );
  return rows[0]?.text ?? '';
}

const fields = () => ({
  name: 'sealed',
  url: receiver.url,
  eventType: 'SiteCreated',
  secret: SECRET,
  headers: HEADERS,
});
const site = () => api.manager.post('/sites', { name: 'Mill', timeZoneId: 'UTC' });

/** Creates a site and waits until a webhook message with a valid signature arrives. @returns the message's headers. */
async function deliver(): Promise<Readonly<Record<string, string>>> {
  const before = receiver.received.length;
  expect((await site()).status).toBe(200);
  await receiver.waitFor(before + 1);
  return receiver.received[before]?.headers ?? {};
}

const rotate = (WEBHOOK_KEYS: string) =>
  runAdmin(
    { ...api.parts.config, WEBHOOK_KEYS: toKeys(WEBHOOK_KEYS) },
    api.parts.log,
    ['rotate-webhook-keys'],
    process.env,
  );

const toKeys = (text: string) =>
  text.split(',').map((one) => {
    const [id = '', base64 = ''] = one.split(':');
    return { id, key: Buffer.from(base64, 'base64') };
  });

test('encrypted webhook secrets and headers stay usable when `admin rotate-webhook-keys` changes the key (R-I1, R-I3, R-I7)', async () => {
  const made = await createWebhook(api.manager, fields());
  expect(made).toMatchObject({ headers: HEADERS });
  expect(made).not.toHaveProperty('secret');
  await api.manager.post('/account/webhooks/test', { ...fields(), data: {} });
  await receiver.waitFor(1);
  await eventually('the end of the trial', async () => {
    const { rowCount } = await api.database.query(`select from webhook_test where state = 'Succeeded'`);
    return rowCount === 1;
  });
  const texts = await stored();
  expect(texts).toContain('sealed:1:old:');
  for (const plain of ['whsec_', 'of-the-receiver']) expect(texts).not.toContain(plain);
  expect(await deliver()).toMatchObject({ authorization: HEADERS.Authorization });

  // A row stored before WEBHOOK_KEYS was set is in clear text: deliveries use it, and rotate-webhook-keys encrypts it.
  await api.database.query(`update webhook set secret = $1, headers = $2`, [SECRET, JSON.stringify(HEADERS)]);
  expect(await deliver()).toMatchObject({ authorization: HEADERS.Authorization });
  await rotate(`${NEW},${OLD}`);
  const renewed = await stored();
  expect(renewed).toContain('sealed:1:new:');
  for (const plain of ['whsec_', 'of-the-receiver', 'sealed:1:old:']) expect(renewed).not.toContain(plain);

  await deliverer.stop();
  // The row of a deleted webhook has credentials until a deliverer purges the row. No deliverer runs here.
  const { id } = await createWebhook(api.manager, fields());
  expect(await stored()).toContain('sealed:1:old:');
  await api.database.query('update webhook set deleted_date = now(), is_enabled = false where id = $1', [id]);
  await rotate(`${NEW},${OLD}`);
  expect(await stored()).not.toContain('sealed:1:old:');
  const config = { ...api.parts.config, WEBHOOK_KEYS: toKeys(NEW) };
  deliverer = await startDelivererRole({ ...api.parts, config });
  expect(await deliver()).toMatchObject({ authorization: HEADERS.Authorization });
  expect(receiver.forged).toEqual([]);
});
