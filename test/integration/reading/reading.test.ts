/**
 * Points read over REST, by query and by body, and over gRPC: selection, rows and errors (R-G1 to R-G3, R-J1 to R-J3).
 */
import { status as GrpcStatus } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Row, toRows } from '../../support/answers/point-rows.ts';
import { createGrpcReader, type GrpcReader } from '../../support/clients/grpc-client.ts';
import { createSite, createSource, createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const day = (number: number) => `2026-01-0${number}T00:00:00Z`;
const micros = (instant: string) => Date.parse(instant) * 1000;

let api: TestApi;
let reader: GrpcReader;
let structure: Awaited<ReturnType<typeof createStructure>>;
let versioned: number;
let plain: number;
/** VersionTimestamp of the first write to `versioned`. */
let firstKnown: string;

beforeAll(async () => {
  api = await startTestApi();
  reader = createGrpcReader(api.grpcAddress, api.manager.token);
  structure = await createStructure(api.manager, { isVersioned: true, unitId: 8 });
  versioned = structure.variableId;
  plain = await createVariable(api.manager, structure.sourceId);
  await push(versioned, 'V1', [1, 2, 3], { quality: 'first' });
  await push(plain, undefined, [10, 20]);
  firstKnown = (await rows(`variableId=${versioned}`))[0]?.versionTimestamp ?? '';
  await push(versioned, 'V2', [1.5, 2.5]);
});
afterAll(async () => {
  reader.close();
  await api.close();
});

async function push(variableId: number, version: string | undefined, values: readonly number[], tags = {}) {
  const data = values.map((value, index) => ({ date: day(index + 1), value }));
  await api.manager.post('/api/data', [{ variableId, version, tags, data }]);
  await api.ingest();
}

async function rows(query: string): Promise<readonly Row[]> {
  const { status, body } = await api.manager.get<readonly Row[]>(`/data?${query}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

describe('reading: a selection of points', () => {
  type Case = readonly [rule: string, query: () => string, request: () => object, values: readonly number[]];
  const cases: readonly Case[] = [
    ['the latest version', () => `variableId=${versioned}`, () => ({ variableIds: [versioned] }), [1.5, 2.5, 3]],
    [
      'one VersionTag (§9.3)',
      () => `variableId=${versioned}&version=V1`,
      () => ({ variableIds: [versioned], versions: ['V1'] }),
      [1, 2, 3],
    ],
    [
      'one of several VersionTags',
      () => `variableId=${versioned}&version=V1&version=V2`,
      () => ({ variableIds: [versioned], versions: ['V1', 'V2'] }),
      [1.5, 2.5, 3],
    ],
    [
      'an unknown VersionTag',
      () => `variableId=${versioned}&version=V9`,
      () => ({ variableIds: [versioned], versions: ['V9'] }),
      [],
    ],
    [
      'a VersionTag that cannot be stored',
      () => `variableId=${versioned}&version=%00`,
      () => ({ variableIds: [versioned], versions: ['\0'] }),
      [],
    ],
    [
      'as of an instant (§9.3)',
      () => `variableId=${versioned}&asOf=${firstKnown}`,
      () => ({ variableIds: [versioned], asOfMicros: exact(firstKnown) }),
      [1, 2, 3],
    ],
    [
      'as of an instant before all writes',
      () => `variableId=${versioned}&asOf=2020-01-01T00:00:00Z`,
      () => ({ variableIds: [versioned], asOfMicros: micros('2020-01-01T00:00:00Z') }),
      [],
    ],
    [
      'from inclusive, to exclusive',
      () => `variableId=${versioned}&from=${day(2)}&to=${day(3)}`,
      () => ({ variableIds: [versioned], fromMicros: micros(day(2)), toMicros: micros(day(3)) }),
      [2.5],
    ],
    [
      'includeToBoundary',
      () => `variableId=${versioned}&from=${day(2)}&to=${day(3)}&includeToBoundary=true`,
      () => ({
        variableIds: [versioned],
        fromMicros: micros(day(2)),
        toMicros: micros(day(3)),
        includeToBoundary: true,
      }),
      [2.5, 3],
    ],
    [
      'variables in the requested order',
      () => `variableIds=${plain},${versioned}`,
      () => ({ variableIds: [plain, versioned] }),
      [10, 20, 1.5, 2.5, 3],
    ],
    [
      'a variable named twice, returned once',
      () => `variableId=${plain}&variableIds=${plain}`,
      () => ({ variableIds: [plain, plain] }),
      [10, 20],
    ],
    [
      'every variable of a source',
      () => `sourceId=${structure.sourceId}`,
      () => ({ sourceId: structure.sourceId }),
      [1.5, 2.5, 3, 10, 20],
    ],
    [
      'the last point of each variable (§2)',
      () => `variableIds=${versioned},${plain}&Paging.PageNumber=0&Paging.ItemsPerPage=1&PagingOrder=DESC`,
      () => ({ variableIds: [versioned, plain], itemsPerPage: 1, order: 'DESC' }),
      [3, 20],
    ],
    [
      'the second page of each variable',
      () => `variableIds=${versioned},${plain}&pageNumber=1&itemsPerPage=2`,
      () => ({ variableIds: [versioned, plain], itemsPerPage: 2, pageNumber: 1 }),
      [3],
    ],
  ];

  it.each([...cases])(
    '%s: GET, POST and gRPC return the same rows (R-G1, R-G2, R-J1)',
    async (_rule, query, request, values) => {
      const found = await rows(query());
      expect(found.map(({ rawValue }) => rawValue)).toEqual(values);
      const chunks = await reader.readPoints(request());
      expect(toRows(chunks)).toEqual(found);
      const body: Record<string, unknown> = {};
      for (const [name, value] of new URLSearchParams(query())) {
        const [, ...parts] = /^(?:(.*)\.)?(.*)$/.exec(name) ?? [];
        const key = parts.at(-1) ?? name;
        body[key] = name in body ? [body[key], value].flat() : value;
      }
      expect((await api.manager.post<readonly Row[]>('/data', body)).body).toEqual(found);
    },
  );

  // Parses an instant with microseconds, because Date has milliseconds only.
  function exact(text: string): number {
    const [seconds = '', fraction = ''] = text.replace('Z', '').split('.');
    return micros(`${seconds}Z`) + Number(fraction.padEnd(6, '0'));
  }
});

describe('reading: rows', () => {
  it('always have `variableId`, `date`, `rawValue`, `unitId` and `versionTimestamp`, and also `version` and `tags` when the point has these (R-G3, R-A8, §9.2 rule 1)', async () => {
    expect((await rows(`variableId=${versioned}&version=V1`))[0]).toEqual({
      variableId: versioned,
      date: day(1),
      rawValue: 1,
      unitId: 8,
      version: 'V1',
      versionTimestamp: firstKnown,
      tags: { quality: 'first', version: 'V1' },
    });
    const [row] = await rows(`variableId=${plain}`);
    expect(Object.keys(row ?? {}).sort()).toEqual(['date', 'rawValue', 'unitId', 'variableId', 'versionTimestamp']);
  });

  it('have no members other than `rawValue`, `variableId` and `date` when `displayLevel` is ValueVariableDate (R-G1)', async () => {
    const [row] = await rows(`variableId=${plain}&displayLevel=valuevariabledate`);
    expect(row).toEqual({ variableId: plain, date: day(1), rawValue: 10 });
  });

  it('have dates with an offset when the query has `timeZoneId`; the offset distinguishes the two occurrences of a repeated hour (R-A8, R-G1)', async () => {
    const variableId = await createVariable(api.manager, structure.sourceId);
    const hours = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-07-01T00:00:00.000001Z'];
    const data = hours.map((date, value) => ({ date, value }));
    await api.manager.post('/api/data', [{ variableId, data }]);
    await api.ingest();
    const found = await rows(`variableId=${variableId}&timeZoneId=europe/brussels`);
    expect(found.map(({ date }) => date)).toEqual([
      '2026-07-01T02:00:00.000001+02:00',
      '2026-10-25T02:30:00+02:00',
      '2026-10-25T02:30:00+01:00',
    ]);
    const from = encodeURIComponent('2026-10-25T02:30:00+01:00');
    expect(await rows(`variableId=${variableId}&from=${from}`)).toHaveLength(1);
    expect(await rows(`variableId=${variableId}&from=2026-10-25T02:30:00%2B0100`.replace('%2B', '+'))).toHaveLength(1);
    expect(await rows(`variableId=${variableId}&from=2026-07-01T02:00:00&timeZoneId=Europe/Brussels`)).toHaveLength(3);
  });

  it('are selected by `from` and `to`; a bound without a time zone is read in the zone of the source, or in UTC when there are two sources; the answer names the zone (R-A11)', async () => {
    const siteId = await createSite(api.manager, { timeZoneId: 'Europe/Brussels' });
    const inLisbon = await createSource(api.manager, siteId, { timeZoneId: 'Europe/Lisbon' });
    const inBrussels = await createSource(api.manager, siteId);
    const [lisbon, brussels] = [
      await createVariable(api.manager, inLisbon),
      await createVariable(api.manager, inBrussels),
    ];
    const data = [0, 1, 2].map((hour) => ({ date: Date.UTC(2026, 6, 1) + hour * 3_600_000, value: hour }));
    await api.manager.post(
      '/api/data',
      [lisbon, brussels].map((variableId) => ({ variableId, data })),
    );
    await api.ingest();
    const read = async (query: string, path = '/data') => {
      const { headers, body } = await api.manager.get<unknown>(`${path}?${query}`);
      const list = (Array.isArray(body) ? body : (body as { rows: unknown[] }).rows) as { date: string }[];
      return [headers.get('time-zone'), list.map(({ date }) => date.slice(11, 13)).join()];
    };
    const from = 'from=2026-07-01 01:00:00';
    expect(await read(`variableId=${lisbon}&${from}`)).toEqual(['Europe/Lisbon', '00,01,02']);
    expect(await read(`sourceId=${inLisbon}&${from}&to=2026-07-01T02:00`)).toEqual(['Europe/Lisbon', '00']);
    expect(await read(`variableId=${brussels}&from=2026-07-01T03:00`)).toEqual(['Europe/Brussels', '01,02']);
    expect(await read(`variableIds=${lisbon},${brussels}&${from}`)).toEqual(['UTC', '01,02,01,02']);
    expect(await read(`variableId=${lisbon}&${from}&timeZoneId=UTC`)).toEqual(['UTC', '01,02']);
    expect(await read(`variableId=${lisbon}&${from}Z`)).toEqual([null, '01,02']);
    expect(await read(`variableId=${lisbon}&from=${Date.UTC(2026, 6, 1, 2)}`)).toEqual([null, '02']);
    const compared = `variableId=${lisbon}&${from}&leftAsOf=2100-01-01`;
    expect(await read(compared, '/data/compare')).toEqual(['Europe/Lisbon', '00,01,02']);
    const body = { variableIds: [lisbon], from: '2026-07-01 02:00:00' };
    expect((await api.manager.post('/data', body)).headers.get('time-zone')).toBe('Europe/Lisbon');
  });

  it('the header x-total-count gives the number of rows on all pages (R-A7)', async () => {
    const path = `/data?variableIds=${versioned},${plain}&itemsPerPage=1`;
    const answer = await api.manager.get<Row[]>(path, { 'x-total-count': 'true' });
    expect(answer.headers.get('x-total-count')).toBe('5');
    expect(answer.body).toHaveLength(2);
  });
});

describe('reading: an invalid request', () => {
  it.each([
    ['no variable and no source', '', 400],
    ['an end before the start', `variableId=V&from=${day(3)}&to=${day(1)}`, 400],
    ['an invalid date', 'variableId=V&from=yesterday', 400],
    ['an unknown zone', 'variableId=V&timeZoneId=Mars/Base', 400],
    ['an id that is not a number', 'variableId=x', 400],
    ['an unknown order', 'variableId=V&pagingOrder=UP', 400],
    ['zero items per page', 'variableId=V&itemsPerPage=0', 400],
    ['a horizon that is not a duration', 'variableId=V&horizon=24', 400],
    ['asOf and relativeVersion', 'variableId=V&relativeVersion=P1D&asOf=2026-01-01T00:00:00Z', 400],
    ['an unknown variable', 'variableId=2000000000', 404],
    ['one unknown variable of several', 'variableIds=V,2000000000', 404],
    ['an unknown source', 'sourceId=2000000000', 404],
  ])('is refused when it has %s: GET /data?%s answers %i (R-A5)', async (_what, query, status) => {
    const answer = await api.manager.get(`/data?${query.replace('V', String(versioned))}`);
    expect(answer).toMatchObject({ status, body: { code: status === 404 ? 'not_found' : 'invalid_input' } });
  });

  it('gets 404 over REST and NOT_FOUND over gRPC when its variable is in another account or an ungranted site (R-A5, R-B9, R-J2)', async () => {
    const user = await api.signIn('outsider', 'USER', { sites: [(await createStructure(api.manager)).siteId] });
    for (const client of [api.stranger, user]) {
      expect((await client.get(`/data?variableId=${versioned}`)).status).toBe(404);
      expect((await client.get(`/data?sourceId=${structure.sourceId}`)).status).toBe(404);
      await withReader(client.token, async (it) => {
        expect(await it.refusalOf({ variableIds: [versioned] })).toMatchObject({ code: GrpcStatus.NOT_FOUND });
        expect(await it.refusalOf({ sourceId: structure.sourceId })).toMatchObject({ code: GrpcStatus.NOT_FOUND });
      });
    }
  });

  it('is answered over gRPC with a status, and with the error code and request id in ErrorInfo (R-J2, R-J3)', async () => {
    const wrongScope = await api.signIn('scopeless', 'MANAGER', { scopes: ['push-data'] });
    const cases = [
      [undefined, { variableIds: [versioned] }, GrpcStatus.UNAUTHENTICATED, 'invalid_token'],
      ['not-a-token', { variableIds: [versioned] }, GrpcStatus.UNAUTHENTICATED, 'invalid_token'],
      [wrongScope.token, { variableIds: [versioned] }, GrpcStatus.PERMISSION_DENIED, 'insufficient_scope'],
      [api.manager.token, {}, GrpcStatus.INVALID_ARGUMENT, 'invalid_input'],
      [api.manager.token, { variableIds: [versioned], itemsPerPage: -1 }, GrpcStatus.INVALID_ARGUMENT, 'invalid_input'],
      [api.manager.token, { variableIds: [-5] }, GrpcStatus.NOT_FOUND, 'not_found'],
    ] as const;
    for (const [token, request, code, reason] of cases) {
      await withReader(token, async (it) => {
        expect(await it.refusalOf(request)).toMatchObject({ code, reason, requestId: 'grpc-test' });
      });
    }
  });

  it('gets an answer that names the invalid proto fields over gRPC, and the invalid parameter or JSON path over REST (R-A5, R-J3)', async () => {
    const request = {
      variableIds: [versioned],
      relativeVersion: 'soon',
      asOfMicros: 1,
      horizon: '24',
      fill: 'FILL_NULL',
    };
    const { message, fields } = await reader.refusalOf(request);
    expect(message).toMatch(/^relative_version must be /);
    expect(fields.map(({ field }) => field)).toEqual(['relative_version', 'horizon', 'fill', 'granularity']);
    expect(await reader.refusalOf({ variableIds: [versioned], fromMicros: 2, toMicros: 1 })).toMatchObject({
      message: 'from_micros must not be later than to_micros',
      fields: [{ field: 'from_micros', description: 'must not be later than to_micros' }],
    });
    expect(await reader.refusalOf({})).toMatchObject({
      message: 'variable_ids must be present when source_id is absent',
    });
    const period = { variableId: versioned, from: day(2), to: day(1) };
    expect((await api.manager.post('/data', period)).body).toMatchObject({
      message: '$.from must not be later than $.to',
      details: [{ path: '$.from' }],
    });
    const query = `variableId=${versioned}&from=${day(2)}&to=${day(1)}`;
    expect((await api.manager.get(`/data?${query}`)).body).toMatchObject({
      message: 'query from must not be later than query to',
      details: [{ path: 'query.from' }],
    });
    expect((await api.manager.post('/data', { variableIds: [versioned, 2_000_000_000] })).body).toMatchObject({
      code: 'not_found',
      details: [{ path: '$.variableIds', message: 'variable 2000000000 does not exist' }],
    });
    expect((await api.manager.post('/data', { variableId: versioned, unitId: 999_999 })).body).toMatchObject({
      details: [{ path: '$.unitId' }],
    });
  });

  async function withReader(token: string | undefined, work: (it: GrpcReader) => Promise<void>): Promise<void> {
    const other = createGrpcReader(api.grpcAddress, token);
    try {
      await work(other);
    } finally {
      other.close();
    }
  }
});

describe('reading: long tags over gRPC', () => {
  it('come in messages below the default size limit of a client, and every message holds the tags of its own points (R-J1, R-J2)', async () => {
    const variableId = await createVariable(api.manager, structure.sourceId);
    const texts = Array.from({ length: 6000 }, (_, index) => String(index).padEnd(1000, 'é'));
    const data = texts.map((note, index) => ({
      date: new Date(index * 60_000).toISOString(),
      value: index,
      tags: { note },
    }));
    expect((await api.manager.post('/api/data', [{ variableId, data }])).status).toBe(200);
    await api.ingest();
    const chunks = await reader.readPoints({ variableIds: [variableId] });
    expect(chunks.flatMap(({ values }) => values)).toEqual(texts.map((_, index) => index));
    const read = chunks.flatMap(({ tags, tagCodes }) =>
      tagCodes.map((code) => JSON.parse(tags[code - 1] ?? '{}').note),
    );
    expect(read).toEqual(texts);
  });
});

describe('reading: a page number beyond the last page', () => {
  const page = { itemsPerPage: 2_147_483_647, pageNumber: 2_147_483_647 };

  it.each([
    ['raw points', {}],
    ['filled daily buckets', { granularity: 'Day', fill: 'null' }],
  ])('gives no %s over REST (R-G1)', async (_kind, buckets) => {
    const answer = await api.manager.post('/data', { variableIds: [versioned], ...page, ...buckets });
    expect(answer).toMatchObject({ status: 200, body: [] });
  });

  it('gives no rows over gRPC (R-G1, R-J1)', async () => {
    expect(await reader.readPoints({ variableIds: [versioned], ...page })).toEqual([]);
  });
});

describe('reading: a long series over gRPC', () => {
  it('is sent complete and in order, in several chunks (R-J1)', async () => {
    const variableId = await createVariable(api.manager, structure.sourceId, { isVersioned: true });
    await api.database.query(
      `insert into point select timestamptz '2020-01-01' + n * interval '1 minute', n, now(), $1, 0, 0
       from generate_series(0, 24999) n`,
      [variableId],
    );
    const chunks = await reader.readPoints({ variableIds: [variableId], toMicros: Number.MAX_SAFE_INTEGER });
    expect(chunks.length).toBeGreaterThan(1);
    for (const chunk of chunks) {
      expect(chunk.values).toHaveLength(chunk.dateMicros.length);
      expect(chunk.versionTimestampMicros).toHaveLength(chunk.dateMicros.length);
      expect(chunk.versionCodes, 'no codes without texts').toEqual([]);
    }
    expect(chunks.flatMap(({ values }) => values)).toEqual(Array.from({ length: 25_000 }, (_, index) => index));
  });
});
