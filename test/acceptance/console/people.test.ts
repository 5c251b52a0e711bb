/** Tests the console views "People and access" and "Operate" in a browser. Only administrators see "Operate". */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN, type ConsoleStack, openConsoleStack, USER } from '../../support/console/console-stack.ts';
import { eventually } from '../../support/eventually.ts';
import { MANAGER } from '../../support/fixtures/sign-in.ts';
import { createStructure } from '../../support/fixtures/structure.ts';

let stack: ConsoleStack;
let variableId: number;
beforeAll(async () => {
  stack = await openConsoleStack();
  ({ variableId } = await createStructure(stack.manager));
}, 90_000);
afterAll(() => stack?.close());

test('console people: a manager finds a user and grants a push permission and a site; the audit trail lists both grants; a German page names the features in German (R-B8, R-B9)', async () => {
  const { page, complaints, close } = await stack.open(MANAGER, '/console/people');
  await page.getByRole('link', { name: USER }).click();
  const push = page.getByRole('switch', { name: /Can push through mappers/ });
  await push.press('Space');
  await page.locator('input[role=switch]:checked').waitFor({ state: 'attached' });
  await page.getByLabel('Site', { exact: true }).selectOption({ label: 'Mill' });
  await page.getByRole('button', { name: 'Grant' }).click();
  await page.getByRole('button', { name: 'Revoke' }).waitFor();
  const address = new URL(page.url());
  await page.getByLabel('First name').fill('Ursula');
  await page.reload();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Ursula' }).waitFor();
  await page.getByRole('link', { name: 'All users' }).click();
  await page.getByLabel('Search by first name, last name or email address').fill('ursula');
  await page.getByText('1 user', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Ursula' }).click();

  await page.getByRole('link', { name: 'Changes to this user' }).click();
  for (const action of ['User changed', 'Sites granted', 'Claims added'])
    await page.getByRole('cell', { name: action }).first().waitFor();
  await page.getByLabel('Action', { exact: true }).selectOption('SitesGranted');
  await page.getByText('1 entry').waitFor();
  expect(new URL(page.url()).searchParams.get('action')).toBe('SitesGranted');
  await page.getByLabel('Target', { exact: true }).fill('no such target');
  await page.getByText('No entry matches these filters.').waitFor();
  expect(complaints).toEqual([]);
  await close();

  const german = await stack.open(MANAGER, address.pathname + address.search, { locale: 'de-DE' });
  const features = german.page.getByRole('region', { name: 'Funktionen' });
  await features.getByLabel('Berechnungen').waitFor();
  expect(await features.getByLabel('Calculations').count()).toBe(0);
  await german.close();
});

test('console people: a manager invites a person, and deletes the invitation after a confirmation (R-B10)', async () => {
  const { page, complaints, close } = await stack.open(MANAGER, '/console/people?tab=invitations');
  await page.getByLabel('Email address').fill('ines@example.test');
  await page.getByLabel('Role').selectOption('MANAGER');
  expect(await page.getByLabel('Role').getByRole('option', { name: 'Administrator' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  await page.getByRole('cell', { name: 'ines@example.test' }).waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('cell', { name: 'ines@example.test' }).waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
  await close();
});

test('console people: a manager creates a user, limits the user to one source, and changes a claim of the user; unsaved fields survive a reload (R-B9, R-C3)', async () => {
  const { page, complaints, close } = await stack.open(MANAGER, '/console/people');
  await page.getByRole('button', { name: 'New user' }).press('Enter');
  await page.getByLabel('Email address').fill('nina@example.test');
  await page.getByLabel('First name').fill('Nina');
  await page.reload();
  await page.getByRole('button', { name: 'Create the user' }).click();
  await page.getByRole('link', { name: 'Nina' }).click();
  await page.getByLabel('Site', { exact: true }).selectOption({ label: 'Mill' });
  await page.getByRole('button', { name: 'Grant' }).click();
  await page.getByRole('button', { name: 'Choose sources' }).press('Enter');
  await page.getByRole('combobox', { name: 'Sources of Mill', disabled: false }).press('ArrowDown');
  await page.getByRole('listbox').getByRole('option').first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await page.getByRole('region', { name: 'Sites' }).getByRole('button', { name: 'Save' }).click();
  await page.getByText('(1 source)').waitFor();
  await page.getByLabel('Access to Mill').selectOption('Write');
  await page.getByLabel('Type').fill('department');
  await page.getByLabel('Value', { exact: false }).last().fill('north');
  await page.getByRole('button', { name: 'Add the claim' }).click();
  await page.getByLabel('Value of department').fill('south');
  await page.reload();
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  const users = await stack.manager.call<{ id: string; userName: string }[]>('GET', '/account/users');
  const { id } = users.find(({ userName }) => userName === 'nina@example.test') ?? { id: '' };
  await eventually('the changed claim', async () => {
    const user = await stack.manager.call<{ claims: { claimValue: string }[]; sites: object[] }>(
      'GET',
      `/account/user/${id}`,
    );
    expect(user.sites).toMatchObject([{ level: 'Write', sourceIds: [expect.any(Number)] }]);
    return user.claims[0]?.claimValue === 'south';
  });
  expect(complaints).toEqual([]);
  await close();
});

test('console people: an administrator creates a client, replaces its secret, disables and deletes the client; the new secret is shown until a reload (R-B3)', async () => {
  const { page, complaints, close } = await stack.open(ADMIN, '/console/people?tab=clients');
  await page.getByRole('cell', { name: 'tidemark-console' }).waitFor();
  await page.getByRole('cell', { name: 'Signs tokens' }).waitFor();
  await page.getByRole('button', { name: 'New client' }).press('Enter');
  await page.getByLabel('Client ID').fill('mill-import');
  await page.reload();
  await page.getByRole('button', { name: 'Create the client' }).click();
  const secret = page.getByRole('status', { name: 'Secret' }).locator('pre');
  const first = (await secret.textContent()) ?? '';
  await page.getByLabel('The old secret keeps working').selectOption('not at all');
  await page.getByRole('button', { name: 'Replace the secret' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Replace the secret' }).click();
  await page.getByText('Last replaced').waitFor();
  const second = (await secret.textContent()) ?? '';
  expect([first.length, second.length, first === second]).toEqual([32, 32, false]);
  await page.getByRole('link', { name: 'All clients' }).click();
  await page.getByRole('link', { name: 'mill-import' }).click();
  expect(await secret.textContent()).toBe(second);
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('button', { name: 'Enable' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'mill-import' }).waitFor();
  expect(await secret.count()).toBe(0);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('cell', { name: 'tidemark-console' }).waitFor();
  await page.getByRole('cell', { name: 'mill-import' }).waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
  await close();
});

test('console operate: an administrator sees the processes with their roles, the queues and the busiest accounts; a manager cannot open this page (R-B8)', async () => {
  await stack.manager.call('POST', '/api/data', [{ variableId, data: [{ date: '2026-03-01T00:00:00Z', value: 1 }] }]);
  const { page, complaints, close } = await stack.open(ADMIN, '/console/operate');
  await page.getByRole('row', { name: /api, ingester, calculator, deliverer/ }).waitFor();
  await page.getByRole('region', { name: 'Busiest accounts' }).getByRole('row', { name: /Test/ }).first().waitFor();
  await page.getByRole('row', { name: 'Batches of pushes waiting to be stored' }).waitFor();
  await page.getByRole('link', { name: 'People', exact: true }).click();
  await page.getByRole('link', { name: 'Clients and keys' }).click();
  await page.getByRole('cell', { name: /tidemark-console/ }).waitFor();
  expect(complaints).toEqual([]);
  await close();
  const manager = await stack.open(MANAGER, '/console/operate');
  await manager.page.getByText('Only an administrator of the installation can open this page.').waitFor();
  expect(await manager.page.getByRole('link', { name: 'Operate' }).count()).toBe(0);
  expect(manager.complaints).toEqual([]);
  await manager.close();
});
