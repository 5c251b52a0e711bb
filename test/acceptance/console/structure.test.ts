/**
 * Sites, sources and variables in the console, from creation to deletion, and the settings: forms, catalogues,
 * retention.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConsoleStack, openConsoleStack, USER } from '../../support/console/console-stack.ts';
import { eventually } from '../../support/eventually.ts';
import { MANAGER } from '../../support/fixtures/sign-in.ts';
import { createStructure } from '../../support/fixtures/structure.ts';

/** Time-out of the first test, which takes 8 s alone and 24 s while three other browsers run. */
const LONG_MS = 90_000;

let stack: ConsoleStack;
beforeAll(async () => {
  stack = await openConsoleStack();
}, 90_000);
afterAll(() => stack?.close());

test(
  'console structure: a site, a source and a variable are created without the mouse, then deleted; the draft of the site survives a reload (R-C4, R-C7)',
  async () => {
    const { page, complaints, close } = await stack.open(MANAGER);
    await page.getByRole('link', { name: 'Create the first site' }).press('Enter');
    await page.getByRole('textbox', { name: 'Name' }).fill('Bakery');
    await page.getByRole('combobox', { name: 'Time zone' }).fill('Brussels');
    await page.getByRole('option', { name: 'Europe/Brussels' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.reload();
    await page.getByText('Not saved yet').waitFor();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Bakery');
    await page.getByRole('textbox', { name: 'Name' }).press('Enter');
    await page.getByRole('heading', { name: 'Bakery' }).waitFor();

    await page.getByRole('link', { name: 'New source' }).press('Enter');
    // Waits for the next page, because the current page also has a field "Name".
    await page.getByRole('heading', { name: 'New source' }).waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('Main meter');
    await page.getByRole('textbox', { name: 'Serial number', exact: true }).fill('B-1');
    await page.getByRole('button', { name: 'Create the source' }).press('Enter');
    await page.getByRole('link', { name: 'New variable' }).press('Enter');
    await page.getByRole('heading', { name: 'New variable' }).waitFor();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Energy');
    await page.getByRole('textbox', { name: 'Mapping name' }).fill('kWh');
    await page.getByRole('textbox', { name: 'One reading every' }).fill('15');
    await page.getByLabel('Time unit').selectOption('Minute');
    await page.getByRole('button', { name: 'Create the variable' }).press('Enter');
    await page.getByRole('heading', { name: 'Energy' }).waitFor();
    const [variable] = await stack.manager.call<Record<string, unknown>[]>('GET', '/variables');
    expect(variable).toMatchObject({
      name: 'Energy',
      mappingConfig: 'kWh',
      granularity: 15,
      granularityTimeBase: 'Minute',
    });
    const [site] = await stack.manager.call<Record<string, unknown>[]>('GET', '/sites');
    expect(site).toMatchObject({ name: 'Bakery', timeZoneId: 'Europe/Brussels' });

    await page.getByRole('link', { name: 'Bakery' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alert').getByText('cannot be deleted while it has sources (1)').waitFor();
    await page.getByRole('button', { name: 'Also delete all contents' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Also delete all contents' }).click();
    await page.getByText(/^Bakery was deleted/).waitFor();
    expect(await stack.manager.call('GET', '/variables')).toEqual([]);
    expect(complaints.filter((text) => !text.includes('409'))).toEqual([]);
    await close();
  },
  LONG_MS,
);

test('console structure: saving a site sends only the changed members, and keeps the part of `clientData` that no form describes (R-C11)', async () => {
  const clientData = { free: [1, 2], Contract: { Terms: { Power: 10 } } };
  const siteId = await stack.manager.call<number>('POST', '/sites', { name: 'Mill', city: 'Ghent', clientData });
  const fields = [
    { name: 'Power', type: 'Double', minimum: 0, maximum: 100, isRequired: true },
    {
      name: 'Tariff',
      type: 'String',
      isList: true,
      items: [{ name: 'Day and night', value: 'dual' }, { value: 'single' }],
    },
    { name: 'Green', type: 'Boolean' },
  ];
  await stack.manager.call('POST', '/form', {
    name: 'Contract',
    entityType: 'Site',
    groups: [{ name: 'Terms', fields }],
  });
  const { page, complaints, close } = await stack.open(MANAGER, `/console/sites/${siteId}`);
  const power = page.getByRole('group', { name: 'Terms' }).getByLabel('Power');
  await power.fill('1000');
  await page.getByLabel('Tariff').selectOption({ label: 'Day and night' });
  await page.getByLabel('Green').selectOption('false');
  await stack.manager.call('PUT', `/sites/${siteId}`, { city: 'Bruges' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').getByText('must be at most 100').first().waitFor();
  await power.fill('42,5');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  const stored = await stack.manager.call<object>('GET', `/sites/${siteId}`);
  const Terms = { Power: 42.5, Tariff: 'dual', Green: false };
  expect(stored).toMatchObject({ city: 'Bruges', clientData: { free: [1, 2], Contract: { Terms } } });
  expect(complaints.filter((text) => !text.includes('400'))).toEqual([]);
  await close();

  const reader = await stack.open(USER, '/console/sites/new');
  await reader.page.getByText('Only managers and administrators can open this page.').waitFor();
  await reader.close();
});

test('console settings: a MANAGER creates a form, whose draft survives a reload, and adds a unit to the account (R-C8)', async () => {
  const { page, complaints, close } = await stack.open(MANAGER, '/console/settings?tab=forms&form=new');
  await page.getByLabel('Name', { exact: false }).first().fill('Calibration');
  await page.getByLabel('For', { exact: true }).selectOption('Variable');
  await page.getByLabel('Name of the group').fill('Last');
  await page.getByRole('textbox', { name: 'Field' }).fill('Drift');
  await page.getByLabel('Type').selectOption('Double');
  await page.getByLabel('Maximum').fill('5');
  await page.reload();
  await page.getByText('Not saved yet').waitFor();
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await page.getByText('Nothing has values for this form yet.').waitFor();
  const [form] = await stack.manager.call<object[]>('GET', '/form?name=Calibration');
  const field = { name: 'Drift', type: 'Double', maximum: 5 };
  expect(form).toMatchObject({ entityType: 'Variable', groups: [{ name: 'Last', fields: [field] }] });

  await page.getByRole('link', { name: 'Catalogues' }).press('Enter');
  await page.getByRole('textbox', { name: 'Name' }).fill('furlong per fortnight');
  await page.getByRole('textbox', { name: 'Symbol' }).fill('fur/ftn');
  await page.getByRole('combobox', { name: 'Family', disabled: false }).press('ArrowDown');
  await page.getByRole('listbox').getByRole('option').first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('cell', { name: 'fur/ftn' }).waitFor();
  const units = await stack.manager.call<{ id: number; symbol: string }[]>('GET', '/units');
  expect(units.find(({ symbol }) => symbol === 'fur/ftn')?.id).toBeGreaterThanOrEqual(1_000_000_000);
  expect(complaints).toEqual([]);
  await close();
});

test('console settings: retention can be activated only after a preview; a preview with incomplete counts says so, not "nothing would be deleted"', async () => {
  const { variableId } = await createStructure(stack.manager);
  await stack.manager.call('POST', '/api/data', [{ variableId, data: [{ date: '2001-05-01T00:00:00Z', value: 1 }] }]);
  await eventually('the old point', async () => {
    const rows = await stack.manager.call<unknown[]>('GET', `/data?variableId=${variableId}`);
    return rows.length === 1;
  });
  const { page, complaints, close } = await stack.open(MANAGER, '/console/settings?tab=retention');
  await page.getByText('The account has no policy. Only an active policy of a variable replaces points.').waitFor();
  await page.getByLabel('Keep every point for (years)').fill('3');
  await page.getByRole('switch').press('Space');
  await page.getByText('Preview the deletion first.').waitFor();
  expect(await page.getByRole('button', { name: 'Save and activate' }).count()).toBe(0);
  const preview = (url: URL) => url.pathname === '/account/retention/preview';
  const counts = { variableCount: 0, pointCount: 0, versionCount: 0, rollupCount: 0, firstDate: null };
  const dates = { boundary: '2023-03-01T00:00:00Z', countedUntil: '2001-01-01T00:00:00Z' };
  await page.route(preview, (route) => route.fulfill({ json: { ...counts, ...dates, isComplete: false } }));
  await page.getByRole('button', { name: 'Preview the deletion' }).click();
  await page.getByText(/^Counting took too long: points from 1 Jan 2001.* on are not counted\.$/).waitFor();
  expect(await page.getByText('nothing would be deleted').count()).toBe(0);
  await page.unroute(preview);
  await page.getByRole('button', { name: 'Preview the deletion' }).click();
  await page.getByText(/: 1 point and 0 older versions of 1 variable\./).waitFor();
  await page.getByRole('button', { name: 'Save and activate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save and activate' }).click();
  await page.getByText(/^Active since/).waitFor();
  const state = await stack.manager.call<object>('GET', '/account/retention');
  expect(state).toMatchObject({ retention: { keepRawYears: 3, rollup: 'Day', isActive: true } });
  expect(complaints).toEqual([]);
  await close();
});
