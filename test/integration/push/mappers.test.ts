import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addClaim } from '../../../src/accounts/members/claims.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { createSite, createSource, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
let variableId: number;
beforeAll(async () => {
  api = await startMapperApi(6000);
  const siteId = await createSite(api.manager);
  const sourceId = await createSource(api.manager, siteId, { name: 'Boiler', serialNumber: '0042' });
  variableId = await createVariable(api.manager, sourceId, { variableTypeId: 7 });
});
afterAll(() => api.close());

/** Starts an API with limits for each mapper. The manager of the account may push data that a mapper converts. */
async function startMapperApi(timeoutMs: number): Promise<TestApi> {
  const started = await startTestApi({ MAPPER_TIMEOUT_MS: String(timeoutMs), MAPPER_MEMORY_MEBIBYTES: '128' });
  const { accountId, database } = started;
  const { rows } = await database.query<{ id: string }>(`select id from app_user where user_name = 'max'`);
  await addClaim(database, { accountId, userId: rows[0]?.id ?? '', claimType: 'datapusher.custom' });
  return started;
}

interface Mapper {
  readonly id: string;
  readonly name: string;
}

async function addMapper(expression: string, members = {}, client: TestClient = api.manager): Promise<string> {
  const { status, body } = await client.post<Mapper>('/account/mappers', { name: 'm', expression, ...members });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.id;
}
const pushRaw = (guid: string, type: string, raw: string, query = '', client: TestClient = api.manager) =>
  client.send<{ accepted: unknown; message: string }>('POST', `/api/generic/${guid}${query}`, undefined, {
    raw,
    headers: { 'content-type': type },
  });

it('push: the audit trail lists who created, changed and deleted a mapper (R-B14, R-D9)', async () => {
  const id = await addMapper('[]', { name: 'Old' });
  await api.manager.put(`/account/mappers/${id}`, { name: 'New', expression: '[]' });
  await api.manager.put(`/account/mappers/${id}`, { name: 'Wrong', expression: '[' });
  await api.manager.delete(`/account/mappers/${id}`);
  const { body } = await api.manager.get(`/account/audit?targetId=${id}`);
  expect(body).toMatchObject([
    { action: 'MapperDeleted', targetName: 'New', userName: 'max', requestId: expect.any(String) },
    { action: 'MapperUpdated', targetName: 'New', userName: 'max' },
    { action: 'MapperCreated', targetName: 'Old', userName: 'max' },
  ]);
});

// The examples of src/push/mapper/README.md.
const JSON_MAPPER = `[$.devices.{
  "sourceSerialNumber": serial, "variableTypeId": 7,
  "data": [samples.{ "date": $fromMillis(t * 1000), "value": v }]
}]`;
const XML_MAPPER = `[meters.meter.{
  "sourceSerialNumber": \`@serial\`, "variableTypeId": 7,
  "data": [reading.{ "date": \`@at\`, "value": \`#text\` }]
}]`;
const CSV_MAPPER = `[$.{
  "sourceSerialNumber": meter, "variableTypeId": 7,
  "data": [{ "date": $replace(when, " ", "T") & "Z", "value": $replace(kwh, ",", ".") }]
}]`;

