/** `GET /data` and `POST /data` as JSON, CSV, Arrow and Parquet over HTTP (R-A13, R-G3, R-G4). */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { tableFromIPC } from 'apache-arrow';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { XLSX_TYPE } from '../../../src/platform/http/workbook-writer.ts';
import { rowsOfColumns } from '../../support/answers/column-rows.ts';
import { fetchRaw, parseCsv, type RawAnswer } from '../../support/clients/fetch-rows.ts';
import { eventually } from '../../support/eventually.ts';
import { addStoredPoints } from '../../support/fixtures/stored-points.ts';
import { createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { type GatedTestApi, startGatedTestApi } from '../../support/services/start-api.ts';

const ARROW = 'application/vnd.apache.arrow.stream';
const PARQUET = 'application/vnd.apache.parquet';
const POINTS = 300_000;
/**
 * On each connection to the database, the gate forwards about this many bytes of answers, and then holds back the rest.
 * The forwarded bytes are enough for the first chunk of an answer, but not for POINTS points.
 */
const HELD_BYTES = 4_000_000;

let api: GatedTestApi;
let sourceId: number;
let versioned: number;
let long: number;

beforeAll(async () => {
  api = await startGatedTestApi({ READ_POOL_SIZE: '2' });
  ({ sourceId, variableId: versioned } = await createStructure(api.manager, { isVersioned: true, unitId: 8 }));
  const data = [
    { date: '2026-01-01T00:00:00Z', value: 1.25, version: 'V1', tags: { quality: 'say "hi", twice' } },
    { date: '2026-01-02T00:00:00.000001Z', value: -5 },
  ];
  await api.manager.post('/api/data', [{ variableId: versioned, data }]);
  await api.ingest();
  long = await createVariable(api.manager, sourceId);
  await addStoredPoints(api.database, long, POINTS);
});
afterAll(() => api?.close());

async function rowsAs(path: string, accept: string): Promise<readonly Record<string, unknown>[]> {
  const { status, bytes } = await fetchRaw(api, path, accept);
  expect(status).toBe(200);
  return toRows(bytes, accept);
}

function toRows(bytes: Buffer, accept: string): readonly Record<string, unknown>[] {
  if (accept === ARROW) {
    return tableFromIPC(bytes)
      .toArray()
      .map((row) => row.toJSON());
  }
  if (accept === 'application/json') return JSON.parse(bytes.toString());
  const [header = [], ...rows] = parseCsv(bytes.toString());
  return rows.map((row) => Object.fromEntries(header.map((name, index) => [name, row[index]])));
}

describe('read formats', () => {
  test('CSV rows follow a header, and have tags as JSON text and empty cells for missing values (R-G3, R-G4)', async () => {
    const { headers, bytes } = await fetchRaw(api, `/data?variableId=${versioned}`, 'text/csv');
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(headers.get('vary')).toContain('Accept');
    const [header, first, second] = parseCsv(bytes.toString());
    expect(header).toEqual(['variableId', 'date', 'rawValue', 'unitId', 'version', 'versionTimestamp', 'tags']);
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    const tags = '{"quality": "say \\"hi\\", twice", "version": "V1"}';
    expect(first).toEqual([String(versioned), '2026-01-01T00:00:00Z', '1.25', '8', 'V1', timestamp, tags]);
    expect(second).toEqual([String(versioned), '2026-01-02T00:00:00.000001Z', '-5', '8', '', timestamp, '']);
  });

  test('the format named in the query or the body takes precedence over the Accept header (R-A13)', async () => {
    const typeOf = async (query: string, options = {}, path = '/data') => {
      const answer = await fetchRaw(api, `${path}?variableId=${versioned}${query}`, 'application/json', options);
      return answer.headers.get('content-type')?.split(';')[0];
    };
    expect(await typeOf('&format=csv')).toBe('text/csv');
    expect(await typeOf('&Format=ARROW')).toBe(ARROW);
    expect(await typeOf('&format=xlsx')).toBe(XLSX_TYPE);
    expect(await typeOf('&format=parquet')).toBe(PARQUET);
    expect(await typeOf('&format=json')).toBe('application/json');
    const body = JSON.stringify({ variableIds: [versioned], format: 'csv' });
    expect(await typeOf('', { method: 'POST', body })).toBe('text/csv');
    expect(await typeOf('&format=arrow', { method: 'POST', body })).toBe(ARROW);
    expect(await typeOf('&leftVersion=V1&format=parquet', {}, '/data/compare')).toBe(PARQUET);
    expect(await typeOf('&leftVersion=V1&format=csv', {}, '/data/compare')).toBe('text/csv');
    expect((await fetchRaw(api, '/storage/template?format=xlsx', 'text/csv')).headers.get('content-type')).toBe(
      XLSX_TYPE,
    );
    const refused = await fetchRaw(api, `/data?variableId=${versioned}&format=pdf`);
    expect([refused.status, refused.bytes.toString()]).toEqual([
      400,
      expect.stringMatching(/query format must be one of/),
    ]);
  });

  test('the value -0.0 keeps its sign in JSON and CSV (R-G3, §2)', async () => {
    const { variableId } = await createStructure(api.manager);
    const raw = `[{"variableId":${variableId},"data":[{"date":1774742400000,"value":-0.0}]}]`;
    await api.manager.send('POST', '/api/data', undefined, { raw });
    await api.ingest();
    const read = async (accept: string) =>
      (await fetchRaw(api, `/data?variableId=${variableId}&from=2026-03-29`, accept)).bytes.toString();
    expect(await read('application/json')).toContain('"rawValue":-0.0,');
    expect(await read('text/csv')).toContain(',-0.0,');
  });

  test('Arrow rows have typed columns and dates in UTC to the microsecond (R-G4)', async () => {
    const { headers, bytes } = await fetchRaw(api, `/data?variableId=${versioned}`, ARROW);
    expect(headers.get('content-type')).toBe(ARROW);
    const table = tableFromIPC(bytes);
    expect(table.schema.fields.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'variableId Dictionary<Int16, Int32>',
      'date Timestamp<MICROSECOND, UTC>',
      'rawValue Float64',
      'unitId Dictionary<Int16, Int32>',
      'version Dictionary<Int16, Utf8>',
      'versionTimestamp Timestamp<MICROSECOND, UTC>',
      'tags Dictionary<Int16, Utf8>',
    ]);
    expect(table.getChild('date')?.data[0]?.values).toEqual(
      BigInt64Array.of(BigInt(Date.parse('2026-01-01')) * 1000n, BigInt(Date.parse('2026-01-02')) * 1000n + 1n),
    );
    expect(table.getChild('version')?.toArray()).toEqual(['V1', null]);
    expect([...(table.getChild('rawValue') ?? [])]).toEqual([1.25, -5]);
  });

  test('Parquet rows have typed columns, nulls, and dates to the microsecond; an answer without rows is a Parquet file too (R-A13)', async () => {
    const read = async (query: string) => {
      const { status, headers, bytes } = await fetchRaw(api, `/data?variableId=${versioned}${query}`, PARQUET);
      expect([status, headers.get('content-type')]).toEqual([200, PARQUET]);
      return parquetReadObjects({ file: new Uint8Array(bytes).buffer, parsers: { timestampFromMicroseconds: String } });
    };
    const micros = (date: string) => BigInt(Date.parse(date)) * 1000n;
    const tags = '{"quality": "say \\"hi\\", twice", "version": "V1"}';
    const rows = await read('');
    expect(rows).toMatchObject([
      { variableId: versioned, date: String(micros('2026-01-01')), rawValue: 1.25, unitId: 8, version: 'V1', tags },
      { date: String(micros('2026-01-02') + 1n), rawValue: -5, unitId: 8, version: null, tags: null },
    ]);
    expect(await read('&from=2030-01-01')).toEqual([]);
  });

  test.each([
    ['from=2020-07-20', 2],
    ['versions=all&itemsPerPage=1&pagingOrder=DESC', 2],
    ['granularity=Day&aggregation=AVG&fill=null&from=2026-01-01&to=2026-01-04', 2],
    ['itemsPerPage=110000', 3],
    ['from=2090-01-01', 0],
  ])('JSON by columns has the same rows as JSON by rows for the query %s (R-G3, R-G4)', async (query, objectCount) => {
    const path = `/data?variableIds=${versioned},${long}&${query}`;
    const rows = await rowsAs(path, 'application/json');
    const objects = await rowsAs(`${path}&displayLevel=columns`, 'application/json');
    expect(objects).toHaveLength(objectCount);
    expect(objects.flatMap(rowsOfColumns)).toEqual(rows);
  });

  test('when a POST has `displayLevel=Columns`, a JSON answer is grouped by column, and a CSV answer has the usual columns (R-G1)', async () => {
    const body = { variableIds: [versioned], displayLevel: 'Columns' };
    const answer = await api.manager.post('/data', body);
    expect(answer.body).toMatchObject([
      { variableId: versioned, rawValue: [1.25, -5], unitId: 8, version: ['V1', null] },
    ]);
    const csv = await api.manager.post('/data?format=csv', body);
    expect(csv.body).toContain('variableId,date,rawValue,unitId,version,versionTimestamp,tags');
  });

  test('the JSON, CSV, Arrow and Parquet answers to one read have the same number of rows, and sampled rows have the same values (R-G4)', async () => {
    const path = `/data?variableIds=${long},${versioned}&from=2020-01-01T00:00:00Z`;
    const formats = ['application/json', 'text/csv', ARROW, PARQUET];
    const answers: RawAnswer[] = [];
    for (const accept of formats) answers.push(await fetchRaw(api, path, accept));
    expect(answers.map(({ status, bytes }) => (status === 200 ? status : bytes.toString()))).toEqual(
      formats.map(() => 200),
    );
    const [json = [], csv = [], arrow = []] = answers
      .slice(0, 3)
      .map(({ bytes }, index) => toRows(bytes, formats[index] ?? ''));
    expect(json).toHaveLength(POINTS + 2);
    for (const index of [0, 1, 9_999, 10_000, 123_456, POINTS - 1, POINTS, POINTS + 1]) {
      const row = json[index] ?? {};
      expect(csv[index]).toMatchObject({ date: row.date, rawValue: String(row.rawValue), version: row.version ?? '' });
      const { version = null, rawValue, variableId } = row;
      expect(arrow[index]).toMatchObject({ variableId, rawValue, version });
    }
    expect([csv.length, arrow.length]).toEqual([json.length, json.length]);
    const file = new Uint8Array(answers[3]?.bytes ?? []).buffer;
    expect(Number(parquetMetadata(file).num_rows)).toBe(json.length);
    const last = { file, rowStart: POINTS - 1, rowEnd: POINTS + 2 };
    expect(await parquetReadObjects(last)).toMatchObject(
      json.slice(POINTS - 1).map(({ variableId, rawValue, version = null }) => ({ variableId, rawValue, version })),
    );
  });

  test('rows of many variables come in the requested order in JSON, CSV and Arrow (R-G1, R-G4)', async () => {
    const { rows } = await api.database.query<{ id: number }>(
      'insert into variable (account_id, source_id) select account_id, id from source, generate_series(1, 3000) where id = $1 returning id',
      [sourceId],
    );
    const ids = rows.map(({ id }) => id).reverse();
    await api.database.query(
      `insert into point select timestamptz '2026-01-01' + n * interval '1 day', id + n * 0.5, now(), id, 0, 0
       from unnest($1::int[]) id, generate_series(0, 1) n`,
      [ids],
    );
    for (const accept of ['application/json', 'text/csv', ARROW]) {
      const body = JSON.stringify({ variableIds: ids, itemsPerPage: 1, pageNumber: 0, pagingOrder: 'DESC' });
      const { bytes } = await fetchRaw(api, '/data', accept, { method: 'POST', body });
      const found = toRows(bytes, accept).map(({ variableId, rawValue }) => [Number(variableId), Number(rawValue)]);
      expect(found).toEqual(ids.map((id) => [id, id + 0.5]));
    }
  });

  test('each aggregate has its own column, which is empty for variables with another aggregate (R-G3)', async () => {
    const other = await createVariable(api.manager, sourceId, { quantityType: 'Integrated' });
    await api.manager.post('/api/data', [{ variableId: other, data: [{ date: '2026-01-01T06:00:00Z', value: 4 }] }]);
    await api.ingest();
    const path = `/data?variableIds=${versioned},${other}&granularity=Day&to=2026-01-02T00:00:00Z`;
    const csv = parseCsv((await fetchRaw(api, path, 'text/csv')).bytes.toString());
    expect(csv).toEqual([
      ['variableId', 'date', 'avgValue', 'sumValue', 'unitId'],
      [String(versioned), '2026-01-01T00:00:00Z', '1.25', '', '8'],
      [String(other), '2026-01-01T00:00:00Z', '', '4', ''],
    ]);
    expect(await rowsAs(path, 'application/json')).toEqual([
      { variableId: versioned, date: '2026-01-01T00:00:00Z', avgValue: 1.25, unitId: 8 },
      { variableId: other, date: '2026-01-01T00:00:00Z', sumValue: 4, unitId: null },
    ]);
    expect(await rowsAs(path, ARROW)).toMatchObject([
      { avgValue: 1.25, sumValue: null },
      { avgValue: null, sumValue: 4 },
    ]);
  });

  test('with `displayLevel=ValueVariableDate`, CSV and Arrow rows have only `variableId`, `date` and `rawValue` (R-G1)', async () => {
    const path = `/data?variableId=${versioned}&displayLevel=ValueVariableDate&itemsPerPage=1`;
    expect(await rowsAs(path, 'text/csv')).toEqual([
      { variableId: String(versioned), date: '2026-01-01T00:00:00Z', rawValue: '1.25' },
    ]);
    expect(Object.keys((await rowsAs(path, ARROW))[0] ?? {})).toEqual(['variableId', 'date', 'rawValue']);
  });

  test('a POST returns CSV when Accept names text/csv (R-G1, R-G4)', async () => {
    const body = JSON.stringify({ VariableIds: [versioned], tags: { version: 'V1' } });
    const { bytes } = await fetchRaw(api, '/data', 'text/csv', { method: 'POST', body });
    expect(parseCsv(bytes.toString())).toHaveLength(2);
  });

  test('a refused request gets a JSON error, although Accept names CSV (R-A5)', async () => {
    const { status, headers, bytes } = await fetchRaw(api, '/data?variableId=2000000000', 'text/csv');
    expect([status, headers.get('content-type')]).toEqual([404, 'application/json']);
    expect(JSON.parse(bytes.toString())).toMatchObject({ code: 'not_found' });
  });
});

