/** The catalogue of units, and reading points in a requested unit (R-C8, R-G3). */
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
  test('have every unit in a family, and in each family a base unit of divisor 1 and offset 0', async () => {
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

  test('have kilowatt hours as shipped clients know them, and Fahrenheit with its offset', async () => {
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

  test('list units by family, in pages, with their total', async () => {
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
  ])('%s lists %o', async (path, item) => {
    expect((await get<object[]>(path)).body).toContainEqual(item);
  });

  test.each(['/sitetypes', '/sourceTypes', '/energyTypes', '/energyUsages', '/variables/types'])(
    '%s has each number and name once (R-C8)',
    async (path) => {
      const { body } = await get<{ id: number; name: string }[]>(path);
      expect(new Set(body.map(({ id }) => id)).size).toBe(body.length);
      expect(new Set(body.map(({ name }) => name)).size).toBe(body.length);
    },
  );

  test('numbers of catalogues may be 0, as shipped clients send them, and any other (R-C6, R-C8)', async () => {
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

  test('list only time zones that a site accepts and points can be read in', async () => {
    const zones = (await get<{ id: string }[]>('/timezones')).body.map(({ id }) => id);
    expect(zones[0]).toBe('UTC');
    const variableId = await withValues(KWH, [1]);
    for (const zone of ['Asia/Kolkata', ...zones.filter((_, index) => index % 40 === 0)]) {
      expect(zones).toContain(zone);
      const read = await get(`/data?variableId=${variableId}&granularity=Day&timeZoneId=${encodeURIComponent(zone)}`);
      expect(read.status, zone).toBe(200);
    }
  });
});

describe('reading: points in a requested unit (R-C8, R-G3)', () => {
  const values = async (path: string, member = 'rawValue') =>
    (await get<Record<string, unknown>[]>(path)).body.map((row) => row[member]);

  test('are converted, and the rows have the requested unit', async () => {
    const variableId = await withValues(KWH, [1, 2.5]);
    const { body } = await get<object[]>(`/data?variableId=${variableId}&unitId=${WH}`);
    expect(body).toMatchObject([
      { rawValue: 1000, unitId: WH },
      { rawValue: 2500, unitId: WH },
    ]);
    expect(await values(`/data?variableId=${variableId}&unitId=${KWH}`)).toEqual([1, 2.5]);
  });

  test('of variables in several units are returned in the requested unit', async () => {
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
  ])('are converted before %s is computed, also for a unit with an offset', async (aggregation, member, expected) => {
    const variableId = await withValues(CELSIUS, [-10, 100]);
    const query = `variableId=${variableId}&granularity=Day&aggregation=${aggregation}&unitId=${FAHRENHEIT}`;
    expect(await values(`/data?${query}`, member)).toEqual([expect.closeTo(expected as number, 9)]);
  });

  test('are refused when the unit is unknown, of another family or missing, and the error names both units', async () => {
    const cases = [
      [
        await withValues(KW, [1]),
        'is in kilowatt (20, Power), which cannot be converted into kilowatt hour (8, Energy)',
      ],
      [await withValues(null, [1]), 'has no unit and cannot be converted into kilowatt hour (8, Energy)'],
      [await withValues(987_654, [1]), 'has the unit 987654, which is not in GET /units'],
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

  test('of another account keep their unit secret in refusals (R-A5)', async () => {
    const variableId = await withValues(KW, [1]);
    const answer = await api.stranger.get(`/data?variableId=${variableId}&unitId=${KWH}`);
    expect(answer.status).toBe(404);
    const outsider = await api.signIn('units-outsider', 'USER', { sites: [] });
    expect((await outsider.get(`/data?variableId=${variableId}&unitId=${KWH}`)).status).toBe(404);
    const insider = await api.signIn('units-insider', 'USER', { sites: [siteId] });
    expect((await insider.get(`/data?variableId=${variableId}&unitId=${KW}`)).status).toBe(200);
  });
});