describe('push: a body in a custom format', () => {
  it.each([
    [
      'JSON',
      'application/json',
      JSON_MAPPER,
      '{"devices":[{"serial":"0042","samples":[{"t":1767225600,"v":1.5},{"t":1767226500,"v":2}]}]}',
      [1.5, 2],
    ],
    [
      'XML',
      'application/xml',
      XML_MAPPER,
      '<meters><meter serial="0042"><reading at="2026-02-01T00:00:00Z">3.5</reading></meter></meters>',
      [3.5],
    ],
    ['CSV', 'text/csv', CSV_MAPPER, 'meter;when;kwh\r\n0042;2026-03-01 00:00:00;"4,5"\r\n', [4.5]],
  ])('a %s body is mapped to push elements and pushed (R-D9)', async (_format, type, expression, raw, values) => {
    await api.database.query('delete from point where variable_id = $1', [variableId]);
    await api.database.query('delete from series where variable_id = $1', [variableId]);
    const answer = await pushRaw(await addMapper(expression), type, raw);
    expect(answer.body).toMatchObject({ accepted: { readings: values.length }, rejected: [] });
    await api.ingest();
    const { body } = await api.manager.get<{ rawValue: number }[]>(`/data?variableId=${variableId}`);
    expect(body.map(({ rawValue }) => rawValue)).toEqual(values);
  });

  it('two pushes of the same body with the same operationId are one operation, even if the mapper returns different elements the second time (R-D7)', async () => {
    const guid = await addMapper(`{"variableId": ${variableId}, "data": [{"date": $now(), "value": v}]}`);
    for (let time = 0; time < 2; time += 1) await pushRaw(guid, 'application/json', '{"v":1}', '?operationId=custom');
    const { body } = await api.manager.get<unknown[]>('/api/operations/custom?all=true');
    expect(body).toMatchObject([{ mapperId: guid, accepted: { readings: 1 } }]);
  });

  it('is validated after mapping, like any push (R-D1)', async () => {
    const guid = await addMapper('{"variableId": 1, "data": [{"date": "x", "value": 1}]}');
    expect(await pushRaw(guid, 'application/json', '{}')).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', details: [{ path: '$[0].data[0].date' }] },
    });
  });

  it('is answered with 404 when its mapper is unknown, disabled or of another account (R-D9)', async () => {
    const [guid, off] = [await addMapper('[]'), await addMapper('[]', { isEnabled: false })];
    for (const unknown of ['00000000-0000-4000-8000-000000000000', 'x']) {
      const missing = { status: 404, body: { message: `mapper ${unknown} does not exist` } };
      expect(await pushRaw(unknown, 'application/json', '{}')).toMatchObject(missing);
    }
    const disabled = { status: 404, body: { message: `mapper ${off} is disabled` } };
    expect(await pushRaw(off, 'application/json', '{}')).toMatchObject(disabled);
    const { rows } = await api.database.query<{ id: string }>(`select id from app_user where user_name = 'sam'`);
    await addClaim(api.database, {
      ...{ accountId: api.otherAccountId, userId: rows[0]?.id ?? '', claimType: 'datapusher.custom' },
    });
    expect((await pushRaw(guid, 'application/json', '{}', '', api.stranger)).status).toBe(404);
    expect((await api.stranger.get(`/account/mappers/${guid}`)).status).toBe(404);
    expect((await pushRaw(guid, 'application/json', '{}')).status).toBe(200);
  });

  it('may be pushed only with the permission datapusher.custom (R-B8)', async () => {
    const other = await api.signIn('nina', 'MANAGER');
    expect((await pushRaw(await addMapper('[]'), 'application/json', '{}', '', other)).status).toBe(403);
  });

  it('is answered with 415 when its Content-Type is not supported (R-A4)', async () => {
    expect((await pushRaw(await addMapper('[]'), 'image/png', 'x')).status).toBe(415);
  });

  it.each([
    [
      'XML entities',
      '<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
      'must not have a DOCTYPE (line 2, column 1)',
    ],
    ['an unclosed XML tag', '<a><b></a>', 'must be XML'],
  ])('a body that contains %s gets 400 with the reason (R-D9)', async (_what, raw, reason) => {
    const answer = await pushRaw(await addMapper('[]'), 'text/xml', raw);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(reason);
  });
});

