import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ingestAccount } from '../../../src/ingest/ingest-account.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { eventually } from '../../support/eventually.ts';
import { createSite, createSource, createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { BEGIN_HOLDING } from '../../support/services/stack.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const DATE = '2026-01-01T00:00:00Z';

interface Row {
  readonly date: string;
  readonly rawValue: number;
  readonly version?: string;
  readonly versionTimestamp: string;
  readonly tags?: Readonly<Record<string, string>>;
}

let api: TestApi;
let sourceId: number;
beforeAll(async () => {
  api = await startTestApi({ PUSH_MAX_BODY_BYTES: '200000', PUSH_MAX_ELEMENTS: '20', PUSH_MAX_READINGS: '50' });
  ({ sourceId } = await createStructure(api.manager));
});
afterAll(() => api.close());

const newVariable = (members = {}) => createVariable(api.manager, sourceId, members);
const push = (body: unknown, query = '', client: TestClient = api.manager) => client.post(`/api/data${query}`, body);
const pushRaw = (raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  api.manager.send('POST', '/api/data', undefined, { raw, headers });
const one = (variableId: unknown, reading = {}, element = {}) => [
  { variableId, data: [{ date: DATE, value: 1, ...reading }], ...element },
];

async function read(variableId: number): Promise<readonly Row[]> {
  await api.ingest();
  return (await api.manager.get<Row[]>(`/data?variableId=${variableId}`)).body;
}

/** @param kind `wait_event` of the lock. @returns true when a database session waits for such a lock. */
async function isWaitingForLock(kind: string): Promise<boolean> {
  const { rows } = await api.database.query(
    `select from pg_stat_activity where wait_event_type = 'Lock' and wait_event = $1 and datname = current_database()`,
    [kind],
  );
  return rows.length > 0;
}

async function countWaiting(): Promise<number> {
  const { rows } = await api.database.query<{ count: number }>('select count(*) as count from push_batch');
  return rows[0]?.count ?? -1;
}

describe('push: an accepted push', () => {
  it('is committed before the answer is sent, although no ingester has read it yet (R-D1)', async () => {
    await api.ingest();
    const variableId = await newVariable();
    expect(await push(one(variableId), '?operationId=import-1')).toMatchObject({
      status: 200,
      body: { operationId: 'import-1', accepted: { elements: 1, readings: 1 }, rejected: [] },
    });
    expect(await countWaiting()).toBe(1);
    const { rows } = await api.database.query(`select state from push_operation where label = 'import-1'`);
    expect(rows).toEqual([{ state: 'Queued' }]);
    expect(await read(variableId)).toMatchObject([{ date: DATE, rawValue: 1 }]);
    const after = await api.database.query(`select state from push_operation where label = 'import-1'`);
    expect(after.rows).toEqual([{ state: 'Completed' }]);
  });

  it('is written exactly once by concurrent ingesters (R-K3, R-D1)', async () => {
    const variableId = await newVariable({ isVersioned: true });
    for (let value = 0; value < 6; value++) await push(one(variableId, { value }));
    const drain = () => ingestAccount(api.database, api.accountId, 1);
    // An ingester skips a batch that another ingester has locked. It also skips later batches of the same variable.
    const counts = await Promise.all([drain(), drain(), drain(), drain()]);
    expect(Math.max(...counts)).toBe(1);
    await api.ingest();
    const { rows } = await api.database.query<{ value: number }>(
      `select value from (select * from point union all select * from point_version) version
       where variable_id = $1 order by version_timestamp`,
      [variableId],
    );
    expect(rows.map(({ value }) => value)).toEqual([0, 1, 2, 3, 4, 5]);
    const events = await api.database.query<{ count: number }>(
      `select sum((variable ->> 'count')::int)::int as count
       from outbox_event, jsonb_array_elements(payload -> 'variables') variable
       where type = 'DataPointsWritten' and (variable ->> 'variableId')::int = $1`,
      [variableId],
    );
    expect(events.rows).toEqual([{ count: 6 }]);
  });

  it('pushes take effect in the order in which they were answered, even when they are written in several transactions (R-D6)', async () => {
    const variableId = await newVariable();
    for (const value of [5, 3, 4]) await push(one(variableId, { value }));
    expect(await read(variableId)).toMatchObject([{ rawValue: 4 }]);
    for (const value of [9, 8]) {
      await push(one(variableId, { value }));
      await api.ingest(1);
    }
    expect(await read(variableId)).toMatchObject([{ rawValue: 8 }]);
  });

  it('a push that begins first but is answered last takes effect last (R-D6)', async () => {
    const variableId = await newVariable();
    const other = await api.signIn('quick', 'MANAGER');
    const { rows } = await api.database.query<{ id: string }>(`select id from app_user where user_name = 'max'`);
    const turn = await api.database.connect();
    await turn.query(BEGIN_HOLDING);
    await turn.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${api.accountId} ${rows[0]?.id}`]);
    const slow = push(one(variableId, { value: 1 }));
    await eventually('the push to wait for its turn', () => isWaitingForLock('advisory'));
    expect(await push(one(variableId, { value: 2 }), '', other)).toMatchObject({ status: 200 });
    await turn.query('commit');
    turn.release();
    expect(await slow).toMatchObject({ status: 200 });
    expect(await read(variableId)).toMatchObject([{ rawValue: 1 }]);
  });

  it('stores the last of the readings with the same variable, date and version, even when they are in different elements (R-D5)', async () => {
    const variableId = await newVariable({ isVersioned: true });
    const reading = (value: number, version?: string) => ({ date: DATE, value, version });
    await push([
      { variableId, data: [reading(1), reading(2, 'V1'), reading(3)] },
      { variableId, version: 'V1', data: [reading(4)] },
    ]);
    const { rows } = await api.database.query(
      `select value from (select * from point union all select * from point_version) version
       where variable_id = $1 order by version_timestamp`,
      [await read(variableId).then(() => variableId)],
    );
    expect(rows).toEqual([{ value: 3 }, { value: 4 }]);
  });

  it('a push without elements gets 200 and stores no batch (R-D1)', async () => {
    await api.ingest();
    const answer = await push([]);
    expect(answer).toMatchObject({ status: 200, body: { accepted: { elements: 0, readings: 0 }, rejected: [] } });
    expect(await countWaiting()).toBe(0);
  });
});

describe('push: version and tags', () => {
  it.each([
    ["the reading's version wins over the element's", { version: 'R' }, { version: 'E' }, 'R', { version: 'R' }],
    ["the element's version applies to readings that have none", {}, { version: 'E' }, 'E', { version: 'E' }],
    [
      'the tags of reading and element are merged; for a key in both, the value of the element wins',
      { tags: { a: 'r', b: 'r' } },
      { tags: { a: 'e', c: 'e' } },
      undefined,
      { a: 'e', b: 'r', c: 'e' },
    ],
    [
      'the version does not replace a tag named version',
      { version: 'R', tags: { version: 'mine' } },
      {},
      'R',
      { version: 'mine' },
    ],
    ['an empty version counts as absent', { version: '' }, { version: '' }, undefined, undefined],
    [
      'null members are ignored',
      { version: null, tags: { a: null } },
      { tags: null, version: null },
      undefined,
      undefined,
    ],
    [
      'a tag may be named __proto__ or constructor',
      { tags: JSON.parse('{"__proto__":"x","constructor":"y"}') },
      {},
      undefined,
      JSON.parse('{"__proto__":"x","constructor":"y"}'),
    ],
  ] as const)('%s (R-D3, §9.2)', async (_rule, reading, element, version, tags) => {
    const variableId = await newVariable({ isVersioned: true });
    expect(await push(one(variableId, reading, element))).toMatchObject({ status: 200 });
    const [row] = await read(variableId);
    expect(row?.version).toEqual(version);
    expect(row?.tags).toEqual(tags);
  });

  it('a reading can be queried by its new VersionTag right after ingestion, without configuration (§9.2 rule 2)', async () => {
    const variableId = await newVariable({ isVersioned: true });
    await push(one(variableId, { value: 1, version: 'Prévision 1/2' }));
    await push(one(variableId, { value: 2 }));
    await api.ingest();
    const path = `/data?variableId=${variableId}&version=${encodeURIComponent('Prévision 1/2')}`;
    expect((await api.manager.get(path)).body).toMatchObject([{ rawValue: 1, version: 'Prévision 1/2' }]);
  });
});

describe('push: a target', () => {
  it.each([
    ['variableId', { variableId: 'v' }],
    ['variableId sent as text (R-A3)', { variableId: 'text' }],
    ['mappingConfig alone', { mappingConfig: 'map-2' }],
    ['sourceId and variableTypeId', { sourceId: 's', variableTypeId: 7 }],
    ['sourceSerialNumber and variableTypeId', { sourceSerialNumber: 'SN-1', variableTypeId: 7 }],
    ['sourceEan and mappingConfig', { sourceEan: 'EAN-1', mappingConfig: 'map-1' }],
    ['sourceName and mappingConfig', { sourceName: 'Boiler', mappingConfig: 'map-1' }],
    ['meterNumber and variableTypeId', { meterNumber: 'M-1', variableTypeId: 7 }],
    ['a serial number sent as a number', { sourceSerialNumber: 471100, variableTypeId: 8 }],
    ['identifiers with names in upper or lower case (R-A3)', { SOURCESERIALNUMBER: 'SN-1', variabletypeID: 7 }],
    ['variableId, with null identifiers (§2)', { variableId: 'v', sourceEan: null, mappingConfig: null }],
    ['four identifiers that agree', { variableId: 'v', sourceId: 's', mappingConfig: 'map-1', sourceName: 'Boiler' }],
  ])('is found by %s (R-D2)', async (_what, identifiers) => {
    const { variableId, boilerId, secondId, digitsId } = await identified();
    const ids = Object.entries(identifiers).map(([name, value]) => {
      return [
        name,
        value === 'v' ? variableId : value === 'text' ? String(variableId) : value === 's' ? boilerId : value,
      ];
    });
    const value = Math.random();
    const answer = await push([{ ...Object.fromEntries(ids), data: [{ date: DATE, value }] }]);
    expect(answer.body).toMatchObject({ accepted: { elements: 1 }, rejected: [] });
    const { sourceSerialNumber, mappingConfig } = identifiers as Readonly<Record<string, unknown>>;
    const target = sourceSerialNumber === 471100 ? digitsId : mappingConfig === 'map-2' ? secondId : variableId;
    expect(await read(target)).toMatchObject([{ rawValue: value }]);
  });

  it.each([
    ['target_not_found', 'an unknown variable', { variableId: 2_000_000_000 }],
    ['target_not_found', 'identifiers that disagree', { mappingConfig: 'map-2', sourceSerialNumber: '471100' }],
    ['target_not_found', 'an identifier value in another letter case', { mappingConfig: 'MAP-2' }],
    ['target_not_found', 'missing identifiers', {}],
    ['target_ambiguous', 'a sourceName alone, of a source with two variables', { sourceName: 'Boiler' }],
  ])(
    'an element is rejected with %s because of %s; a second, valid element is accepted (§7, R-D1, R-D2)',
    async (code, _what, identifiers) => {
      const { variableId } = await identified();
      const body = [{ ...identifiers, data: [{ date: DATE, value: 1 }] }, ...one(variableId)];
      expect(await push(body)).toMatchObject({
        status: 200,
        body: { accepted: { elements: 1, readings: 1 }, rejected: [{ index: 0, code }] },
      });
    },
  );

  it('a target that belongs to another account is found neither by variableId nor by mappingConfig (R-D2)', async () => {
    const { variableId } = await identified();
    const answer = await push([...one(variableId), { mappingConfig: 'map-2', data: [] }], '', api.stranger);
    expect(answer.body).toMatchObject({
      accepted: { elements: 0, readings: 0 },
      rejected: [{ code: 'target_not_found' }, { code: 'target_not_found' }],
    });
  });

  it('a target is not found when the USER has no access to the site of the target (R-B9)', async () => {
    const [granted, hidden] = [await createStructure(api.manager), await createStructure(api.manager)];
    const user = await api.signIn('pusher', 'USER', { sites: [granted.siteId] });
    expect((await push([...one(hidden.variableId), ...one(granted.variableId)], '', user)).body).toMatchObject({
      accepted: { elements: 1 },
      rejected: [{ index: 0, code: 'target_not_found' }],
    });
  });

  it('a USER without sites does not find the target that a MANAGER finds, whichever of them pushes first (R-B9)', async () => {
    const nobody = await api.signIn('siteless', 'USER', { sites: [] });
    const [first, second] = [await createStructure(api.manager), await createStructure(api.manager)];
    const found = async (variableId: number, client = api.manager) =>
      ((await push(one(variableId), '', client)).body as { accepted: { elements: number } }).accepted.elements;
    expect([await found(first.variableId), await found(first.variableId, nobody)]).toEqual([1, 0]);
    expect([await found(second.variableId, nobody), await found(second.variableId)]).toEqual([0, 1]);
  });

  let made: { variableId: number; boilerId: number; secondId: number; digitsId: number } | undefined;
  /**
   * Adds two sources with two variables each. Every source and every variable type matches two variables, and so does
   * the mapping `map-1`. Therefore a push must combine two of these identifiers to select one variable.
   */
  async function identified() {
    if (made) return made;
    const siteId = await createSite(api.manager);
    const boilerId = await createSource(api.manager, siteId, {
      ...{ name: 'Boiler', serialNumber: 'SN-1', eanNumber: 'EAN-1', meterNumber: 'M-1' },
    });
    const variableId = await createVariable(api.manager, boilerId, { mappingConfig: 'map-1', variableTypeId: 7 });
    const secondId = await createVariable(api.manager, boilerId, { mappingConfig: 'map-2', variableTypeId: 8 });
    const digits = await createSource(api.manager, siteId, { name: 'Digits', serialNumber: '471100' });
    const digitsId = await createVariable(api.manager, digits, { variableTypeId: 8 });
    await createVariable(api.manager, digits, { mappingConfig: 'map-1', variableTypeId: 7 });
    made = { variableId, boilerId, secondId, digitsId };
    return made;
  }
});

describe('push: a local date', () => {
  it.each([
    ['a local date is in the zone of the source', '2026-01-01T12:00:00', '2026-01-01T11:00:00Z', undefined],
    ['an ambiguous date is the later instant', '2026-10-25T02:30:00', '2026-10-25T01:30:00Z', 'ambiguous_local_date'],
    ['a skipped date moves forward by the gap', '2026-03-29T02:30:00', '2026-03-29T01:30:00Z', 'skipped_local_date'],
    ['a date before the gap is not moved', '2026-03-29T01:59:59.999999', '2026-03-29T00:59:59.999999Z', undefined],
    ['a date with an offset is not local', '2026-10-25T02:30:00+0200', '2026-10-25T00:30:00Z', undefined],
  ])('%s: %s is stored as %s (R-D4)', async (_rule, date, instant, warning) => {
    const siteId = await createSite(api.manager, { timeZoneId: 'UTC' });
    const source = await createSource(api.manager, siteId, { timeZoneId: 'Europe/Brussels' });
    const variableId = await createVariable(api.manager, source);
    const { body } = await api.manager.post<{ warnings?: { path: string; code: string }[] }>(
      '/api/data',
      one(variableId, { date }),
    );
    expect(body.warnings?.map(({ path, code }) => [path, code])).toEqual(warning && [['$[0].data[0].date', warning]]);
    expect(await read(variableId)).toMatchObject([{ date: instant }]);
  });
});

describe('push: an invalid body', () => {
  it('is refused with a list of all problems and their paths; no batch is stored (R-D1, R-A5)', async () => {
    await api.ingest();
    const variableId = await newVariable();
    const answer = await push([
      ...one(variableId),
      { variableId, data: [{ date: 'yesterday', value: 1 }, { date: DATE }, 7] },
      { variableId: 1.5, version: 3, tags: { a: 1 } },
    ]);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input', requestId: expect.any(String) } });
    const { details } = answer.body as { details: { path: string }[] };
    expect(details.map(({ path }) => path)).toEqual([
      '$[1].data[0].date',
      '$[1].data[1].value',
      '$[1].data[2]',
      '$[2].variableId',
      '$[2].version',
      '$[2].tags.a',
      '$[2].data',
    ]);
    expect(await countWaiting()).toBe(0);
  });

  it('when the body has more than 100 problems, the answer lists 100 problems (R-D1)', async () => {
    const data = Array.from({ length: 50 }, () => ({}));
    const { body } = await push([{ data, role: 'ADMIN', userId: 'me' }]);
    expect((body as { details: unknown[] }).details).toHaveLength(100);
  });

  const element = (members: string) => `[{"variableId":1,${members}}]`;
  const reading = (value: string, date = `"${DATE}"`) => element(`"data":[{"date":${date},"value":${value}}]`);
  it.each([
    ['a number beyond double precision', reading('1e999'), '$[0].data[0].value must be a finite number, got Infinity'],
    ['a text that is not a number', reading('"NaN"'), '$[0].data[0].value must be a finite number, got "NaN"'],
    ['a date that does not exist', reading('1', '"2026-02-30T00:00:00Z"'), '$[0].data[0].date must be'],
    ['a date in epoch seconds', reading('1', '1767225600'), '$[0].data[0].date must be'],
    ['an account (§2)', element('"AccountId":1,"data":[]'), '$[0].accountId must not be sent'],
    ['a user (§2)', element('"userId":"x","data":[]'), '$[0].userId must not be sent'],
    ['a role (§2)', element('"role":"ADMIN","data":[]'), '$[0].role must not be sent'],
    ['U+0000 in a version', element('"version":"a\\u0000","data":[]'), '$[0].version must be a string'],
    ['an unpaired surrogate in a tag', element('"tags":{"a":"\\ud800"},"data":[]'), '$[0].tags.a must be a string'],
    ['an unpaired surrogate in an identifier', element('"mappingConfig":"\\udc00","data":[]'), '$[0].mappingConfig'],
    ['an id beyond 32 bits', '[{"variableId":4294967297,"data":[]}]', '$[0].variableId must be an integer id'],
    ['an object instead of an array', '{"data":[]}', '$ must be an array of push elements, got object'],
    ['null instead of an array', 'null', '$ must be an array of push elements, got null'],
    [
      'a value nested 20,000 deep',
      `[{"variableId":${'['.repeat(20_000)}${']'.repeat(20_000)},"data":[]}]`,
      '$[0].variableId',
    ],
  ])('is refused with 400 because of %s (R-D1)', async (_what, raw, message) => {
    const answer = await pushRaw(raw);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
    expect((answer.body as { message: string }).message).toContain(message);
  });

  it.each([
    ['cut off', '[\n{"variableId":1,', 'line 2, column'],
    ['spoiled by a trailing comma', '[1,\n2,]', 'line 2, column 3'],
    ['empty', '', 'line 1, column 1'],
    ['followed by a comment', '[] // done', 'line 1, column 4'],
    ['nested 100,000 deep', '['.repeat(100_000), 'at line 1, column 100001'],
    ['not UTF-8', new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d]), 'UTF-8'],
  ])(
    'a body that is %s gets 400 malformed_json; the message names the position or the reason (R-D1, R-A5)',
    async (_what, raw, position) => {
      const answer = await pushRaw(raw);
      expect(answer).toMatchObject({ status: 400, body: { code: 'malformed_json' } });
      expect((answer.body as { message: string }).message).toContain(position);
    },
  );
});

describe('push: limits of a body', () => {
  it.each([
    ['elements', () => Array.from({ length: 21 }, () => ({ data: [] })), '20 elements'],
    ['readings', () => [{ data: Array.from({ length: 51 }, () => ({ date: DATE, value: 1 })) }], '50 readings'],
    ['bytes', () => [{ data: [], mappingConfig: 'x'.repeat(200_000) }], '200000 bytes'],
  ])('a body with too many %s gets 413, and the error states the limit (R-D10)', async (_what, body, limit) => {
    const answer = await push(body());
    expect(answer).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    expect((answer.body as { message: string }).message).toContain(limit);
  });

  it('a body far beyond the limit gets an answer instead of a closed connection (R-D10)', async () => {
    const answer = await pushRaw(new Uint8Array(20_000_000).fill(0x20));
    expect(answer).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
  });

  it('a gzip bomb gets 413, because the limit applies to the inflated size (R-A4)', async () => {
    const answer = await pushRaw(gzipSync(Buffer.alloc(50_000_000, ' ')), { 'content-encoding': 'gzip' });
    expect(answer).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
  });
});

describe('push: GET /api/data/targets', () => {
  const targetsOf = async (client: TestClient, ids: readonly number[]) =>
    (await client.get<{ variableId: number }[]>(`/api/data/targets?variableIds=${ids.join()}`)).body;

  it('returns exactly the requested variables for which a push by the caller would be accepted (R-B8, R-B9, R-D2)', async () => {
    const { siteId, variableId: granted } = await createStructure(api.manager);
    const [other, missing] = [await newVariable(), 2_000_000_000];
    const ids = [missing, other, granted, other];
    const pusher = await api.signIn('tara', 'USER', { sites: [siteId] });
    const reader = await api.signIn('tom', 'USER', { sites: [siteId], mayPush: false });
    const [ofManager, ofPusher, ofReader, ofStranger] = await Promise.all(
      [api.manager, pusher, reader, api.stranger].map((client) => targetsOf(client, ids)),
    );
    expect(ofManager).toEqual([{ variableId: other }, { variableId: granted }]);
    expect(ofPusher).toEqual([{ variableId: granted }]);
    expect(ofReader).toEqual([]);
    expect(ofStranger).toEqual([]);
    const pushed = await push(
      ids.slice(0, 3).flatMap((id) => one(id)),
      '',
      pusher,
    );
    expect(pushed.body).toMatchObject({ accepted: { elements: 1 } });
  });
});
