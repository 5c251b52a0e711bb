/** Listings of all areas: totals on request, pages, enumerations by name and number, header Warning (R-A3, R-A7). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createStructure } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
/** Maps each placeholder of a path, such as SOURCE, to the id that replaces the placeholder. */
let ids: Readonly<Record<string, string>>;

beforeAll(async () => {
  api = await startTestApi();
  const { siteId, sourceId, variableId } = await createStructure(api.manager, { isVersioned: true });
  // This webhook, and the client data that violate a form, are needed: without them, some listings would be the same at
  // every `displayLevel`.
  await api.manager.post('/account/webhooks', {
    name: 'levels',
    url: 'https://example.com/',
    eventType: 'SiteCreated',
  });
  for (const [path, entityType] of [
    [`/sites/${siteId}`, 'Site'],
    [`/sources/${sourceId}`, 'Source'],
  ] as const) {
    await api.manager.put(path, { clientData: { Form: { Group: { Field: 'x' } } } });
    const groups = [{ name: 'Group', fields: [{ name: 'Field', type: 'Int' }] }];
    await api.manager.post('/form', { name: 'Form', entityType, groups });
  }
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
])('listings: GET %s answers with the header x-total-count only when the request asks for it (R-A7)', async (path) => {
  const address = path.replace(/[A-Z]{4,}/g, (name) => ids[name] ?? name);
  const { status, headers, body } = await api.manager.get<unknown>(address, { 'x-total-count': 'true' });
  expect({ status, body }).toMatchObject({ status: 200, body: expect.any(Array) });
  expect(headers.get('x-total-count')).toBe(String((body as unknown[]).length));
  expect((await api.manager.get(address)).headers.get('x-total-count')).toBeNull();
});

test.each([
  ['true', '1'],
  ['1', '1'],
  ['false', 'absent'],
])(
  'listings: with Filter.IncludeItemsCount=%s in the query, the header x-total-count of a listing with 1 item is %s (R-A7, R-A3)',
  async (text, total) => {
    const { headers } = await api.manager.get(`/variables?displayLevel=Normal&Filter.IncludeItemsCount=${text}`);
    expect(headers.get('x-total-count') ?? 'absent').toBe(total);
  },
);

test('listings: without itemsPerPage, page 0 is the whole listing and later pages are empty (§8)', async () => {
  for (const path of [
    '/variables',
    '/units',
    '/account/webhooks',
    '/data?variableId=VARIABLE',
    '/variables/VARIABLE/versions',
  ]) {
    const address = `${path.replace('VARIABLE', ids.VARIABLE ?? '')}${path.includes('?') ? '&' : '?'}`;
    const whole = (await api.manager.get<unknown[]>(address)).body;
    expect((await api.manager.get(`${address}pageNumber=0`)).body, path).toEqual(whole);
    expect((await api.manager.get(`${address}pageNumber=1`)).body, path).toEqual([]);
    expect((await api.manager.get(`${address}pageNumber=1&granularity=Day`)).body, path).toEqual([]);
  }
});

test.each([
  ['/sites', 'displayLevel', ['Site', 'VerboseSite', 'Normal']],
  ['/sources', 'displayLevel', ['Light', 'Site', 'Normal', 'Verbose']],
  ['/variables', 'displayLevel', ['Normal', 'Verbose']],
  ['/data?variableId=VARIABLE', 'displayLevel', ['Normal', 'ValueVariableDate', 'Columns']],
  ['/data?variableId=VARIABLE', 'pagingOrder', ['ASC', 'DESC']],
  ['/account', 'displayLevel', ['Light', 'Normal', 'Verbose']],
  ['/account/users', 'DisplayLevel', ['Light', 'Normal', 'Verbose']],
  ['/account/webhooks', 'DisplayLevel', ['Light', 'Normal', 'Verbose']],
])('listings: GET %s accepts `%s` as a name or as an index (from 0) into %j (R-A3)', async (path, name, names) => {
  const address = `${path.replace('VARIABLE', ids.VARIABLE ?? '')}${path.includes('?') ? '&' : '?'}${name}=`;
  const answers = new Set<string>();
  for (const [number, choice] of names.entries()) {
    const byName = await api.manager.get(`${address}${choice}`);
    expect(byName.status).toBe(200);
    expect((await api.manager.get(`${address}${number}`)).body, choice).toEqual(byName.body);
    answers.add(JSON.stringify(byName.body));
  }
  expect(answers.size, 'different answers').toBeGreaterThan(1);
  expect((await api.manager.get(`${address}${names.length}`)).status).toBe(400);
});

test('listings: a webhook accepts eventType and httpMethod as numbers; the filter EventType of the listing of webhooks accepts numbers and names (R-A3, R-I1, R-I2)', async () => {
  const hook = { name: 'numbers', url: 'https://example.com/', eventType: 2, httpMethod: 1 };
  const { body } = await api.manager.post<object>('/account/webhooks', hook);
  expect(body).toMatchObject({ eventType: 'DataPointsWritten', httpMethod: 'PUT' });
  for (const type of ['2', 'dataPointsWritten', '0,2']) {
    expect((await api.manager.get(`/account/webhooks?EventType=${type}`)).body).toMatchObject([{ name: 'numbers' }]);
  }
  expect((await api.manager.get('/account/webhooks?EventType=0')).body).toEqual([]);
  expect((await api.manager.post('/account/webhooks', { ...hook, httpMethod: 2 })).status).toBe(400);
});

test.each([
  ['/account/user/accounts?SubscriptionId=x', 'SubscriptionId has no effect: accounts have no subscriptions'],
  ['/data?variableId=VARIABLE&aggregation=SUM', 'aggregation has no effect: the granularity is Raw'],
])(
  'listings: the Warning header of the answer to GET %s names the parameter that has no effect',
  async (path, text) => {
    const address = path.replace('VARIABLE', ids.VARIABLE ?? '');
    expect((await api.manager.get(address)).headers.get('warning')).toBe(`299 tidemark "${text}"`);
    const without = address.replace(/[?&](SubscriptionId|aggregation)=[^&]*/, '');
    expect((await api.manager.get(without)).headers.get('warning')).toBeNull();
  },
);

test('listings: a page is complete, whether its JSON is read by one query or streamed (R-A7, R-A14)', async () => {
  const { rows } = await api.database.query<{ id: number }>(
    `insert into variable (account_id, source_id, name, client_data)
     select $1, $2, 'large', jsonb_build_object('text', repeat('x', 60000), 'n', n) from generate_series(1, 20) n returning id`,
    [api.accountId, ids.SOURCE],
  );
  for (const count of [5, 20]) {
    const wanted = rows.slice(0, count).map(({ id }) => id);
    const path = `/variables?displayLevel=Verbose&itemsPerPage=100&id=${wanted.join(',')}`;
    const { body } = await api.manager.get<{ id: number; clientData: { n: number; text: string } }[]>(path);
    expect(body.map(({ id }) => id)).toEqual(wanted);
    expect(body.map(({ clientData }) => [clientData.n, clientData.text.length])).toEqual(
      wanted.map((_, index) => [index + 1, 60_000]),
    );
  }
});
