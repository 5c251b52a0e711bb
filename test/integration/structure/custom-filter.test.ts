/** customFilter on sites and sources (R-C10, R-C4, R-C5). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSite, createSource } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  const north = await createSite(api.manager, {
    name: 'North Mill',
    city: 'Ghent',
    typeId: 3,
    clientData: { Form: { Energy: { 'Floor area': 120, Label: 'A' } } },
  });
  const south = await createSite(api.manager, {
    name: 'South 100% "Works"',
    city: null,
    clientData: { Form: { Energy: { 'Floor area': 80, Label: 'b' } } },
  });
  await createSource(api.manager, north, {
    name: 'Gas',
    serialNumber: 'G-1',
    energyTypeId: 2,
    tags: ['main', 'billing'],
  });
  await createSource(api.manager, south, { name: "Owner's power", serialNumber: 'P_1', energyTypeId: 1 });
  await createSource(api.manager, south, { name: 'Gas backup', serialNumber: 'G-2', energyTypeId: 2, tags: ['spare'] });
}, 60_000);
afterAll(() => api?.close());

async function names(path: string, filter: string): Promise<readonly string[]> {
  const answer = await api.manager.get<{ name: string }[]>(`${path}?customFilter=${encodeURIComponent(filter)}`);
  if (answer.status !== 200) throw new Error(`${filter}: ${JSON.stringify(answer.body)}`);
  return answer.body.map(({ name }) => name);
}

const [GAS, POWER, BACKUP] = ['Gas', "Owner's power", 'Gas backup'];

describe('structure: customFilter of sources (R-C10)', () => {
  test.each([
    ["name = 'Gas'", [GAS]],
    ["NAME = 'gas'", []],
    ["name <> 'Gas'", [POWER, BACKUP]],
    ["name != 'Gas' and energyTypeId = 2", [BACKUP]],
    ["name ~ 'GAS'", [GAS, BACKUP]],
    ["name LIKE 'back'", [BACKUP]],
    ["name !~ 'gas'", [POWER]],
    ["name startswith 'gas b'", [BACKUP]],
    ["name !startswith 'gas'", [POWER]],
    ["name = 'Owner''s power'", [POWER]],
    ["serialNumber ~ '_'", [POWER]],
    ["serialNumber = P_1 OR name='Gas'", [GAS, POWER]],
    ["name='Gas' OR name='Gas backup' AND energyTypeId=1", [GAS]],
    ["(name='Gas' OR name='Gas backup') AND energyTypeId=1", []],
    ['energyTypeId > 1', [GAS, BACKUP]],
    ['energyTypeId <= 1', [POWER]],
    ["tags = 'main'", [GAS]],
    ["tags ~ 'SPA'", [BACKUP]],
    ["tags <> 'main'", [POWER, BACKUP]],
    ["eanNumber <> 'x'", [GAS, POWER, BACKUP]],
    ["eanNumber = 'x'", []],
    ["Site{ city = 'Ghent' }", [GAS]],
    ["site{city = 'Ghent' or name ~ 'south'} and name ~ 'gas'", [GAS, BACKUP]],
    ["Site{Form.Energy.'Floor area' > 90}", [GAS]],
    ["siteName startswith 'south'", [POWER, BACKUP]],
  ])('`%s` selects %j', async (filter, expected) => {
    expect(await names('/sources', filter)).toEqual(expected);
  });
});

describe('structure: customFilter of sites (R-C10)', () => {
  test.each([
    ["Form.Energy.'Floor area' = 120", ['North Mill']],
    ["Form.Energy.'Floor area' < 9", []],
    ["clientData.Form.Energy.Label = 'b'", ['South 100% "Works"']],
    ["Form.Energy.Label ~ 'B'", ['South 100% "Works"']],
    ["Form.Energy.Label <> 'A'", ['South 100% "Works"']],
    ["Form.Energy.Unknown = 'A'", []],
    ["city <> 'Ghent'", ['South 100% "Works"']],
    ['typeId = 3', ['North Mill']],
    ["name ~ '0% \"w'", ['South 100% "Works"']],
    ["name ~ 'x'' or 1=1 --'", []],
  ])('`%s` selects %j', async (filter, expected) => {
    expect(await names('/sites', filter)).toEqual(expected);
  });
});

describe('structure: an invalid customFilter gets 400 with the position of the error (R-C10)', () => {
  test.each([
    ["nme = 'Gas'", 1, 'to filter by; a filter may use id, siteId, name, '],
    ["clientData = 'x'", 1, 'tags, siteName, paths such as clientData.Form.Group.Field'],
    ["name = 'Gas' and serial = 'x'", 18, 'no field'],
    ["name 'Gas'", 6, 'expected an operator'],
    ['name =', 7, 'expected a value'],
    ["(name = 'Gas'", 14, 'expected )'],
    ["name = 'Gas' )", 14, 'expected AND, OR or the end of the filter'],
    ["name = 'Gas", 8, 'the quote that begins here is not closed'],
    ["name  ! 'Gas'", 7, '"!" must be followed by "=", "~" or "startswith"'],
    ['= 3', 1, 'expected a field'],
    ["energyTypeId = 'two'", 16, 'must be a decimal number such as 12 or -1.5'],
    ['energyTypeId ~ 2', 16, 'not allowed for numbers'],
    ["tags > 'a'", 8, 'not allowed for lists'],
    ["Site{ Site{ name = 'x' } }", 7, 'not within another Site{…}'],
    [`${'('.repeat(60)}name = 'x'${')'.repeat(60)}`, 52, 'nested at most 50'],
  ])('`%s` at position %i: %s', async (filter, position, message) => {
    const answer = await api.manager.get(`/sources?customFilter=${encodeURIComponent(filter)}`);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', message: expect.stringContaining(`position ${position}: `) },
    });
    expect(JSON.stringify(answer.body)).toContain(JSON.stringify(message).slice(1, -1));
  });
});

test('structure: a customFilter selects no source of another account; x-total-count counts the sources that match (R-A5, R-A7)', async () => {
  const filter = encodeURIComponent("name <> 'x' or name = 'x'");
  expect((await api.stranger.get(`/sources?customFilter=${filter}`)).body).toEqual([]);
  const answer = await api.manager.get(`/sources?customFilter=${filter}&itemsPerPage=1`, { 'x-total-count': 'true' });
  expect(answer.headers.get('x-total-count')).toBe('3');
});
