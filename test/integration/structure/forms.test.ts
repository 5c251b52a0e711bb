/** Forms: definitions over HTTP, their effect on clientData, and the calculations that a changed form value causes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { calculationTrigger } from '../../../src/calculation/schedule/request-calculations.ts';
import { createOutboxRelay } from '../../../src/platform/database/outbox.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createSite, createSource, createVariable } from '../../support/fixtures/structure.ts';
import { behindClosedGate } from '../../support/services/closed-gate.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';
import { NO_QUEUE } from '../calculation/calculation-fixture.ts';

let api: TestApi;
let siteId: number;
let sourceId: number;
beforeAll(async () => {
  api = await startTestApi();
  siteId = await createSite(api.manager);
  sourceId = await createSource(api.manager, siteId);
});
afterAll(() => api?.close());

interface Form {
  readonly id: number;
  readonly name: string;
}
interface Problem {
  readonly details: readonly { readonly path: string; readonly message: string }[];
}

let made = 0;
const boiler = (entityType = 'Source', members: object = {}) => ({
  name: `Boiler ${++made}`,
  entityType,
  groups: [
    {
      name: 'Technical',
      fields: [
        { name: 'Power', type: 'Double', minimum: 0, unitId: 20, isRequired: true },
        { name: 'Fuel', type: 'Int', isList: true, items: [{ name: 'Gas', value: 1 }] },
      ],
    },
  ],
  ...members,
});
const createForm = async (entityType?: string) => {
  const { status, body } = await api.manager.post<Form>('/form', boiler(entityType));
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const filled = ({ name }: Form, values: object) => ({ clientData: { [name]: { Technical: values } } });

describe('forms: a definition', () => {
  it('a shipped .NET client can create, find, use and read a definition with its own requests', async () => {
    const form = {
      ...{ Name: 'SOURCE_FORM', EntityType: 'source' },
      Groups: [
        {
          Name: 'Group1',
          Fields: [
            { Name: 'STRING_FIELD', Type: 0, IsList: false, Items: null },
            { Name: 'DOUBLE_FIELD', Type: 2, IsList: false, Items: null },
          ],
        },
        {
          Name: 'Group2',
          Fields: [
            {
              Name: 'INT_LIST_FIELD',
              Type: 1,
              IsList: true,
              Items: [
                { Name: 'One', Value: 1 },
                { Name: 'Two', Value: 2 },
              ],
            },
            { Name: 'DATE_FIELD', Type: 5, IsList: false, Items: null },
          ],
        },
      ],
    };
    expect((await api.manager.get('/form?name=SOURCE_FORM')).body).toEqual([]);
    expect((await api.manager.post('/form', form)).status).toBe(200);
    expect((await api.manager.get('/form?name=source_form')).body).toMatchObject([
      { name: 'SOURCE_FORM', entityType: 'Source', groups: [{ name: 'Group1' }, { name: 'Group2' }] },
    ]);
    const values = {
      Group1: { STRING_FIELD: 's' },
      Group2: { INT_LIST_FIELD: 2, DATE_FIELD: '2026-03-01T10:00:00.1234567Z' },
    };
    const source = { SiteId: siteId, Name: 's', ClientData: { SOURCE_FORM: values } };
    const created = await api.manager.post<{ id: number }>('/sources', source);
    expect(created).toMatchObject({ status: 200, body: { clientData: { SOURCE_FORM: values } } });
    expect(
      (
        await api.manager.post<Problem>('/sources', {
          ...source,
          ClientData: { SOURCE_FORM: { Group2: { INT_LIST_FIELD: 3 } } },
        })
      ).body,
    ).toMatchObject({
      code: 'invalid_input',
      message: '$.clientData.SOURCE_FORM.Group2.INT_LIST_FIELD must be one of 1 (One), 2 (Two), got 3',
    });
  });

  it('can be changed and deleted; PUT accepts what GET returns', async () => {
    const { id, name } = await createForm();
    const { body } = await api.manager.get<Form>(`/form/${id}`);
    expect((await api.manager.put(`/form/${id}`, body)).status).toBe(204);
    expect((await api.manager.put(`/form/${id}`, { groups: [] })).status).toBe(204);
    expect((await api.manager.get(`/form/${id}`)).body).toMatchObject({ id, name, groups: [] });
    expect((await api.manager.delete(`/form/${id}`)).status).toBe(204);
    expect((await api.manager.get(`/form/${id}`)).status).toBe(404);
  });

  it('is refused with 409 when another form with the same entityType has this name, in any letter case', async () => {
    const { name } = await createForm();
    const again = await api.manager.post<Problem>('/form', boiler('Source', { name: name.toUpperCase() }));
    expect(again).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect((await api.manager.post('/form', boiler('Site', { name }))).status).toBe(200);
    const other = await createForm();
    expect((await api.manager.put(`/form/${other.id}`, { name })).status).toBe(409);
  });

  it('creating a form, or changing its entityType, gets 409 if the account already has 100 forms for this entityType', async () => {
    const { stranger } = api;
    await api.database.query(
      `insert into form (account_id, entity_type, name, groups) select $1, 'Site', 'F' || n, '[]' from generate_series(1, 100) n`,
      [api.otherAccountId],
    );
    const { body: other } = await stranger.post<Form>('/form', boiler('Source'));
    const answers = [
      await stranger.post<{ message: string }>('/form', boiler('Site')),
      await stranger.send<{ message: string }>('PUT', `/form/${other.id}`, { entityType: 'Site' }),
    ];
    for (const { status, body } of answers)
      expect([status, body.message]).toEqual([409, 'an account may have at most 100 forms for sites']);
    expect((await stranger.put(`/form/${other.id}`, { entityType: 'Variable' })).status).toBe(204);
  });

  it('renaming a form is refused with 409 while a resource has values of the form', async () => {
    const form = await createForm();
    const id = await createSource(api.manager, siteId, filled(form, { Power: 1 }));
    const { status, body } = await api.manager.send<{ message: string }>('PUT', `/form/${form.id}`, {
      name: 'New name',
    });
    const place = `source ${id} has the key "${form.name}" in its clientData`;
    const advice = 'remove this key from the clientData of all sources first';
    expect([status, body.message]).toEqual([409, expect.stringContaining(`${place}; ${advice}`)]);
  });

  it('is neither visible to other accounts nor applied to their resources (R-A5)', async () => {
    const form = await createForm('Site');
    const { stranger } = api;
    expect((await stranger.get<Form[]>('/form')).body.map(({ id }) => id)).not.toContain(form.id);
    for (const path of [`/form/${form.id}`, `/form/${form.id}/values`])
      expect((await stranger.get(path)).status).toBe(404);
    expect((await stranger.put(`/form/${form.id}`, { groups: [] })).status).toBe(404);
    expect((await stranger.delete(`/form/${form.id}`)).status).toBe(404);
    expect((await stranger.post('/sites', { name: 'x', ...filled(form, { Power: 'x' }) })).status).toBe(200);
  });

  it('can be read but not written by a USER (R-B8)', async () => {
    const form = await createForm('Site');
    const user = await api.signIn('form-reader', 'USER', { sites: [siteId] });
    expect((await user.get(`/form/${form.id}`)).status).toBe(200);
    expect((await user.post('/form', boiler())).status).toBe(403);
    expect((await user.put(`/form/${form.id}`, {})).status).toBe(403);
    expect((await user.delete(`/form/${form.id}`)).status).toBe(403);
  });
});

describe('forms: clientData', () => {
  it('is checked on POST of sites, sources and variables and on PUT and PATCH of variables; a refused POST gets one error detail per invalid value (R-C11)', async () => {
    const [site, source, variable] = [
      await createForm('Site'),
      await createForm('Source'),
      await createForm('Variable'),
    ];
    const bad = { Power: -1, Fuel: 7 };
    const posts = [
      await api.manager.post<Problem>('/sites', { name: 'x', ...filled(site, bad) }),
      await api.manager.post<Problem>('/sources', { name: 'x', siteId, ...filled(source, bad) }),
      await api.manager.post<Problem>(`/variables/source/${sourceId}`, filled(variable, bad)),
    ];
    for (const { status, body } of posts) {
      expect([status, body.details.map(({ message }) => message)]).toEqual([
        400,
        ['must be at least 0, got -1', 'must be one of 1 (Gas), got 7'],
      ]);
    }
    const variableId = await createVariable(api.manager, sourceId, filled(variable, { Power: 2 }));
    const path = `/sources/${sourceId}/variables/${variableId}`;
    expect((await api.manager.put(path, filled(variable, {}))).status).toBe(400);
    const patch = [{ op: 'replace', path: `/clientData/${variable.name}/Technical/Power`, value: 'much' }];
    expect((await api.manager.send('PATCH', path, patch)).status).toBe(400);
    expect((await api.manager.put(path, { name: 'renamed' })).status).toBe(204);
    expect((await api.manager.get(`/variables/${variableId}`)).body).toMatchObject(filled(variable, { Power: 2 }));
    const filter = encodeURIComponent(`'${variable.name}'.Technical.Power = 2`);
    expect((await api.manager.get(`/variables?customFilter=${filter}`)).body).toMatchObject([{ id: variableId }]);
  });

  it('is kept when a new form makes it invalid; reads then show its problems', async () => {
    const name = `Late ${++made}`;
    const stored = { clientData: { [name]: { Technical: { Power: 'high', Fuel: 1 } } } };
    const late = await createSource(api.manager, siteId, stored);
    const sound = await createSource(api.manager, siteId, { clientData: { [name]: { Technical: { Power: 1 } } } });
    const { body: form } = await api.manager.post<Form>('/form', boiler('Source', { name }));

    const read = (await api.manager.get<object>(`/sources/${late}?displayLevel=Verbose`)).body;
    const path = `$.clientData[${JSON.stringify(name)}].Technical.Power`;
    const problems = [{ path, message: 'must be a number, got "high"' }];
    expect(read).toMatchObject({ ...stored, formProblems: problems });
    expect((await api.manager.put(`/sources/${late}`, { ...read, description: 'd' })).status).toBe(204);
    expect((await api.manager.put(`/sources/${late}`, filled(form, { Power: 'low' }))).status).toBe(400);

    const values = (query = '') => api.manager.get<object[]>(`/form/${form.id}/values${query}`);
    const broken = { id: late, name: 'Meter', siteId, values: stored.clientData[name], problems };
    const good = { id: sound, name: 'Meter', siteId, values: { Technical: { Power: 1 } } };
    expect((await values()).body).toEqual([broken, good]);
    expect((await values('?hasProblems=true')).body).toEqual([broken]);
    expect((await values('?hasProblems=false')).body).toEqual([good]);
    const counted = await api.manager.get(`/form/${form.id}/values?hasProblems=true`, { 'x-total-count': 'true' });
    expect(counted.headers.get('x-total-count'), 'the filter counts too (R-A7)').toBe('1');
    expect((await values('?itemsPerPage=1&pageNumber=1')).body).toEqual([good]);
    expect(await values('?itemsPerPage=1&hasProblems=true')).toMatchObject({
      status: 400,
      body: { details: [{ path: 'query.itemsPerPage', message: 'cannot be combined with hasProblems' }] },
    });

    expect((await api.manager.put(`/sources/${late}`, filled(form, { Power: 3 }))).status).toBe(204);
    expect((await api.manager.get(`/sources/${late}`)).body).not.toHaveProperty('formProblems');
  });

  it('is listed only for the sites that the user may see (R-B9)', async () => {
    const form = await createForm('Site');
    const shown = await createSite(api.manager, filled(form, { Power: 1 }));
    await createSite(api.manager, filled(form, { Power: 2 }));
    const user = await api.signIn('value-reader', 'USER', { sites: [shown] });
    expect((await user.get<{ id: number }[]>(`/form/${form.id}/values`)).body.map(({ id }) => id)).toEqual([shown]);
  });

  it('is no longer checked after its form is deleted', async () => {
    const form = await createForm('Site');
    await api.manager.delete(`/form/${form.id}`);
    expect((await api.manager.post('/sites', { name: 'x', ...filled(form, { Power: 'x' }) })).status).toBe(200);
  });
});

describe('forms: a value that a formula reads', () => {
  interface Request {
    readonly variableId: number;
    readonly trigger: string;
    readonly from: string;
  }
  /** Relays the events, then removes and returns the calculation requests that they caused. */
  const takeRequests = async () => {
    const { database } = api;
    await createOutboxRelay(database, [calculationTrigger(NO_QUEUE)], createLog('silent', 'test')).relay();
    const { rows } = await database.query<Request>(
      `delete from calculation_request returning variable_id as "variableId", trigger, from_date as "from"`,
    );
    return rows;
  };
  const declare = (variableId: number, entities: readonly object[]) => ({
    calculatedVariableFormulas: [{ formula: 'a', variables: [{ alias: 'a', variableId }], entities }],
  });
  const put = async (path: string, body: object) => expect((await api.manager.put(path, body)).status).toBe(204);

  it('with canBeUsedAsATrigger, each change requests a calculation from the first date of the input (R-H5)', async () => {
    const ownSite = await createSite(api.manager, { clientData: { F: { G: { a: 1, 'b c': 1 } } } });
    const ownSource = await createSource(api.manager, ownSite, { clientData: { F: { G: { a: 1 } } } });
    const other = await createSite(api.manager);
    const input = await createVariable(api.manager, ownSource);
    await api.manager.post('/api/data', [{ variableId: input, data: [{ date: '2026-03-01T00:00:00Z', value: 1 }] }]);
    await api.ingest();
    const form = (members: object) => ({ alias: 'f', canBeUsedAsATrigger: true, ...members });
    const add = (...entities: readonly object[]) =>
      createVariable(api.manager, ownSource, { calculated: declare(input, entities) });
    const bySite = await add(
      form({ entityType: 'Site', path: "F.G.'b c'" }),
      form({ alias: 'g', entityType: 1, path: 'F.G.a' }),
    );
    const bySource = await add(form({ entityType: 'Source', path: 'F.G.a' }));
    const byOther = await add(form({ entityType: 'Site', siteId: other, path: 'X' }));
    await add({ alias: 'f', entityType: 'Site', path: 'F.G.a' });
    await takeRequests();

    await put(`/sites/${ownSite}`, { clientData: { F: { G: { a: 1, 'b c': 2 } } } });
    const whole = { trigger: 'Form', from: '2026-03-01T00:00:00Z' };
    expect(await takeRequests()).toEqual([{ variableId: bySite, ...whole }]);
    await put(`/sites/${ownSite}`, { clientData: { F: { G: { a: 1, 'b c': 2, d: 1 } } }, name: 'renamed' });
    expect(await takeRequests()).toEqual([]);
    await put(`/sources/${ownSource}`, { clientData: {} });
    // The relay must hold `point_gate` while it reads the first dates of the inputs. Otherwise, the relay could miss
    // points of a chunk that is being compressed.
    expect(await behindClosedGate(api.database, takeRequests)).toEqual([{ variableId: bySource, ...whole }]);
    await put(`/sites/${other}`, { clientData: { X: [1] } });
    expect(await takeRequests()).toEqual([{ variableId: byOther, ...whole }]);

    const read = (await api.manager.get<{ calculated: object }>(`/variables/${byOther}`)).body;
    expect(read.calculated).toMatchObject(declare(input, [{ canBeUsedAsATrigger: true }]));
    await put(`/sources/${ownSource}/variables/${byOther}`, { calculated: declare(input, []) });
    await put(`/sites/${other}`, { clientData: { X: [2] } });
    expect(await takeRequests()).toEqual([]);
  });

  it('of a site is answered with the declared siteId even if it also has a sourceId, and a changed siteId takes effect (R-C12, R-H5)', async () => {
    const [home, first, second] = [
      await createSite(api.manager),
      await createSite(api.manager),
      await createSite(api.manager),
    ];
    const ownSource = await createSource(api.manager, home);
    const input = await createVariable(api.manager, ownSource);
    await api.manager.post('/api/data', [{ variableId: input, data: [{ date: '2026-03-01T00:00:00Z', value: 1 }] }]);
    await api.ingest();
    const declaration = (siteId: number) =>
      declare(input, [
        { alias: 'f', entityType: 'site', siteId, sourceId: ownSource, path: 'X', canBeUsedAsATrigger: true },
      ]);
    const id = await createVariable(api.manager, ownSource, { calculated: declaration(first) });
    const read = async () => (await api.manager.get<{ calculated: object }>(`/variables/${id}`)).body.calculated;
    expect(await read()).toMatchObject({ calculatedVariableFormulas: [{ entities: [{ siteId: first }] }] });
    await put(`/sources/${ownSource}/variables/${id}`, { calculated: declaration(second) });
    expect(await read()).toMatchObject({ calculatedVariableFormulas: [{ entities: [{ siteId: second }] }] });
    await takeRequests();
    await put(`/sites/${second}`, { clientData: { X: [1] } });
    expect(await takeRequests()).toMatchObject([{ variableId: id, trigger: 'Form' }]);
  });
});
