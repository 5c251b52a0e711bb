/** Catalogues (such as units), the entries that accounts add to them, and reads in a requested unit (R-C8, R-G3). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

interface Unit {
  readonly id: number;
  readonly name: string;
  readonly symbol: string;
  readonly unitFamilyId: number;
  readonly divisor: number;
  readonly offset: number;
}

const [KWH, WH, MWH, KW, CELSIUS, FAHRENHEIT] = [8, 7, 9, 20, 95, 97];
const ENERGY = 2;

let api: TestApi;
let siteId: number;
let sourceId: number;

beforeAll(async () => {
  api = await startTestApi();
  ({ siteId, sourceId } = await createStructure(api.manager));
});
afterAll(() => api?.close());

async function withValues(unitId: number | null, values: readonly number[], members: object = {}): Promise<number> {
  const variableId = await createVariable(api.manager, sourceId, { ...(unitId && { unitId }), ...members });
  const data = values.map((value, hour) => ({ date: `2026-03-01T0${hour}:00:00Z`, value }));
  await api.manager.post('/api/data', [{ variableId, data }]);
  await api.ingest();
  return variableId;
}

const get = <Body>(path: string) => api.manager.get<Body>(path);

describe('structure: catalogues (R-C8)', () => {
  test('every unit has a family; the first unit of each family has divisor 1 and offset 0', async () => {
    const units = (await get<Unit[]>('/units')).body;
    const families = (await get<{ id: number; name: string }[]>('/unitFamily')).body;
    expect(units.length).toBeGreaterThan(100);
    for (const family of families) {
      const [base] = units.filter(({ unitFamilyId }) => unitFamilyId === family.id);
      expect(base, family.name).toMatchObject({ divisor: 1, offset: 0 });
    }
    const known = new Set(families.map(({ id }) => id));
    expect(units.filter(({ unitFamilyId }) => !known.has(unitFamilyId))).toEqual([]);
  });

  test('the kilowatt hour has the id that existing clients send, and Fahrenheit has the offset 32', async () => {
    const byId = new Map((await get<Unit[]>('/units')).body.map((unit) => [unit.id, unit]));
    expect(byId.get(KWH)).toEqual({
      id: KWH,
      name: 'kilowatt hour',
      symbol: 'kWh',
      unitFamilyId: ENERGY,
      divisor: 1,
      offset: 0,
    });
    expect(byId.get(FAHRENHEIT)).toMatchObject({ symbol: '°F', divisor: 1.8, offset: 32 });
  });

  test('the units of one family can be listed page by page, with their total number', async () => {
    const energy = await api.manager.get<Unit[]>(`/units?unitFamilyId=${ENERGY}`, { 'x-total-count': 'true' });
    expect(new Set(energy.body.map(({ unitFamilyId }) => unitFamilyId))).toEqual(new Set([ENERGY]));
    expect(energy.headers.get('x-total-count')).toBe(String(energy.body.length));
    const page = await get<Unit[]>(`/units?unitFamilyId=${ENERGY}&itemsPerPage=2&pageNumber=1`);
    expect(page.body).toEqual(energy.body.slice(2, 4));
    expect((await get('/units?unitFamilyId=x')).status).toBe(400);
  });

  test.each([
    ['/granularity', { id: 7, name: 'Week' }],
    ['/timePeriods', { id: 0, name: 'Millisecond' }],
    ['/aggregates', { id: 7, name: 'STDEV' }],
    ['/quantityTypes', { id: 2, name: 'Integrated' }],
    ['/variables/periodTypes', { id: 3, name: 'LastNPoints' }],
    ['/languages', { id: 'nl', name: 'Dutch' }],
    ['/sitetypes', { id: 1, name: 'Office' }],
    ['/sourceTypes', { id: 72, name: 'Meter' }],
    ['/energyTypes', { id: 1, name: 'Electricity' }],
    ['/energyUsages', { id: 2, name: 'Heating' }],
    ['/variables/types', { id: 0, name: 'Consumption', aggregate: 'SUM' }],
    ['/variables/types', { id: 25, name: 'Index', aggregate: 'MAX' }],
    ['/timezones', { id: 'Europe/Brussels', name: 'Europe/Brussels' }],
    ['/timezones', { id: 'America/New_York', name: 'America/New York' }],
  ])('GET %s lists %j', async (path, item) => {
    expect((await get<object[]>(path)).body).toContainEqual(item);
  });

  test.each(['/sitetypes', '/sourceTypes', '/energyTypes', '/energyUsages', '/variables/types'])(
    'GET %s returns no id twice and no name twice (R-C8)',
    async (path) => {
      const { body } = await get<{ id: number; name: string }[]>(path);
      expect(new Set(body.map(({ id }) => id)).size).toBe(body.length);
      expect(new Set(body.map(({ name }) => name)).size).toBe(body.length);
    },
  );

  test('a variable can have type 0 or an unlisted type, and a push can identify a variable by type 0 (R-C6, R-C8)', async () => {
    const { sourceId } = await createStructure(api.manager);
    const variable = { VariableTypeId: 0, UnitId: 8, Divider: 1, Granularity: 10, GranularityTimeBase: 2 };
    const made = await api.manager.post<{ id: number }>(`/variables/source/${sourceId}`, { Id: 0, ...variable });
    expect(made).toMatchObject({ status: 200, body: { variableTypeId: 0, unitId: 8 } });
    expect((await api.manager.post(`/variables/source/${sourceId}`, { variableTypeId: 4711 })).status).toBe(200);
    const data = [{ date: '2026-03-01T00:00:00Z', value: 5 }];
    await api.manager.put(`/sources/${sourceId}`, { serialNumber: 'type-0' });
    await api.manager.post('/api/data', [{ sourceSerialNumber: 'type-0', variableTypeId: 0, data }]);
    await api.ingest();
    expect((await get<object[]>(`/data?variableId=${made.body.id}`)).body).toMatchObject([{ rawValue: 5 }]);
  });

  test('time zones are listed, UTC first; a sample of the listed zones is accepted when a site is created and when points are read', async () => {
    const zones = (await get<{ id: string }[]>('/timezones')).body.map(({ id }) => id);
    expect(zones[0]).toBe('UTC');
    const variableId = await withValues(KWH, [1]);
    for (const zone of ['Asia/Kolkata', ...zones.filter((_, index) => index % 40 === 0)]) {
      expect(zones).toContain(zone);
      const read = await get(`/data?variableId=${variableId}&granularity=Day&timeZoneId=${encodeURIComponent(zone)}`);
      expect(read.status, zone).toBe(200);
      expect((await api.manager.post('/sites', { name: zone, timeZoneId: zone })).status, zone).toBe(200);
    }
  });
});

describe('reading: points in a requested unit (R-C8, R-G3)', () => {
  const values = async (path: string, member = 'rawValue') =>
    (await get<Record<string, unknown>[]>(path)).body.map((row) => row[member]);

  test('the values are converted, and each row has the id of the requested unit', async () => {
    const variableId = await withValues(KWH, [1, 2.5]);
    const { body } = await get<object[]>(`/data?variableId=${variableId}&unitId=${WH}`);
    expect(body).toMatchObject([
      { rawValue: 1000, unitId: WH },
      { rawValue: 2500, unitId: WH },
    ]);
    expect(await values(`/data?variableId=${variableId}&unitId=${KWH}`)).toEqual([1, 2.5]);
  });

  test('a read converts the points of all variables to the requested unit', async () => {
    const ids = [await withValues(KWH, [1]), await withValues(MWH, [1]), await withValues(WH, [500])];
    expect(await values(`/data?variableIds=${ids}&unitId=${KWH}`)).toEqual([1, 1000, 0.5]);
  });

  test.each([
    ['AVG', 'avgValue', (14 + 212) / 2],
    ['SUM', 'sumValue', 14 + 212],
    ['MAX', 'maxValue', 212],
    ['COUNT', 'countValue', 2],
    ['VAR', 'varianceValue', (198 * 198) / 2],
    ['STDEV', 'stdevValue', 198 / Math.SQRT2],
  ])(
    '%s is computed from the converted values, even when the unit has an offset',
    async (aggregation, member, expected) => {
      const variableId = await withValues(CELSIUS, [-10, 100]);
      const query = `variableId=${variableId}&granularity=Day&aggregation=${aggregation}&unitId=${FAHRENHEIT}`;
      expect(await values(`/data?${query}`, member)).toEqual([expect.closeTo(expected as number, 9)]);
    },
  );

  test('a read is refused when the unit of a variable cannot be converted; the error says why', async () => {
    const cases = [
      [
        await withValues(KW, [1]),
        'is in kilowatt (20, Power), which cannot be converted into kilowatt hour (8, Energy)',
      ],
      [await withValues(null, [1]), 'has no unit, so its values cannot be converted into kilowatt hour (8, Energy)'],
      [await withValues(987_654, [1]), 'has the unit 987654, which GET /units does not list'],
    ] as const;
    for (const [variableId, text] of cases) {
      const { status, body } = await get<{ message: string }>(`/data?variableId=${variableId}&unitId=${KWH}`);
      expect(status).toBe(400);
      expect(body.message).toContain(`variable ${variableId} ${text}`);
    }
    const all = await get<{ details: unknown[] }>(`/data?variableIds=${cases.map(([id]) => id)}&unitId=${KWH}`);
    expect(all.body.details).toHaveLength(3);
    expect((await get(`/data?variableId=${cases[0][0]}&unitId=4711`)).body).toMatchObject({ code: 'invalid_input' });
  });

  test('a read is refused when a converted value exceeds the range of a double; the error names the variable, the date and the value', async () => {
    const variableId = await withValues(KWH, [1, 1e306]);
    const path = `/data?variableId=${variableId}&unitId=${WH}`;
    const rule = '1e+306 exceeds the range of a double (about 1.8e308) in the requested unit; request another unit';
    for (const [query, date] of [
      ['', '2026-03-01T01:00:00Z'],
      ['&granularity=Day&aggregation=MAX', '2026-03-01T00:00:00Z'],
    ]) {
      const message = `variable ${variableId} at ${date}: ${rule}`;
      expect(await get(`${path}${query}`)).toMatchObject({ status: 400, body: { code: 'invalid_input', message } });
    }
  });

  test('a variable of another account, or of a site that the user may not see, is not found: 404 (R-A5)', async () => {
    const variableId = await withValues(KW, [1]);
    const answer = await api.stranger.get(`/data?variableId=${variableId}&unitId=${KWH}`);
    expect(answer.status).toBe(404);
    const outsider = await api.signIn('units-outsider', 'USER', { sites: [] });
    expect((await outsider.get(`/data?variableId=${variableId}&unitId=${KWH}`)).status).toBe(404);
    const insider = await api.signIn('units-insider', 'USER', { sites: [siteId] });
    expect((await insider.get(`/data?variableId=${variableId}&unitId=${KW}`)).status).toBe(200);
  });
});

interface Entry {
  readonly id: number;
  readonly name: string;
}

describe('catalogues: entries of an account (R-C8)', () => {
  const FIRST_OWN_ID = 1_000_000_000;
  let made = 0;
  const create = async (path: string, members: object = {}) => {
    const answer = await api.manager.post<Entry>(path, { name: `Own ${++made}`, ...members });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };
  const refusal = async (method: string, path: string, body?: object, client = api.manager) => {
    const answer = await client.send<{ message: string }>(method, path, body);
    return [answer.status, answer.body?.message] as const;
  };
  const CATALOGUES = [
    ['/units', { unitFamilyId: ENERGY }],
    ['/unitFamily', {}],
    ['/sitetypes', {}],
    ['/sourceTypes', {}],
    ['/energyTypes', {}],
    ['/energyUsages', {}],
    ['/variables/types', { aggregate: 'MAX' }],
    ['/account/features', {}],
  ] as const;

  test.each(CATALOGUES)(
    '%s: managers add, rename and delete entries of their account; other accounts do not see these entries',
    async (path, members) => {
      const before = (await get<Entry[]>(path)).body;
      const entry = await create(path, members);
      expect(entry).toMatchObject(members);
      expect(entry.id).toBeGreaterThanOrEqual(FIRST_OWN_ID);
      expect((await get<Entry[]>(path)).body).toHaveLength(before.length + 1);
      expect((await get<Entry[]>(path)).body).toContainEqual(expect.objectContaining(entry));

      expect((await api.stranger.get<Entry[]>(path)).body.map(({ id }) => id)).not.toContain(entry.id);
      for (const method of ['PUT', 'DELETE']) {
        expect((await refusal(method, `${path}/${entry.id}`, { name: 'x' }, api.stranger))[0]).toBe(404);
      }
      expect((await api.stranger.post(path, { name: entry.name, ...members })).status).toBe(200);

      for (const name of [entry.name.toUpperCase(), before[0]?.name.toUpperCase()]) {
        expect(await refusal('POST', path, { name, ...members })).toEqual([409, expect.stringContaining('is taken')]);
      }
      const builtIn = `${path}/${before[1]?.id}`;
      expect(await refusal('PUT', builtIn, { name: 'x' })).toEqual([409, expect.stringContaining('is built in')]);
      expect(await refusal('DELETE', builtIn)).toEqual([409, expect.stringContaining('is built in')]);

      const name = `Renamed ${++made}`;
      expect((await api.manager.put(`${path}/${entry.id}`, { ...entry, name })).status).toBe(204);
      expect((await get<Entry[]>(path)).body).toContainEqual(expect.objectContaining({ ...entry, name }));
      expect((await api.manager.delete(`${path}/${entry.id}`)).status).toBe(204);
      expect((await get<Entry[]>(path)).body).toEqual(before);
      expect((await refusal('DELETE', `${path}/${entry.id}`))[0]).toBe(404);
    },
  );

  test('only managers can write entries; an entry is refused when its name is empty, too long or a number, when its unit family is unknown, or when its divisor is 0', async () => {
    const user = await api.signIn('catalogue-reader', 'USER', { sites: [] });
    const { id } = await create('/sitetypes');
    expect((await refusal('POST', '/sitetypes', { name: 'x' }, user))[0]).toBe(403);
    expect((await refusal('PUT', `/sitetypes/${id}`, { name: 'x' }, user))[0]).toBe(403);
    expect((await refusal('DELETE', `/sitetypes/${id}`, undefined, user))[0]).toBe(403);
    expect((await get<Entry[]>('/sitetypes')).status).toBe(200);
    for (const name of ['', ' ', '12', 'x'.repeat(201)])
      expect((await refusal('POST', '/sitetypes', { name }))[0]).toBe(400);
    expect((await refusal('POST', '/units', { name: 'x', unitFamilyId: 4711 }))[0]).toBe(400);
    expect((await refusal('POST', '/units', { name: 'x', unitFamilyId: ENERGY, divisor: 0 }))[0]).toBe(400);
  });

  test('an entry that is in use cannot be deleted: the answer is 409 and names a resource or unit that uses the entry', async () => {
    const family = await create('/unitFamily');
    const unit = await create('/units', { unitFamilyId: family.id });
    const types = {
      site: await create('/sitetypes'),
      source: await create('/sourceTypes'),
      energy: await create('/energyTypes'),
      usage: await create('/energyUsages'),
      variable: await create('/variables/types'),
    };
    const site = (await api.manager.post<number>('/sites', { name: 'x', typeId: types.site.id })).body;
    const ids = { sourceTypeId: types.source.id, energyTypeId: types.energy.id, energyUsageId: types.usage.id };
    const source = (await api.manager.post<Entry>('/sources', { siteId: site, name: 'x', ...ids })).body.id;
    const variable = await createVariable(api.manager, source, { unitId: unit.id, variableTypeId: types.variable.id });
    const uses = [
      [`/unitFamily/${family.id}`, `unit ${unit.id}`],
      [`/units/${unit.id}`, `variable ${variable}`],
      [`/sitetypes/${types.site.id}`, `site ${site}`],
      [`/sourceTypes/${types.source.id}`, `source ${source}`],
      [`/energyTypes/${types.energy.id}`, `source ${source}`],
      [`/energyUsages/${types.usage.id}`, `source ${source}`],
      [`/variables/types/${types.variable.id}`, `variable ${variable}`],
    ];
    for (const [path = '', use = ''] of uses) {
      expect(await refusal('DELETE', path)).toEqual([409, expect.stringContaining(`is used by ${use};`)]);
    }
    await api.manager.delete(`/sites/${site}?hardDelete=true`);
    for (const [path = ''] of uses.toReversed()) expect((await api.manager.delete(path)).status, path).toBe(204);
  });

  test('a unit cannot be deleted while a formula input or a form names the unit', async () => {
    const unit = await create('/units', { unitFamilyId: ENERGY });
    const fields = [{ name: 'Yield', type: 'Double', unitId: unit.id }];
    const form = (await api.manager.post<Entry>('/form', { name: 'Yields', groups: [{ name: 'G', fields }] })).body;
    expect(await refusal('DELETE', `/units/${unit.id}`)).toEqual([409, expect.stringContaining(`form ${form.id};`)]);
    await api.manager.delete(`/form/${form.id}`);
    const input = await createVariable(api.manager, sourceId, { unitId: KWH });
    const formulas = [{ formula: 'a', variables: [{ alias: 'a', variableId: input, unitId: unit.id }] }];
    const reader = await createVariable(api.manager, sourceId, {
      calculated: { calculatedVariableFormulas: formulas },
    });
    const declared = expect.stringContaining(`declaration of variable ${reader};`);
    expect(await refusal('DELETE', `/units/${unit.id}`)).toEqual([409, declared]);
  });

  test('units of an account convert exactly within a built-in family and within a family of the account; other accounts cannot use these units', async () => {
    const crate = await create('/units', { name: 'crate', unitFamilyId: ENERGY, divisor: 0.04 });
    const variableId = await withValues(crate.id, [1, 2.5]);
    const read = async (unitId: number) =>
      (await get<{ rawValue: number }[]>(`/data?variableId=${variableId}&unitId=${unitId}`)).body.map(
        (row) => row.rawValue,
      );
    expect(await read(KWH)).toEqual([25, 62.5]);
    expect(await read(WH)).toEqual([25_000, 62_500]);

    const family = await create('/unitFamily');
    const degree = await create('/units', { unitFamilyId: family.id });
    const shifted = await create('/units', { unitFamilyId: family.id, divisor: 1.8, offset: 32 });
    const own = await withValues(degree.id, [100]);
    const { body } = await get<object[]>(`/data?variableId=${own}&unitId=${shifted.id}`);
    expect(body).toMatchObject([{ rawValue: 212, unitId: shifted.id }]);
    expect((await get(`/data?variableId=${own}&unitId=${KWH}`)).status).toBe(400);

    const site = (await api.stranger.post<number>('/sites', { name: 's', timeZoneId: 'UTC' })).body;
    const source = (await api.stranger.post<Entry>('/sources', { siteId: site, name: 's' })).body.id;
    const foreign = (await api.stranger.post<Entry>(`/variables/source/${source}`, { unitId: crate.id })).body.id;
    const { status, body: refused } = await api.stranger.get<{ message: string }>(
      `/data?variableId=${foreign}&unitId=${KWH}`,
    );
    expect([status, refused.message]).toEqual([400, expect.stringContaining('which GET /units does not list')]);
    expect((await api.stranger.get(`/data?variableId=${foreign}&unitId=${crate.id}`)).status).toBe(400);
  });

  test('a unit keeps its conversion: a change of its divisor, offset or family is refused (409)', async () => {
    const unit = await create('/units', { unitFamilyId: ENERGY, divisor: 2 });
    expect((await api.manager.put(`/units/${unit.id}`, { ...unit, symbol: 'u' })).status).toBe(204);
    expect((await get<object[]>('/units')).body).toContainEqual({ ...unit, symbol: 'u', offset: 0 });
    for (const members of [{ divisor: 3 }, { offset: 1 }, { unitFamilyId: 3 }]) {
      expect(await refusal('PUT', `/units/${unit.id}`, members)).toEqual([
        409,
        expect.stringContaining('cannot change'),
      ]);
    }
  });

  test('a feature cannot be deleted while it is enabled for any user (R-C3)', async () => {
    const feature = await create('/account/features');
    const me = (await get<{ id: string }[]>('/account/usermapping')).body[0]?.id;
    const written = [{ id: feature.id, level: 'Read' }];
    expect((await api.manager.post(`/account/user/${me}/features`, written)).status).toBe(200);
    expect((await get<object[]>(`/account/user/${me}/features`)).body).toContainEqual({ ...feature, level: 'Read' });
    expect((await get<{ features: object[] }>(`/account/user/${me}`)).body.features).toContainEqual({
      ...feature,
      level: 'Read',
    });
    expect(await refusal('DELETE', `/account/features/${feature.id}`)).toEqual([
      409,
      expect.stringContaining(`user ${me};`),
    ]);
    await api.manager.post(`/account/user/${me}/features`, [{ id: feature.id, level: 'None' }]);
    expect((await api.manager.delete(`/account/features/${feature.id}`)).status).toBe(204);
    expect((await get<Entry[]>(`/account/user/${me}/features`)).body.map(({ id }) => id)).not.toContain(feature.id);
  });
});
