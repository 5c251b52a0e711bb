/** A read of a past state that may lack removed versions says since when past states are complete (R-F9). */
import { once } from 'node:events';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Row } from '../../support/answers/point-rows.ts';
import { openEventStream } from '../../support/clients/event-stream.ts';
import { fetchRaw } from '../../support/clients/fetch-rows.ts';
import { createGrpcReader, type GrpcReader, type Method } from '../../support/clients/grpc-client.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { openWatcher } from '../../support/clients/watcher.ts';
import { createSource, createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const DAY = '2026-01-01T00:00:00Z';
const BEFORE_ALL = '2026-01-01T12:00:00Z';
const ARROW = 'application/vnd.apache.arrow.stream';
const JSON_TYPE = 'application/json';

let api: TestApi;
let manager: TestClient;
let reader: GrpcReader;
let sourceId: number;
/** Variable with a version limit of two: four untagged versions were written, and the first two were removed. */
let cut: number;
/** Variable without a version limit: two versions were written, and both are kept. */
let whole: number;
/** VersionTimestamps of the two versions that `cut` keeps. */
let kept: readonly string[];

beforeAll(async () => {
  api = await startTestApi();
  ({ manager } = api);
  reader = createGrpcReader(api.grpcAddress, manager.token);
  sourceId = await createSource(manager, (await createStructure(manager)).siteId);
  cut = await createVariable(manager, sourceId, { isVersioned: true, versionLimit: 2 });
  whole = await createVariable(manager, sourceId, { isVersioned: true });
  for (const value of [1, 2, 3, 4]) await push(cut, value);
  for (const value of [1, 2]) await push(whole, value);
  kept = await stampsOf(cut);
});
afterAll(async () => {
  reader?.close();
  await api?.close();
});

async function push(variableId: number, value: number, version?: string): Promise<void> {
  await manager.post('/api/data', [{ variableId, ...(version && { version }), data: [{ date: DAY, value }] }]);
  await api.ingest();
}

async function stampsOf(variableId: number): Promise<readonly string[]> {
  const { body } = await manager.get<readonly Row[]>(`/data?variableId=${variableId}&versions=all`);
  return body.map(({ versionTimestamp }) => versionTimestamp ?? '');
}

/** @returns the header `History-From` and the values of a read. */
async function read(query: string) {
  const { headers, body } = await manager.get<readonly Row[]>(`/data?${query}`);
  return { historyFrom: headers.get('history-from'), values: body.map(({ rawValue }) => rawValue) };
}

const item = (variableId: number, instant: string | undefined) => `${instant};variableId=${variableId}`;

describe('history: the header History-From of GET /data and POST /data', () => {
  test('a read with `asOf` gets the header only if `asOf` is earlier than the instant from which the history is complete; the header gives this instant (R-F9)', async () => {
    expect(await read(`variableId=${cut}&asOf=${BEFORE_ALL}`)).toEqual({ historyFrom: item(cut, kept[0]), values: [] });
    expect(await read(`variableId=${cut}&asOf=${kept[0]}`)).toEqual({ historyFrom: null, values: [3] });
  });

  test('a read with a horizon of a month gets the header if any of its dates needs a state from before the cut (R-F9)', async () => {
    const variableId = await createVariable(manager, sourceId, { isVersioned: true });
    await push(variableId, 1);
    const cutAt = '2026-02-28T12:00:00Z';
    await api.database.query('update series set history_from = $2 where variable_id = $1', [variableId, cutAt]);
    const readFrom = async (rest: string) =>
      (await read(`variableId=${variableId}&horizon=P1M&from=${rest}`)).historyFrom;
    // A month before 28 March, 23:00, and a month before 29 March, 00:00, are on 28 February.
    expect(await readFrom('2026-03-28T23:00:00Z')).toBe(item(variableId, cutAt));
    expect(await readFrom('2026-03-28T23:00:00Z&to=2026-03-28T23:30:00Z')).toBeNull();
    expect(await readFrom('2026-04-01T00:00:00Z')).toBeNull();
  });

  test.each([
    'relativeVersion=last+day',
    'horizon=PT1H',
    `horizon=P1D&from=${DAY}`,
    'version=V1',
    'tags=a:b',
    'versions=all',
  ])(
    'for a read with `%s`, the header names the history cut of the variable; if the variable has no history cut, there is no header (R-F9, R-G2)',
    async (choice) => {
      expect(await read(`variableId=${cut}&${choice}`)).toMatchObject({ historyFrom: item(cut, kept[0]) });
      expect(await read(`variableId=${whole}&${choice}`)).toMatchObject({ historyFrom: null });
    },
  );

  test('is absent when all states that the read needs are complete (R-F9)', async () => {
    expect(await read(`variableId=${cut}`)).toEqual({ historyFrom: null, values: [4] });
    expect(await read(`variableId=${cut}&horizon=PT1H&from=2099-01-01`)).toEqual({ historyFrom: null, values: [] });
  });

  test('for several variables, the header lists those that have a history cut, sorted by instant, latest first (R-F9)', async () => {
    const later = await createVariable(manager, sourceId, { isVersioned: true, versionLimit: 1 });
    for (const value of [1, 2]) await push(later, value);
    const [last] = await stampsOf(later);
    const query = { variableIds: [whole, cut, later], asOf: BEFORE_ALL, granularity: 'Day' };
    const { headers } = await manager.post('/data', query);
    expect(headers.get('history-from')).toBe(`${item(later, last)}, ${item(cut, kept[0])}`);
  });

  test('for 45 variables whose history is incomplete, the header names 40 variables and counts the others; the Arrow metadata names all 45 (R-F9)', async () => {
    const instant = '2026-05-01T00:00:00Z';
    const { rows } = await api.database.query<{ id: number }>(
      `with made as (
         insert into variable (account_id, source_id, is_versioned) select $1, $2, true from generate_series(1, 45) returning id
       )
       insert into series (variable_id, history_from) select id, $3 from made returning variable_id as id`,
      [api.accountId, sourceId, instant],
    );
    const query = rows.map(({ id }) => `variableId=${id}`).join('&');
    const { historyFrom } = await read(`${query}&asOf=${BEFORE_ALL}`);
    expect(historyFrom?.split(', ')).toHaveLength(41);
    expect(historyFrom?.split(', ').at(-1)).toBe(`${instant};others=5`);
    const { bytes } = await fetchRaw(api, `/data?${query}&asOf=${BEFORE_ALL}`, ARROW);
    const named = JSON.parse(tableFromIPC(bytes).schema.metadata.get('historyFrom') ?? '{}');
    expect(named).toEqual(Object.fromEntries(rows.map(({ id }) => [id, instant])));
  });

  test('is in every answer with points or buckets, in any format, and says since when the history is complete (R-F9, R-G1, R-G4)', async () => {
    const query = `/data?variableId=${cut}&asOf=${BEFORE_ALL}`;
    const { bytes } = await fetchRaw(api, query, ARROW);
    expect(tableFromIPC(bytes).schema.metadata.get('historyFrom')).toBe(JSON.stringify({ [cut]: kept[0] }));
    for (const format of ['json', 'json&displayLevel=columns', 'csv', 'arrow', 'parquet', 'xlsx']) {
      for (const buckets of ['', '&granularity=Day&aggregation=AVG']) {
        const path = `${query}&format=${format}${buckets}`;
        expect((await fetchRaw(api, path, '*/*')).headers.get('history-from'), path).toBe(item(cut, kept[0]));
      }
    }
    const latest = await fetchRaw(api, `/data?variableId=${cut}`, ARROW);
    expect(tableFromIPC(latest.bytes).schema.metadata.size).toBe(0);
  });
});

describe('history: a history cut (the instant from which the states of a variable are complete)', () => {
  test('is at the first remaining version when a purge applies a lowered version limit (R-F9, R-F7)', async () => {
    const variableId = await createVariable(manager, sourceId, { isVersioned: true });
    for (const value of [1, 2, 3, 4]) await push(variableId, value);
    expect(await read(`variableId=${variableId}&asOf=${BEFORE_ALL}`)).toMatchObject({ historyFrom: null });
    const [, , third] = await stampsOf(variableId);
    await manager.put(`/sources/${sourceId}/variables/${variableId}`, { versionLimit: 2 });
    const admin = await api.signIn('operator', 'ADMIN');
    await admin.post(`/variables/${variableId}/purgeVersions`, undefined);
    expect(await read(`variableId=${variableId}&asOf=${BEFORE_ALL}`)).toEqual({
      historyFrom: item(variableId, third),
      values: [],
    });
  });

  test('of an unversioned variable is the time of its last overwrite; the first write of a point makes no cut (R-F9, R-F4)', async () => {
    const variableId = await createVariable(manager, sourceId, { isVersioned: false });
    await push(variableId, 1);
    expect(await read(`variableId=${variableId}&asOf=${BEFORE_ALL}`)).toMatchObject({ historyFrom: null });
    await push(variableId, 2);
    const [last] = await stampsOf(variableId);
    expect(await read(`variableId=${variableId}&asOf=${BEFORE_ALL}`)).toMatchObject({
      historyFrom: item(variableId, last),
    });
  });

  test('is not made by a second write with the same VersionTag (R-F9, R-F2)', async () => {
    const variableId = await createVariable(manager, sourceId, { isVersioned: true });
    for (const value of [1, 2]) await push(variableId, value, 'V1');
    expect(await read(`variableId=${variableId}&asOf=${BEFORE_ALL}`)).toMatchObject({ historyFrom: null });
  });
});

test('history: a comparison with an incomplete past state gives the instant from which the history is complete (R-F9, R-G6)', async () => {
  const query = `/data/compare?variableId=${cut}&leftAsOf=${BEFORE_ALL}`;
  const json = await fetchRaw(api, query, JSON_TYPE);
  expect(JSON.parse(json.bytes.toString())).toMatchObject({ historyFrom: kept[0], summary: { points: 1, added: 1 } });
  expect(json.headers.get('history-from')).toBe(item(cut, kept[0]));
  const { bytes } = await fetchRaw(api, query, ARROW);
  expect(tableFromIPC(bytes).schema.metadata.has('historyFrom')).toBe(true);
  for (const format of ['csv', 'xlsx']) {
    const { headers } = await fetchRaw(api, `${query}&format=${format}`, '*/*');
    expect(headers.get('history-from'), format).toBe(item(cut, kept[0]));
  }
  const { body } = await manager.get(`/data/compare?variableId=${cut}&leftAsOf=${kept[0]}`);
  expect(body).not.toHaveProperty('historyFrom');
});

test.each<readonly [Method, object]>([
  ['ReadPoints', {}],
  ['ReadPoints', { granularity: 'GRANULARITY_DAY' }],
  ['ReadLast', {}],
])(
  'history: the initial metadata of %s %j says since when the history is complete, but only if `asOf` is earlier (R-F9, R-J1)',
  async (method, members) => {
    const asked = async (asOf: string | undefined) => {
      const call = reader.open(method, { ...members, variableIds: [cut], asOfMicros: Date.parse(asOf ?? '') * 1000 });
      const [[metadata]] = await Promise.all([once(call, 'metadata'), once(call.resume(), 'end')]);
      return metadata.get('history-from');
    };
    expect(await asked(BEFORE_ALL)).toEqual([item(cut, kept[0])]);
    expect(await asked('2099-01-01')).toEqual([]);
  },
);

test('history: if the cursor of a watch is older than a history cut, the watch sends the stored versions and reports no cut (R-F9, R-J1)', async () => {
  const variableId = await createVariable(manager, sourceId, { isVersioned: true, versionLimit: 2 });
  const request = `/data/watch?variableId=${variableId}`;
  const before = await openEventStream(api.origin, request, manager);
  await before.begun();
  before.close();
  for (const value of [1, 2, 3, 4]) await push(variableId, value);
  const [oldest] = await stampsOf(variableId);
  const lastEventId = before.cursor();
  const stream = await openEventStream(api.origin, request, { token: manager.token, lastEventId });
  const watcher = openWatcher(reader, {
    variableIds: [variableId],
    cursor: Buffer.from(lastEventId ?? '', 'base64url'),
  });
  const [byHttp, byGrpc] = await Promise.all([stream.until(2), watcher.until(2)]);
  stream.close();
  watcher.cancel();
  for (const points of [byHttp, byGrpc]) expect(points.map(({ value }) => value)).toEqual([3, 4]);
  expect(stream.headers.get('history-from')).toBeNull();
  expect(await read(`variableId=${variableId}&asOf=${BEFORE_ALL}`)).toEqual({
    historyFrom: item(variableId, oldest),
    values: [],
  });
});
