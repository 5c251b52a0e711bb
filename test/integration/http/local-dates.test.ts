/** Pushes and other requests accept dates without a zone, as pandas writes them, and epoch milliseconds (R-A11). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSite, createSource, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const MIDNIGHT = '2026-07-01 00:00:00';
const IN_BRUSSELS = '2026-06-30T22:00:00Z';
const MILLIS = Date.UTC(2026, 6, 2);

let api: TestApi;
let siteId: number;
let sourceId: number;
let variableId: number;
let inLisbon: number;
let calculatedId: number;

beforeAll(async () => {
  api = await startTestApi();
  siteId = await createSite(api.manager, { timeZoneId: 'Europe/Brussels' });
  sourceId = await createSource(api.manager, siteId);
  variableId = await createVariable(api.manager, sourceId);
  const other = await createSite(api.manager, { timeZoneId: 'Europe/Lisbon' });
  inLisbon = await createVariable(api.manager, await createSource(api.manager, other));
  const formula = 'list()';
  calculatedId = await createVariable(api.manager, sourceId, {
    calculated: { calculatedVariableFormulas: [{ formula, variables: [{ alias: 'a', variableId }] }] },
  });
});
afterAll(() => api?.close());

const reading = (id: number, date: string | number) => ({ variableId: id, data: [{ date, value: 1 }] });

/** Sends a request, which must succeed. @returns the header `Time-Zone` of the answer. */
async function zoneOf(method: string, path: string, body?: unknown): Promise<string | null> {
  const { status, headers, body: answer } = await api.manager.send(method, path, body);
  expect(status, JSON.stringify(answer)).toBeLessThan(300);
  return headers.get('Time-Zone');
}

describe('dates without a zone', () => {
  test('the header Time-Zone of the answer to a push names the zones of the sources (R-A11, R-D4)', async () => {
    const both = [reading(variableId, MIDNIGHT), reading(inLisbon, MIDNIGHT)];
    expect(await zoneOf('POST', '/api/data', [reading(variableId, MIDNIGHT)])).toBe('Europe/Brussels');
    // The small-push handler answers this second push, because the first push cached the caller.
    expect(await zoneOf('POST', '/api/data', [reading(variableId, MIDNIGHT)])).toBe('Europe/Brussels');
    expect(await zoneOf('POST', '/api/data', both)).toBe('Europe/Brussels, Europe/Lisbon');
    for (const _repeat of [1, 2]) {
      expect(await zoneOf('POST', '/api/data?operationId=twice', both)).toBe('Europe/Brussels, Europe/Lisbon');
    }
    const zoned = [reading(variableId, MILLIS), reading(variableId, '2026-07-01T00:00:00+02:00')];
    expect(await zoneOf('POST', '/api/data', zoned)).toBeNull();
  });

  test.each([
    ['POST /data', () => zoneOf('POST', '/data', { variableIds: [variableId], from: MIDNIGHT, to: MILLIS })],
    ['a forced update of a variable', () => force(`/variables/${calculatedId}`)],
    ['a forced update of a source', () => force(`/sources/${sourceId}`)],
    ['a forced update of a site with one source', () => force(`/sites/${siteId}`)],
  ])('the header Time-Zone of the answer to %s names the zone of the source (R-A11, R-H5)', async (_what, zone) => {
    expect(await zone()).toBe('Europe/Brussels');
  });

  const force = (path: string) => zoneOf('POST', `${path}/forceUpdate`, { from: MIDNIGHT, to: MILLIS });

  test.each([
    ['GET /account/audit', 'GET', `/account/audit?from=${MIDNIGHT}&to=${MILLIS}`, () => undefined],
    ['DELETE /data', 'DELETE', '/data', () => ({ variableIds: [variableId], fromDateUtc: MIDNIGHT, whatIf: true })],
  ])('the answer to %s has UTC in its header Time-Zone (R-A11)', async (_what, method, path, body) => {
    expect(await zoneOf(method, path, body())).toBe('UTC');
  });

  test.each(['forceUpdate', 'calculated/evaluate'])(
    'in the body of POST …/%s: a period that ends before it begins is refused, and the error names both dates as instants (R-A5, R-A11)',
    async (action) => {
      const path =
        action === 'forceUpdate' ? `/variables/${calculatedId}` : `/sources/${sourceId}/variables/${calculatedId}`;
      const { status, body } = await api.manager.send('POST', `${path}/${action}`, { from: MILLIS, to: MIDNIGHT });
      const message = `$.from must not be later than "to" (${IN_BRUSSELS}), got 2026-07-02T00:00:00Z`;
      expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid_input', message } });
    },
  );

  test('in the query of GET …/calculated/sampleData: a period that ends before it begins is refused, and the error names the parameter (R-A5, R-A11)', async () => {
    const path = `/sources/${sourceId}/variables/${calculatedId}/calculated/sampleData`;
    const { status, body } = await api.manager.get(`${path}?from=${MILLIS}&to=${MIDNIGHT}`);
    const rule = `must not be later than "to" (${IN_BRUSSELS}), got 2026-07-02T00:00:00Z`;
    const details = [{ path: 'query.from', message: rule }];
    expect({ status, body }).toMatchObject({ status: 400, body: { message: `query from ${rule}`, details } });
  });

  test('in the declaration of a calculation: the dates are read in the zone of the source and stored as instants (R-A11, R-H1)', async () => {
    const input = { alias: 'a', variableId, asOf: MILLIS, fromAbsolutePeriod: MIDNIGHT };
    const formula = {
      formula: 'list()',
      validFrom: MIDNIGHT,
      validUntil: '2026-08-01T00:00+02:00',
      variables: [input],
    };
    const calculated = { calculatedVariableFormulas: [formula] };
    const path = `/sources/${sourceId}/variables/${calculatedId}`;
    expect(await zoneOf('PUT', path, { calculated })).toBe('Europe/Brussels');
    const { body } = await api.manager.get<{ calculated: { calculatedVariableFormulas: unknown } }>(
      `/variables/${calculatedId}`,
    );
    expect(body.calculated.calculatedVariableFormulas).toMatchObject([
      {
        ...{ validFrom: IN_BRUSSELS, validUntil: '2026-08-01T00:00+02:00' },
        variables: [{ asOf: '2026-07-02T00:00:00Z', fromAbsolutePeriod: IN_BRUSSELS }],
      },
    ]);
    expect(await zoneOf('PUT', path, { calculated: body.calculated })).toBeNull();
    const wrong = { calculatedVariableFormulas: [{ ...formula, validFrom: '1.7.2026' }] };
    const refused = await api.manager.send<{ message: string }>('PUT', path, { calculated: wrong });
    expect(refused.status).toBe(400);
    expect(refused.body.message).toContain('validFrom must be an ISO 8601 date');
  });
});
