/** Sites, sources and variables over HTTP: reading, writing, access, listings and deletion (R-C4–C7, R-B9). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { purgeDeletedVariable } from '../../../src/points/remove/purge-points.ts';
import { eventually } from '../../support/eventually.ts';
import { createSite, createSource, createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { BEGIN_HOLDING } from '../../support/services/stack.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

type Members = Readonly<Record<string, unknown>>;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const SITE = {
  externalId: 'M-1',
  ...{ name: 'Mill', typeId: 3, timeZoneId: 'Europe/Brussels', street: 'Rue 1', postalCode: '1000', city: 'Bruxelles' },
  ...{ country: 'BE', location: '50.8,4.3', clientData: { Form: { "Group's": [1, null, 'é'] }, empty: {} } },
};
const SOURCE = {
  ...{ name: 'Meter', sourceTypeId: 1, energyTypeId: 2, energyUsageId: 3, timeZoneId: 'America/New_York' },
  ...{ eanNumber: '541', meterNumber: 'M1', serialNumber: 'S1', description: 'd', localisation: 'l' },
  ...{ meterAddress: 'a', tags: ['x', 'y'], clientData: { a: [{ b: 0.1 }] } },
};
const VARIABLE = {
  ...{ name: 'Power', variableTypeId: 1, unitId: 8, divider: 0.5, granularity: 15, granularityTimeBase: 'Minute' },
  ...{ quantityType: 'Integrated', aggregate: 'SUM', mappingConfig: 'm', isDefault: true, isVersioned: true },
  ...{ versionLimit: 3, clientData: { Form: { Group: { Field: 1 } } } },
};

interface Kind {
  readonly name: string;
  readonly members: Members;
  readonly path: string;
  readonly changePath: string;
  readonly level: string;
}

/**
 * Creates one resource of each kind; every field except `calculated` has a value.
 * @returns for each resource its members, its paths for reading and changing, and the display level that shows every
 * field.
 */
async function createEach(): Promise<readonly Kind[]> {
  const siteId = await createSite(api.manager, SITE);
  const sourceId = await createSource(api.manager, siteId, SOURCE);
  const variableId = await createVariable(api.manager, sourceId, VARIABLE);
  const variable = `/sources/${sourceId}/variables/${variableId}`;
  return [
    { name: 'Site', members: SITE, path: `/sites/${siteId}`, changePath: `/sites/${siteId}`, level: 'VerboseSite' },
    {
      name: 'Source',
      members: SOURCE,
      path: `/sources/${sourceId}`,
      changePath: `/sources/${sourceId}`,
      level: 'Verbose',
    },
    { name: 'Variable', members: VARIABLE, path: `/variables/${variableId}`, changePath: variable, level: 'Verbose' },
  ];
}

const LEVELS: Readonly<Record<string, readonly string[]>> = {
  Site: ['Site', 'VerboseSite', 'Normal'],
  Source: ['Light', 'Site', 'Normal', 'Verbose'],
  Variable: ['Normal', 'Verbose'],
};

const read = async ({ path, level }: Kind) => (await api.manager.get<Members>(`${path}?displayLevel=${level}`)).body;

