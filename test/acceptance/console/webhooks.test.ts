/** The view "Webhooks" as people use it: a webhook is created and tested; a delivery appears and is sent again. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConsoleStack, openConsoleStack } from '../../support/console/console-stack.ts';
import { openReceiver, type WebhookReceiver } from '../../support/doubles/webhook-receiver.ts';
import { MANAGER } from '../../support/fixtures/sign-in.ts';
import { createStructure } from '../../support/fixtures/structure.ts';

let stack: ConsoleStack;
let receiver: WebhookReceiver;
let variableId: number;
beforeAll(async () => {
  [stack, receiver] = await Promise.all([openConsoleStack(), openReceiver()]);
  ({ variableId } = await createStructure(stack.manager, { name: 'Meter' }));
}, 90_000);
afterAll(async () => {
  await receiver?.close();
  await stack?.close();
});

test('console webhooks: a user can create and test a webhook; its deliveries appear without a reload and can be sent again (R-I1, R-I3)', async () => {
  const { page, complaints, close } = await stack.open(MANAGER, '/console/webhooks');
  await page.getByRole('button', { name: 'New webhook' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Ledger');
  await page.getByLabel('Address of the receiver').fill('nowhere');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').getByText('url').first().waitFor();
  await page.getByLabel('Address of the receiver').fill(receiver.url);
  await page.getByRole('combobox', { name: 'Variables' }).fill('met');
  await page.getByRole('option', { name: /^Meter/ }).click();
  await page.reload();
  await page
    .getByText(/^Meter · /)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Send a test message' }).click();
  await page.getByRole('region', { name: 'Test message' }).getByText('Delivered').waitFor();
  await page.getByText(`POST ${receiver.url}`).waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  const secret = page.getByRole('region', { name: 'Secret' });
  expect(await secret.locator('pre').textContent()).toMatch(/^whsec_/);
  const webhooks = await stack.manager.call<unknown[]>('GET', '/account/webhooks');
  expect(webhooks).toMatchObject([{ filter: { variableIds: [variableId] } }]);

  const point = { date: '2026-03-01T00:00:00Z', value: 1 };
  await stack.manager.call('POST', '/api/data', [{ variableId, data: [point] }]);
  const deliveries = page.getByRole('region', { name: 'Deliveries' }).first();
  const delivered = deliveries.getByRole('row').filter({ hasText: 'Delivered' });
  await delivered.first().getByRole('button', { name: 'Show' }).click();
  await deliveries.getByText('"type": "DataPointsWritten"').waitFor();
  await delivered.first().getByRole('button', { name: 'Send again' }).click();
  await delivered.filter({ hasText: 'sent again' }).waitFor();
  // The receiver's secret differs from the webhook's secret, so the receiver counts each message as forged.
  expect(receiver.forged).toHaveLength(3);
  expect(complaints.filter((text) => !text.includes('400'))).toEqual([]);
  await close();
});