describe('read formats: HEAD /data', () => {
  test('answers with the status and content type of GET, and takes no connection from the read pool (R-G4)', async () => {
    const reader = await startRead('text/csv', 'identity');
    reader.pause();
    const { status, headers, bytes } = await fetchRaw(api, `/data?variableId=${long}`, 'text/csv', { method: 'HEAD' });
    expect([status, headers.get('content-type'), bytes.length]).toEqual([200, expect.stringContaining('text/csv'), 0]);
    expect((await fetchRaw(api, '/data?variableId=2000000000', '', { method: 'HEAD' })).status).toBe(404);
    reader.destroy();
  });
});

function startRead(accept: string, encoding: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${api.manager.token}`, accept, 'accept-encoding': encoding };
  const read = request(`${api.origin}/data?variableId=${long}`, { headers }).end();
  return once(read, 'response').then(([response]) => response as IncomingMessage);
}

describe('read formats: an answer that fails after it has begun', () => {
  test.each([
    ['application/json', 'identity'],
    ['application/json', 'gzip'],
    ['text/csv', 'identity'],
    [ARROW, 'identity'],
    [XLSX_TYPE, 'identity'],
    [PARQUET, 'identity'],
  ])(
    'an answer of type %s with content encoding %s aborts the connection instead of ending as if complete (R-G4)',
    async (accept, encoding) => {
      api.databaseGate.holdAnswers(HELD_BYTES);
      const response = await startRead(accept, encoding);
      expect(response.statusCode).toBe(200);
      response.pause();
      // On a busy machine, a statement of an earlier test may still be running, although its client has disconnected.
      await eventually('the rest of the rows to wait, and earlier reads to end', async () => {
        const { rowCount } = await api.database.query(
          `select from pg_stat_activity where datname = current_database() and application_name = 'tidemark'
             and query like 'copy (%' and state = 'active'`,
        );
        return rowCount === 1;
      });
      await api.databaseGate.shut();
      await api.databaseGate.open();
      const failure = once(response, 'error');
      response.resume();
      response.on('end', () => response.emit('error', new Error('the answer was ended')));
      expect((await failure)[0]).toMatchObject({ message: 'aborted' });
      expect(response.complete).toBe(false);
    },
  );
});