describe('structure: a site, source or variable', () => {
  it('is returned by GET with every value that its POST set (R-C4, R-C5, R-C6)', async () => {
    for (const kind of await createEach()) expect(await read(kind), kind.name).toMatchObject(kind.members);
  });

  it('is created by a POST, which returns the bare id of a site but an object for a source or a variable (R-A6)', async () => {
    const site = await api.manager.post('/sites', { name: 'x' });
    expect(site).toMatchObject({ status: 200, body: expect.any(Number) });
    const source = await api.manager.post<{ id: number }>('/sources', { siteId: site.body, name: 'x' });
    expect(source).toMatchObject({ status: 200, body: { id: expect.any(Number), siteId: site.body, siteName: 'x' } });
    const variable = await api.manager.post(`/variables/source/${source.body.id}`, {});
    expect(variable).toMatchObject({ status: 200, body: { sourceId: source.body.id, sourceName: 'x', name: '' } });
  });

  it('a PUT accepts what GET returns at every displayLevel, and changes no value (R-C4–C6)', async () => {
    for (const kind of await createEach()) {
      const before = await read(kind);
      for (const level of LEVELS[kind.name] ?? []) {
        const { body } = await api.manager.get(`${kind.path}?displayLevel=${level}`);
        expect(await api.manager.put(kind.changePath, body), kind.name).toMatchObject({ status: 204, body: undefined });
      }
      expect(await read(kind), kind.name).toEqual(before);
    }
  });

  it('is copied by a POST of the body that GET returned (R-C4–C6)', async () => {
    const [site, source, variable] = await createEach();
    // A mappingConfig is unique within its source, so the copy of the variable is created in another source.
    const otherSourceId = await createSource(api.manager, await createSite(api.manager), { name: SOURCE.name });
    for (const [kind, path] of [
      [site, '/sites'],
      [source, '/sources'],
      [variable, `/variables/source/${otherSourceId}`],
    ] as const) {
      const before = await read(kind as Kind);
      const { status, body } = await api.manager.post<Members | number>(path, before);
      expect(status, path).toBe(200);
      const id = typeof body === 'number' ? body : body.id;
      const copy = await read({ ...(kind as Kind), path: (kind as Kind).path.replace(/\d+$/, String(id)) });
      const sourceId = kind === variable ? { sourceId: otherSourceId } : {};
      expect({ ...copy, id: 0 }).toEqual({ ...before, id: 0, ...sourceId });
    }
  });

  it('keeps members that are absent from a PUT and resets those that are null (R-C4, R-C5, R-C6)', async () => {
    const [site, source, variable] = (await createEach()) as [Kind, Kind, Kind];
    await api.manager.put(site.changePath, { City: null, country: 'FR', clientData: null });
    expect(await read(site)).toMatchObject({ ...SITE, city: null, country: 'FR', clientData: {} });
    await api.manager.put(source.changePath, { eanNumber: null });
    expect(await read(source)).toMatchObject({ ...SOURCE, eanNumber: null });
    await api.manager.put(variable.changePath, { divider: null, aggregate: null, versionLimit: null });
    expect(await read(variable)).toMatchObject({ ...VARIABLE, divider: 1, aggregate: null, versionLimit: null });
  });

  it('ignores case in member names, and accepts ids as strings and enumeration values as numbers (R-A3, R-C8)', async () => {
    const { sourceId } = await createStructure(api.manager);
    const members = {
      NAME: 'x',
      UnitID: '8',
      quantitytype: 2,
      Aggregate: 'sum',
      granularityTimeBase: '3',
      isDefault: 'True',
    };
    const { body } = await api.manager.post(`/variables/source/${sourceId}`, members);
    expect(body).toMatchObject({
      ...{ name: 'x', unitId: 8, quantityType: 'Integrated', aggregate: 'SUM', granularityTimeBase: 'Hour' },
      isDefault: true,
    });
  });

  it.each([
    ['/sites', {}, '$.name'],
    ['/sites', { name: '' }, '$.name'],
    ['/sites', { name: 'a\0' }, '$.name'],
    ['/sites', { name: 'x', timeZoneId: 'Mars/Base' }, '$.timeZoneId'],
    ['/sites', { name: 'x', timeZoneId: '+01:00' }, '$.timeZoneId'],
    ['/sites', { name: 'x', clientData: [] }, '$.clientData'],
    ['/sites', { name: 'x', clientData: { 'a\0': 1 } }, '$.clientData'],
    ['/sources', { name: 'x' }, '$.siteId'],
    ['/sources', { name: 'x', siteId: 1.5 }, '$.siteId'],
    ['/variables/source/1', { aggregate: 'MEDIAN' }, '$.aggregate'],
    ['/variables/source/1', { aggregate: { toString: 1, valueOf: 1 } }, '$.aggregate'],
    ['/variables/source/1', { divider: 0 }, '$.divider'],
    ['/variables/source/1', { versionLimit: 1001 }, '$.versionLimit'],
    ['/variables/source/1', { versionLimit: 0 }, '$.versionLimit'],
  ])('POST %s %j is refused with 400 and the path %s (R-A5, R-C9, R-C11)', async (path, body, problemPath) => {
    expect(await api.manager.post(path, body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', details: [{ path: problemPath }] },
    });
  });

  it('is refused with 400 at `$.clientData` when its `clientData` is longer than 65,536 bytes as JSON (R-A5, R-C11)', async () => {
    const { siteId, sourceId } = await createStructure(api.manager);
    for (const [path, parent] of Object.entries({
      ...{ '/sites': {}, '/sources': { siteId }, [`/variables/source/${sourceId}`]: {} },
    })) {
      const post = (size: number) => {
        const clientData = { a: 'x'.repeat(size - JSON.stringify({ a: '' }).length) };
        return api.manager.post(path, { name: 'x', ...parent, clientData });
      };
      expect((await post(65_536)).status, path).toBe(200);
      const problem = { path: '$.clientData', message: 'must be at most 65536 bytes as JSON, got 65537' };
      const body = { code: 'invalid_input', details: [problem] };
      expect(await post(65_537), path).toMatchObject({ status: 400, body });
    }
  });

  it('stores clientData unchanged, including the keys __proto__, constructor, toString and "" (R-C11)', async () => {
    const clientData = JSON.parse('{"__proto__":{"a":1},"constructor":2,"toString":null,"":[true]}') as Members;
    const siteId = await createSite(api.manager, { clientData });
    const sourceId = await createSource(api.manager, siteId, { clientData });
    const variableId = await createVariable(api.manager, sourceId, { clientData });
    const [source, variable] = [`/sources/${sourceId}`, `/variables/${variableId}`];
    for (const path of [`/sites/${siteId}`, `${source}?displayLevel=Verbose`, `${variable}?displayLevel=Verbose`]) {
      const { body } = await api.manager.get<Members>(path);
      expect(JSON.stringify(sorted(body.clientData)), path).toBe(JSON.stringify(sorted(clientData)));
    }
  });

  const sorted = (value: unknown) => Object.entries(value as Members).sort(([a], [b]) => (a < b ? -1 : 1));
});

