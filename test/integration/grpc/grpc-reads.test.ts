/**
 * `ReadLast`, `ListVersions` and `ListRuns`, called by clients that have only the public proto (R-J1–J3).
 * grpc-last-as-rest.test.ts compares `ReadLast` with REST.
 */
import { status as GrpcStatus } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGrpcReader, type GrpcReader, type Method, type PointRows } from '../../support/clients/grpc-client.ts';
import { createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const KWH = 8;
const WH = 7;

let api: TestApi;
let reader: GrpcReader;
let structure: Awaited<ReturnType<typeof createStructure>>;
let plain: number;
let versioned: number;
let empty: number;

const day = (number: number) => `2026-03-0${number}T00:00:00Z`;
const micros = (text: string) => Date.parse(text) * 1000;

async function push(variableId: number, readings: readonly object[]): Promise<void> {
  expect((await api.manager.post('/api/data', [{ variableId, data: readings }])).status).toBe(200);
  await api.ingest();
}

beforeAll(async () => {
  api = await startTestApi();
  reader = createGrpcReader(api.grpcAddress, api.manager.token);
  structure = await createStructure(api.manager, { unitId: KWH });
  plain = structure.variableId;
  versioned = await createVariable(api.manager, structure.sourceId, { isVersioned: true });
  empty = await createVariable(api.manager, structure.sourceId);
  await push(
    plain,
    [1, 2, 3].map((number) => ({ date: day(number), value: number })),
  );
  for (const [index, version] of ['V1', 'V2'].entries()) {
    await push(
      versioned,
      [1, 2].map((number) => ({ date: day(number), value: number + 10 * index, version, tags: { quality: version } })),
    );
  }
});
afterAll(async () => {
  reader?.close();
  await api?.close();
});

/** @returns variable, date, value and VersionTag of each row. */
function toRows({ variableIds, dateMicros, values, versionCodes, versions }: PointRows) {
  return variableIds.map((variableId, row) => {
    return [variableId, dateMicros[row], values[row], versions[(versionCodes[row] ?? 0) - 1] ?? null];
  });
}

describe('grpc: ReadLast', () => {
  it('returns the last point of each requested variable that has points, in request order, in one message (§2, R-G1, R-J1)', async () => {
    const rows = toRows(await reader.readLast({ variableIds: [versioned, empty, plain] }));
    expect(rows).toEqual([
      [versioned, micros(day(2)), 12, 'V2'],
      [plain, micros(day(3)), 3, null],
    ]);
  });

  it('returns, for each variable of a source, the last n points before to_micros, newest first (R-G1, R-J1)', async () => {
    const rows = toRows(await reader.readLast({ sourceId: structure.sourceId, count: 2, toMicros: micros(day(3)) }));
    expect(rows).toEqual([
      [plain, micros(day(2)), 2, null],
      [plain, micros(day(1)), 1, null],
      [versioned, micros(day(2)), 12, 'V2'],
      [versioned, micros(day(1)), 11, 'V2'],
    ]);
  });

  it('applies the request fields `versions`, `tags`, `as_of_micros`, `every_version` and `unit_id` (R-C8, R-G2)', async () => {
    const first = await reader.readLast({ variableIds: [versioned], versions: ['V1'] });
    expect(toRows(first)).toEqual([[versioned, micros(day(2)), 2, 'V1']]);
    expect(JSON.parse(first.tags[(first.tagCodes[0] ?? 0) - 1] ?? '')).toEqual({ quality: 'V1', version: 'V1' });
    expect(toRows(await reader.readLast({ variableIds: [versioned], tags: { quality: 'V1' } }))).toEqual(toRows(first));
    const asOfMicros = first.versionTimestampMicros[0];
    expect(toRows(await reader.readLast({ variableIds: [versioned], asOfMicros }))).toEqual(toRows(first));
    const every = await reader.readLast({ variableIds: [versioned], count: 3, everyVersion: true });
    expect(every.values).toEqual([12, 2, 11]);
    expect(await reader.readLast({ variableIds: [plain], unitId: WH })).toMatchObject({
      values: [3000],
      unitIds: [WH],
    });
    expect((await reader.readLast({ variableIds: [plain, versioned] })).unitIds).toEqual([KWH, 0]);
  });

  it('refuses a request with invalid or missing fields; the error names these fields (R-J3)', async () => {
    const code = GrpcStatus.INVALID_ARGUMENT;
    const cases = [
      [{ variableIds: [plain], count: 50_001 }, ['count']],
      [{ variableIds: [plain], count: -1 }, ['count']],
      [{}, ['variable_ids']],
      [{ variableIds: [plain], horizon: '24', relativeVersion: 'soon' }, ['relative_version', 'horizon']],
    ] as const;
    for (const [request, fields] of cases) {
      const refusal = await reader.refusalOf(request, 'ReadLast');
      expect(refusal).toMatchObject({ code, reason: 'invalid_input', requestId: 'grpc-test' });
      expect(refusal.fields.map(({ field }) => field)).toEqual(fields);
    }
  });

  it('fails with an error that recommends ReadPoints when the tags of the answer are too long for one message (R-J1, R-J3)', async () => {
    const tagged = await createVariable(api.manager, structure.sourceId);
    const readings = Array.from({ length: 3000 }, (_, index) => {
      return {
        date: new Date(index * 60_000).toISOString(),
        value: 1,
        tags: { note: String(index).padEnd(1000, 'x') },
      };
    });
    await push(tagged, readings);
    expect((await reader.readLast({ variableIds: [tagged], count: 1000 })).tags.length).toBe(1000);
    const refusal = await reader.refusalOf({ variableIds: [tagged], count: 3000 }, 'ReadLast');
    expect(refusal).toMatchObject({
      code: GrpcStatus.RESOURCE_EXHAUSTED,
      reason: 'body_too_large',
      message: expect.stringContaining('ReadPoints'),
    });
  });
});

describe('grpc: ListVersions', () => {
  it('returns every VersionTag with its point count; REST returns the same counts (R-F8, R-J1)', async () => {
    await push(versioned, [{ date: day(1), value: 7 }]);
    const { versions, totalCount } = await reader.listVersions({ variableId: versioned });
    const { body } = await api.manager.get<readonly Readonly<Record<string, string | null>>[]>(
      `/variables/${versioned}/versions`,
    );
    expect(versions.map(({ version, pointCount }) => [version, pointCount])).toEqual([
      [undefined, 1],
      ['V2', 2],
      ['V1', 2],
    ]);
    expect(totalCount).toBe(3);
    expect(body.map(({ version, pointCount }) => [version ?? undefined, pointCount])).toEqual(
      versions.map(({ version, pointCount }) => [version, pointCount]),
    );
    const first = versions[0]?.lastVersionTimestampMicros ?? 0;
    expect(new Date(first / 1000).toISOString().slice(0, 23)).toBe(body[0]?.lastVersionTimestamp?.slice(0, 23));
  });

  it('is paged (§8)', async () => {
    const page = await reader.listVersions({ variableId: versioned, itemsPerPage: 1, pageNumber: 1 });
    expect(page).toMatchObject({ versions: [{ version: 'V2' }], totalCount: 3 });
    expect(await reader.listVersions({ variableId: versioned, pageNumber: 1 })).toMatchObject({ versions: [] });
    const refusal = await reader.refusalOf({ variableId: versioned, itemsPerPage: 10_001 }, 'ListVersions');
    expect(refusal).toMatchObject({ reason: 'invalid_input', fields: [{ field: 'items_per_page' }] });
  });
});

const RUN = `
  insert into calculation_run (variable_id, account_id, state, trigger, from_date, to_date, trigger_date, wave, attempt,
                               default_version, requested_date, finished_date, outcome, message, inputs, notes, counts,
                               durations, formulas, ancestors, causes, declaration_hash)
  values ($1, $2, $3, 'Input', '2026-03-01', '2026-03-02', '2026-03-02', 5, 0, '2026-03-02T10:00:00', now(), $4, $5, null,
          $6, $7, '{"read": 4, "stored": 2}', '{"wait": 1.5, "r": 12}', $8, '{9}', '{7}', 'v1-ab')`;

describe('grpc: ListRuns', () => {
  beforeAll(async () => {
    const inputs = [
      {
        formula: 0,
        alias: 'a',
        variableId: plain,
        from: null,
        to: day(2),
        points: 4,
        ...{ version: 'V1', alignTo: 'Day', granularity: 'Hour', aggregation: 'SUM' },
        ...{ lastVersionTimestamp: day(1), historyFrom: day(1), rawFrom: day(2) },
      },
    ];
    const formulas = [{ formula: 0, from: day(1), to: day(2), triggerDate: day(2), forms: [{ alias: 'f', value: 1 }] }];
    const notes = { messages: ['hello'], warnings: [], output: 'out', call: 'f()', line: 3 };
    const details = [inputs, notes, formulas].map((detail) => JSON.stringify(detail));
    await api.database.query(RUN, [empty, api.accountId, 'Succeeded', day(2), 'ok', ...details]);
    await api.database.query(RUN, [empty, api.accountId, 'Running', null, null, '[]', '{}', '[]']);
  });

  it('streams the record of every run of a variable, newest first (R-H8, R-J1)', async () => {
    const [running, ended, ...others] = await reader.listRuns({ variableId: empty });
    expect(others).toEqual([]);
    expect(running).toMatchObject({ state: 'Running', variableId: empty });
    expect(running).not.toHaveProperty('outcome');
    expect(running).not.toHaveProperty('finishedMicros');
    expect(ended).toMatchObject({
      ...{ state: 'Succeeded', outcome: 'ok', trigger: 'Input', wave: 5, defaultVersion: '2026-03-02T10:00:00' },
      ...{ fromMicros: micros(day(1)), toMicros: micros(day(2)), finishedMicros: micros(day(2)), ancestors: [9] },
      counts: { read: 4, stored: 2 },
      durationsMs: { wait: 1.5, r: 12 },
      notes: { messages: ['hello'], warnings: [], output: 'out', call: 'f()', line: 3 },
      ...{ causes: [7], declarationHash: 'v1-ab' },
      inputs: [
        {
          ...{ alias: 'a', variableId: plain, toMicros: micros(day(2)), points: 4, versions: ['V1'] },
          ...{ alignTo: 'Day', granularity: 'Hour', aggregation: 'SUM', lastVersionTimestampMicros: micros(day(1)) },
          ...{ historyFromMicros: micros(day(1)), rawFromMicros: micros(day(2)) },
        },
      ],
      formulas: [{ fromMicros: micros(day(1)), formsJson: '[{"alias":"f","value":1}]' }],
    });
  });

  it('is paged (R-H8, §8)', async () => {
    const page = await reader.listRuns({ variableId: empty, itemsPerPage: 1, pageNumber: 1 });
    expect(page).toMatchObject([{ state: 'Succeeded' }]);
    expect(await reader.listRuns({ variableId: empty, pageNumber: 1 })).toEqual([]);
    const refusal = await reader.refusalOf({ variableId: empty, itemsPerPage: 1001 }, 'ListRuns');
    expect(refusal).toMatchObject({ reason: 'invalid_input', fields: [{ field: 'items_per_page' }] });
  });
});

describe.each<[Method, (id: number) => object]>([
  ['ReadLast', (id) => ({ variableIds: [id] })],
  ['ListVersions', (variableId) => ({ variableId })],
  ['ListRuns', (variableId) => ({ variableId })],
])('grpc: %s', (method, requestOf) => {
  it('treats a variable of another account, or of a site that the caller may not see, as a missing variable (R-B9, R-J2, R-J3)', async () => {
    const user = await api.signIn(`outsider of ${method}`, 'USER', {
      sites: [(await createStructure(api.manager)).siteId],
    });
    for (const { token } of [api.stranger, user]) {
      const other = createGrpcReader(api.grpcAddress, token);
      const [hidden, missing] = [
        await other.refusalOf(requestOf(plain), method),
        await other.refusalOf(requestOf(-5), method),
      ];
      expect(hidden).toMatchObject({ code: GrpcStatus.NOT_FOUND, reason: 'not_found', requestId: 'grpc-test' });
      expect(hidden.message.replace(String(plain), '#')).toBe(missing.message.replace('-5', '#'));
      other.close();
    }
  });

  it('requires a token with the scope datahub-api (R-B6, R-J2)', async () => {
    const scopeless = await api.signIn(`scopeless of ${method}`, 'MANAGER', { scopes: ['push-data'] });
    for (const [token, code, reason] of [
      [undefined, GrpcStatus.UNAUTHENTICATED, 'invalid_token'],
      [scopeless.token, GrpcStatus.PERMISSION_DENIED, 'insufficient_scope'],
    ] as const) {
      const other = createGrpcReader(api.grpcAddress, token);
      expect(await other.refusalOf(requestOf(plain), method)).toMatchObject({ code, reason });
      other.close();
    }
  });
});