describe('push: a hostile mapper', () => {
  const expectToFailAlone = async (expression: string, reason: string, client: TestClient = api.manager) => {
    const guid = await addMapper(expression, {}, client);
    const answer = await pushRaw(guid, 'application/json', '{}', '', client);
    expect(answer).toMatchObject({ status: 400, body: { code: 'mapping_failed' } });
    expect(answer.body.message).toContain(reason);
    expect((await client.get('/account/mappers')).status).toBe(200);
  };

  describe('with a time limit of 2.5 s', () => {
    let impatient: TestApi;
    beforeAll(async () => {
      impatient = await startMapperApi(2500);
    });
    afterAll(() => impatient?.close());

    it.each([
      ['runs without end', '($f := function($x){ $f($x + 1) }; $f(0))'],
      ['backtracks without end', '$match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", /^(a+)+$/)'],
    ])('when a mapper %s, its push fails with the reason, and the API still answers (R-D9)', (_what, expression) =>
      expectToFailAlone(expression, 'must end within 2500 ms', impatient.manager),
    );
  });

  it.each([
    ['recurses without end', '($f := function($x){ 1 + $f($x) }; $f(0))', 'Stack overflow'],
    ['builds a huge array', '[1..99999999]', 'range operator'],
  ])(
    'when a mapper %s, its push fails with the reason, and the API still answers (R-D9)',
    (_what, expression, reason) => expectToFailAlone(expression, reason),
  );

  it('fails at the memory limit when it builds a huge text, and the API still answers (R-D9)', async () => {
    // Exhausting the memory takes seconds on a busy machine; the time limit must not end the mapper first.
    const patient = await startMapperApi(60_000);
    try {
      await expectToFailAlone('$pad("", 500000000)', 'memory', patient.manager);
    } finally {
      await patient.close();
    }
  }, 120_000);

  it.each([
    '$string(1).constructor',
    '$toString.constructor("return process")()',
    '$.__proto__.polluted',
    '$ ~> |$|{"__proto__":{"polluted":1}}|',
    '$.constructor.constructor("return 1")()',
  ])('the expression %s does not change the prototype of objects in the API (R-D9)', async (expression) => {
    const guid = await addMapper(`[(${expression}; [])]`);
    const answer = await pushRaw(guid, 'application/json', '{"__proto__":{"polluted":1}}');
    expect([200, 400]).toContain(answer.status);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('push: /account/mappers', () => {
  it('creates, lists, reads, changes and deletes mappers; PUT accepts what GET returns (R-D9)', async () => {
    const id = await addMapper('[]', { name: 'aaa' });
    const read = (await api.manager.get<Mapper>(`/account/mappers/${id}`)).body;
    expect(read).toMatchObject({ id, name: 'aaa', expression: '[]', hasHeader: true, isEnabled: true });
    expect((await api.manager.put(`/account/mappers/${id}`, { ...read, name: 'zzz' })).status).toBe(204);
    expect((await api.manager.get<Mapper[]>('/account/mappers')).body.at(-1)).toMatchObject({ id, name: 'zzz' });
    expect((await api.manager.delete(`/account/mappers/${id}`)).status).toBe(204);
    expect((await api.manager.get(`/account/mappers/${id}`)).status).toBe(404);
    expect((await api.manager.delete(`/account/mappers/${id}`)).status).toBe(404);
  });

  it('refuses an invalid expression with a message that states the position of the error (R-D9, R-A5)', async () => {
    const answer = await api.manager.post('/account/mappers', { name: 'm', expression: 'a.b[' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input', details: [{ path: '$.expression' }] } });
    expect((answer.body as { message: string }).message).toContain('character 4 of the expression');
  });

  it('needs the role MANAGER (R-D9, R-B8)', async () => {
    const user = await api.signIn('ursula', 'USER');
    const id = await addMapper('[]');
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['GET', `/${id}`],
      ['PUT', `/${id}`],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/test`],
      ['POST', '/test'],
    ] as const) {
      const body = method === 'GET' ? undefined : { name: 'm', expression: '[]', sample: '{}' };
      expect((await user.send(method, `/account/mappers${path}`, body)).status, `${method} ${path}`).toBe(403);
    }
  });

  it('tests a mapper with a sample, and stores no push operation (R-D9)', async () => {
    const id = await addMapper('{"variableId": n, "data": [{"date": d, "value": 1}]}');
    const sample = async (raw: string) =>
      (await api.manager.send('POST', `/account/mappers/${id}/test`, undefined, { raw })).body;
    const before = await api.database.query('select count(*) from push_operation');
    expect(await sample('{"n":1,"d":"2026-01-01T00:00:00Z"}')).toEqual({
      elements: [{ variableId: 1, data: [{ date: '2026-01-01T00:00:00Z', value: 1 }] }],
    });
    expect(await sample('{"n":1,"d":"x"}')).toMatchObject({ problems: [{ path: '$[0].data[0].date' }] });
    expect(await sample('{"n":')).toMatchObject({ error: { code: 'mapping_failed' } });
    expect((await api.database.query('select count(*) from push_operation')).rows).toEqual(before.rows);
  });

  it('tests an unsaved expression with a sample, and stores no mapper (R-D9)', async () => {
    const given = { expression: '[$.{ "variableId": id, "data": [{ "date": at, "value": kwh }] }]' };
    const test = (members: object) => api.manager.post('/account/mappers/test', { ...given, ...members });
    const elements = [{ variableId: '1', data: [{ date: '2026-01-01T00:00:00Z', value: '2' }] }];
    const sample = 'id;at;kwh\n1;2026-01-01T00:00:00Z;2\n';
    expect(await test({ contentType: 'text/csv', sample })).toMatchObject({ status: 200, body: { elements } });
    const refusal = (message: unknown) => ({ body: { error: { code: 'mapping_failed', message } } });
    const notJson = expect.stringMatching(/^the body is not JSON: /);
    expect(await test({ sample: '{"id":' })).toMatchObject(refusal(notJson));
    const notClosed = 'the body must be CSV; the quote at line 4, column 3 is not closed';
    const unclosed = { contentType: 'text/csv', sample: 'id;at\r\n1;"a\nb"\r\n2;"c\r\n' };
    expect(await test(unclosed)).toMatchObject(refusal(notClosed));
    expect(await test({ sample: '{}', expression: '[' })).toMatchObject({
      body: { error: { code: 'mapping_failed' } },
    });
    const message =
      '$.contentType must be application/json, application/*+json, application/xml, application/*+xml, text/xml, text/*+xml, text/csv or text/plain, got image/png';
    expect(await test({ contentType: 'image/png', sample: '' })).toMatchObject({ status: 415, body: { message } });
    expect(await test({ sample: 'x'.repeat(1 << 20) })).toMatchObject({ status: 413 });
    const { rows } = await api.database.query(`select from mapper where expression = $1`, [given.expression]);
    expect(rows).toEqual([]);
  });
});