it.each([
  ['europe/BRUSSELS', 'Europe/Brussels'],
  ['EUrope/Brussels', 'Europe/Brussels'],
  ['Asia/Kolkata', 'Asia/Kolkata'],
  ['romance standard time', 'Europe/Paris'],
])('structure: a site and a source store the time zone "%s" as "%s" (R-C9)', async (timeZoneId, stored) => {
  const siteId = await createSite(api.manager, { timeZoneId });
  const sourceId = await createSource(api.manager, siteId, { timeZoneId });
  expect((await api.manager.get(`/sites/${siteId}`)).body).toMatchObject({ timeZoneId: stored });
  expect((await api.manager.get(`/sources/${sourceId}`)).body).toMatchObject({ timeZoneId: stored });
});

describe('structure: PATCH', () => {
  it('applies a JSON Patch and answers 204 (R-C4, R-A6)', async () => {
    for (const kind of await createEach()) {
      const operations = [
        { op: 'test', path: '/name', value: kind.members.name },
        { op: 'replace', path: '/name', value: 'new' },
      ];
      expect(await api.manager.patch(kind.changePath, operations)).toMatchObject({ status: 204, body: undefined });
      expect(await read(kind)).toMatchObject({ ...kind.members, name: 'new' });
    }
  });

  it.each([
    ['a failing `test` operation', 409, { op: 'test', path: '/name', value: 'other' }],
    ['a path that does not exist', 400, { op: 'replace', path: '/clientData/none/deep', value: 1 }],
    ['an unknown operation', 400, { op: 'explode', path: '/name' }],
    ['a value that is not allowed', 400, { op: 'replace', path: '/timeZoneId', value: 'Mars/Base' }],
    ['the removal of a required member', 400, { op: 'remove', path: '/name' }],
    ['a path through __proto__', 400, { op: 'add', path: '/__proto__/polluted', value: 1 }],
    ['a path through constructor', 400, { op: 'add', path: '/clientData/constructor/prototype/polluted', value: 1 }],
  ])('a request with %s gets %i and applies no operation (R-C4)', async (_what, status, operation) => {
    const [site] = (await createEach()) as [Kind];
    const answer = await api.manager.patch(site.changePath, [{ op: 'replace', path: '/city', value: 'x' }, operation]);
    expect(answer.status).toBe(status);
    expect(await read(site)).toMatchObject(SITE);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('ignores the letter case of the first segment in the `path` of an operation (R-A3)', async () => {
    const [site] = (await createEach()) as [Kind];
    const operations = [
      { op: 'replace', path: '/City', value: 'Gent' },
      { op: 'add', path: '/ClientData/New', value: 1 },
    ];
    expect((await api.manager.patch(site.changePath, operations)).status).toBe(204);
    expect(await read(site)).toMatchObject({ city: 'Gent', clientData: { ...SITE.clientData, New: 1 } });
  });

  it('loses no concurrent patch (R-C4)', async () => {
    const siteId = await createSite(api.manager);
    const keys = Array.from({ length: 12 }, (_, index) => `key${index}`);
    await Promise.all(
      keys.map((key) => api.manager.patch(`/sites/${siteId}`, [{ op: 'add', path: `/clientData/${key}`, value: 1 }])),
    );
    const { body } = await api.manager.get<Members>(`/sites/${siteId}`);
    expect(Object.keys(body.clientData as Members).sort()).toEqual(keys.sort());
  });
});

describe('structure: access', () => {
  it('lets a USER read only the resources of granted sites, and change nothing (R-B8, R-B9)', async () => {
    const [granted, hidden] = [await createStructure(api.manager), await createStructure(api.manager)];
    const user = await api.signIn('reader', 'USER', { sites: [granted.siteId] });
    expect((await user.get<Members[]>('/sites')).body.map(({ id }) => id)).toEqual([granted.siteId]);
    expect((await user.get<Members[]>('/sources')).body.map(({ id }) => id)).toEqual([granted.sourceId]);
    expect((await user.get<Members[]>('/variables')).body.map(({ id }) => id)).toEqual([granted.variableId]);
    for (const path of paths(hidden)) expect((await user.get(path)).status, path).toBe(404);
    const creations: [string, string, unknown][] = [
      ['POST', '/sites', { name: 'x' }],
      ['POST', '/sources', { name: 'x', siteId: granted.siteId }],
      ['POST', `/variables/source/${granted.sourceId}`, {}],
    ];
    for (const [method, path, body] of [...creations, ...changes(granted)]) {
      expect(await user.send(method, path, body), `${method} ${path}`).toMatchObject({
        status: 403,
        body: { code: 'permission_denied' },
      });
    }
  });

  it('a second account gets 404 when it tries to read, change, delete or use a resource of the first account (R-A5)', async () => {
    const theirs = await createStructure(api.manager);
    for (const path of paths(theirs)) expect((await api.stranger.get(path)).status, path).toBe(404);
    for (const [method, path, body] of changes(theirs)) {
      expect((await api.stranger.send(method, path, body)).status, `${method} ${path}`).toBe(404);
    }
    expect((await api.stranger.post('/sources', { name: 'x', siteId: theirs.siteId })).status).toBe(404);
    expect((await api.stranger.post(`/variables/source/${theirs.sourceId}`, {})).status).toBe(404);
    expect((await api.stranger.get(`/variables/source/${theirs.sourceId}`)).status).toBe(404);
    const mine = await createStructure(api.stranger);
    expect((await api.stranger.put(`/sources/${mine.sourceId}`, { siteId: theirs.siteId })).status).toBe(404);
    const moved = { sourceId: theirs.sourceId };
    expect((await api.stranger.put(`/sources/${mine.sourceId}/variables/${mine.variableId}`, moved)).status).toBe(404);
    for (const path of paths(theirs)) expect((await api.manager.get(path)).status, path).toBe(200);
  });

  type Ids = Awaited<ReturnType<typeof createStructure>>;
  const paths = ({ siteId, sourceId, variableId }: Ids) => [
    `/sites/${siteId}`,
    `/sources/${sourceId}`,
    `/variables/${variableId}`,
  ];
  const changes = ({ siteId, sourceId, variableId }: Ids): [string, string, unknown?][] => {
    const targets = [`/sites/${siteId}`, `/sources/${sourceId}`, `/sources/${sourceId}/variables/${variableId}`];
    return targets.flatMap((path): [string, string, unknown?][] => [
      ['PUT', path, { name: 'x' }],
      ['PATCH', path, [{ op: 'replace', path: '/name', value: 'x' }]],
      ['DELETE', `${path}?hardDelete=true`],
    ]);
  };
});

describe('structure: a listing', () => {
  it.each([
    ...['Site', 'Normal', 'VerboseSite'].map((level) => ['/sites', level, ['id', ...Object.keys(SITE)]] as const),
    ['/sources', 'Light', ['id', 'siteId', 'name', 'sourceTypeId', 'serialNumber', 'timeZoneId']],
    ...['site', 'Normal', 'VERBOSE'].map(
      (level) => ['/sources', level, ['id', 'siteId', 'siteName', ...Object.keys(SOURCE)]] as const,
    ),
    ['/variables', 'Verbose', ['id', 'sourceId', 'sourceName', ...Object.keys(VARIABLE)]],
  ] as const)('%s?displayLevel=%s shows the members of that level (R-C4–C6, R-C12)', async (path, level, members) => {
    await createEach();
    const { body } = await api.manager.get<Members[]>(`${path}?displayLevel=${level}`);
    expect(Object.keys(body[0] ?? {}).sort()).toEqual([...members].sort());
  });

  it('can be filtered by `id`, `siteId`, `sourceId` and `variableId`, each also in the plural (R-A12, R-C4–C6)', async () => {
    const { siteId, sourceId, variableId } = await createStructure(api.manager);
    await createStructure(api.manager);
    const filters = [
      ...['siteId', 'siteIds', 'filter.SiteIds'].map((name) => `${name}=${siteId}`),
      ...['sourceId', 'sourceIds', 'sourcesId'].map((name) => `${name}=${sourceId}`),
      ...['variableId', 'variableIds'].map((name) => `${name}=${variableId}`),
    ];
    for (const [path, id] of [
      ['/sites', siteId],
      ['/sources', sourceId],
      ['/variables', variableId],
    ] as const) {
      for (const filter of [...filters, `id=${id}`, `ids=${id}`]) {
        const { body } = await api.manager.get<Members[]>(`${path}?${filter}`);
        expect(
          body.map((item) => item.id),
          `${path}?${filter}`,
        ).toEqual([id]);
      }
    }
  });

  it.each([
    ['/sources', 'sourcIds=1', 'sourceIds'],
    ['/sites', 'customFiltre=x', 'customFilter'],
    ['/variables', 'gatewayId=1', 'siteId'],
    ['/data', 'variableIs=1', 'variableIds'],
  ])('GET %s?%s answers 400 and names the most similar parameter (R-A12)', async (path, query, nearest) => {
    const { status, body } = await api.manager.get<{ details: unknown }>(`${path}?${query}`);
    const message = `is not a parameter of this listing; the nearest is ${nearest}`;
    expect({ status, details: body.details }).toEqual({
      status: 400,
      details: [{ path: `query.${query.split('=')[0]?.toLowerCase()}`, message }],
    });
  });

  it('returns pages in id order, and sends `x-total-count` if the request header `x-total-count` is true (R-A7, §8)', async () => {
    const sourceId = await createSource(api.manager, await createSite(api.manager));
    const ids: number[] = [];
    for (let index = 0; index < 5; index++)
      ids.push(await createVariable(api.manager, sourceId, { name: `${5 - index}` }));
    // PostgreSQL stores a changed row at a new place, so the storage order differs from the id order.
    await api.manager.put(`/sources/${sourceId}/variables/${ids[0]}`, { mappingConfig: 'moved' });
    const page = async (query: string, headers = {}) => {
      const answer = await api.manager.get<Members[]>(`/variables/source/${sourceId}?${query}`, headers);
      return { ids: answer.body.map(({ id }) => id), total: answer.headers.get('x-total-count') };
    };
    expect(await page('', { 'x-total-count': 'True' })).toEqual({ ids, total: '5' });
    expect(await page('Paging.ItemsPerPage=2&Paging.PageNumber=1', { 'x-total-count': 'true' })).toEqual({
      ...{ ids: ids.slice(2, 4), total: '5' },
    });
    expect(await page('itemsPerPage=2&pageNumber=9')).toEqual({ ids: [], total: null });
  });

  it.each([
    'itemsPerPage=0',
    'pageNumber=-1',
    'itemsPerPage=x',
    'displayLevel=All',
    "customFilter=nme='x'",
    'siteIds=x',
  ])('the invalid query ?%s gets 400, and the answer names the invalid parameter (§8, R-A5)', async (query) => {
    const name = query.split('=')[0];
    expect(await api.manager.get(`/sites?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', details: [{ path: `query.${name}` }] },
    });
  });
});

describe('structure: DELETE', () => {
  it('without `hardDelete`, answers 409 if the resource has children; with `hardDelete`, deletes the resource and its children and answers 204 (R-C7, R-A6)', async () => {
    for (const [path, pick] of [
      ['/sites/', 'siteId'],
      ['/sources/', 'sourceId'],
    ] as const) {
      const ids = await createStructure(api.manager);
      expect(await api.manager.delete(path + ids[pick])).toMatchObject({ status: 409, body: { code: 'conflict' } });
      expect((await api.manager.get(`/variables/${ids.variableId}`)).status).toBe(200);
      expect(await api.manager.delete(`${path}${ids[pick]}?hardDelete=True`)).toMatchObject({ status: 204 });
      expect((await api.manager.get(`/variables/${ids.variableId}`)).status).toBe(404);
      expect((await api.manager.delete(`${path}${ids[pick]}?hardDelete=true`)).status).toBe(404);
    }
  });

  it('writes a deletion to the audit trail, but not a refused deletion (R-B14, R-C7)', async () => {
    const { siteId, sourceId, variableId } = await createStructure(api.manager);
    await api.manager.delete(`/sites/${siteId}`);
    await api.manager.delete(`/sources/${sourceId}/variables/${variableId}`);
    await api.manager.delete(`/sites/${siteId}?hardDelete=true`);
    const trailOf = async (action: string, id: number) =>
      (await api.manager.get(`/account/audit?action=${action}&targetId=${id}`)).body;
    expect(await trailOf('VariableDeleted', variableId)).toMatchObject([{ userName: 'max', targetName: 'Power' }]);
    expect(await trailOf('SiteDeleted', siteId)).toMatchObject([{ details: { hardDelete: true } }]);
  });

  it('hides the points of a deleted variable immediately and removes them in the background (R-C7)', async () => {
    const { sourceId, variableId } = await createStructure(api.manager, { isVersioned: true });
    const reading = (value: number) => [{ variableId, data: [{ date: '2026-01-01T00:00:00Z', value }] }];
    for (const value of [1, 2]) await api.manager.post('/api/data', reading(value));
    await api.ingest();
    await api.manager.post('/api/data', reading(3));
    expect((await api.manager.delete(`/sources/${sourceId}/variables/${variableId}`)).status).toBe(204);
    expect((await api.manager.get(`/data?variableId=${variableId}`)).status).toBe(404);
    await api.ingest();
    while (await purgeDeletedVariable(api.database));
    expect(await countPoints(variableId)).toBe(0);
  });

  it('purges the points of a variable whose first write commits after the deletion (R-C7)', async () => {
    const { sourceId, variableId } = await createStructure(api.manager);
    const writer = await api.database.connect();
    await writer.query(BEGIN_HOLDING);
    await writer.query('insert into series (variable_id) values ($1)', [variableId]);
    await api.manager.delete(`/sources/${sourceId}/variables/${variableId}`);
    const purged = purgeDeletedVariable(api.database);
    await writer.query('insert into point values (now(), 1, now(), $1, 0, 0)', [variableId]);
    await endOrWait(purged);
    await writer.query('commit');
    writer.release();
    await purged;
    while (await purgeDeletedVariable(api.database));
    expect(await countPoints(variableId)).toBe(0);
  });

  it('answers 409, not 500, for a site that gets a source during the deletion (R-C7, R-A5)', async () => {
    const siteId = await createSite(api.manager);
    const adding = await api.database.connect();
    await adding.query(BEGIN_HOLDING);
    await adding.query(`insert into source (account_id, site_id, name) values ($1, $2, 'late')`, [
      api.accountId,
      siteId,
    ]);
    const deleted = api.manager.delete(`/sites/${siteId}`);
    await endOrWait(deleted);
    await adding.query('commit');
    adding.release();
    expect((await deleted).status).toBe(409);
  });

  it('a POST of a source waits while the site of the source is being deleted, and then gets 409 (R-A5)', async () => {
    const siteId = await createSite(api.manager);
    const deleting = await api.database.connect();
    await deleting.query(BEGIN_HOLDING);
    await deleting.query('delete from site where id = $1', [siteId]);
    const posted = api.manager.post('/sources', { siteId, name: 'late' });
    await endOrWait(posted);
    await deleting.query('commit');
    deleting.release();
    expect(await posted).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  /** Resolves when `work` has settled, or when a database session waits for a lock that another session holds. */
  async function endOrWait(work: Promise<unknown>): Promise<void> {
    let isDone = false;
    work.finally(() => {
      isDone = true;
    });
    await eventually('the end of the work, or a lock that it waits for', async () => {
      const { rowCount } = await api.database.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return isDone || rowCount === 1;
    });
  }

  async function countPoints(variableId: number): Promise<number | undefined> {
    const { rows } = await api.database.query<{ count: number }>(
      `select count(*) as count from (select * from point union all select * from point_version) version
       where variable_id = $1`,
      [variableId],
    );
    return rows[0]?.count;
  }
});
