/** Every listing answers its total in x-total-count on request (R-A7). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createStructure } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
/** Values for the placeholders of paths. */
let ids: Readonly<Record<string, string>>;

beforeAll(async () => {
  api = await startTestApi();
  const { sourceId, variableId } = await createStructure(api.manager, { isVersioned: true });
  const data = ['2026-03-01', '2026-03-02'].map((day, value) => ({ date: `${day}T00:00:00Z`, value, version: day }));
  await api.manager.post('/api/data', [{ variableId, data }]);
  await api.ingest();
  const { rows } = await api.database.query<{ id: string }>(
    `select id::text as id from app_user where user_name = 'max'`,
  );
  ids = { SOURCE: String(sourceId), VARIABLE: String(variableId), USER: rows[0]?.id ?? '' };
});
afterAll(() => api?.close());

test.each([
  ...['/sites', '/sources', '/variables', '/variables/source/SOURCE', '/variables/VARIABLE/versions'],
  ...['/data?variableId=VARIABLE', '/variables/VARIABLE/runs', '/account/user/accounts', '/account/invitations'],
  ...['/account/features', '/account/secondaryAccesses', '/account/audit', '/account/mappers', '/account/usermapping'],
  ...['/account/users', '/account/users/visibleToMe', '/account/users/views', '/account/user/claim/USER'],
  ...['/account/user/USER/features', '/account/user/USER/secondaryAccesses', '/account/usermapping/users'],
  ...['/units', '/unitFamily', '/timezones', '/languages', '/granularity', '/timePeriods', '/aggregates'],
  ...['/quantityTypes', '/variables/periodTypes', '/sitetypes', '/sourceTypes', '/energyTypes', '/energyUsages'],
  '/variables/types',
])('listings: GET %s answers x-total-count when asked (R-A7)', async (path) => {
  const address = path.replace(/[A-Z]{4,}/g, (name) => ids[name] ?? name);
  const { status, headers, body } = await api.manager.get<unknown>(address, { 'x-total-count': 'true' });
  expect({ status, body }).toMatchObject({ status: 200, body: expect.any(Array) });
  expect(headers.get('x-total-count')).toBe(String((body as unknown[]).length));
  expect((await api.manager.get(address)).headers.get('x-total-count')).toBeNull();
});
