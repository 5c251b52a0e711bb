import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FileIngester } from '../../../src/files/processing/file-ingester.ts';
import { type Transaction, withTransaction } from '../../../src/platform/database/database.ts';
import { XLSX_TYPE } from '../../../src/platform/http/workbook-writer.ts';
import { rollUpPoints } from '../../../src/points/rollups/roll-up-points.ts';
import { eventually } from '../../support/eventually.ts';
import { createSite, createSource, createVariable } from '../../support/fixtures/structure.ts';
import { type FileStack, MAX_FOLLOWED, startFileStack } from './files-fixture.ts';

const HEADER = 'variable_id,date,value';
const DATE = '2026-03-01T00:15:00';
const MAX_BYTES = 4 << 20;
const fixture = (name: string) =>
  new Uint8Array(readFileSync(new URL(`../../fixtures/files/${name}`, import.meta.url)));

const CSV = { 'content-type': 'text/csv' };
const GZIP = { ...CSV, 'content-encoding': 'gzip' };
const XLSX = { 'content-type': XLSX_TYPE };
const XLS = { 'content-type': 'application/vnd.ms-excel' };
const FORM = { 'content-type': 'multipart/form-data; boundary=b' };
const DISPOSITION = 'Content-Disposition: form-data; name="data"';
const OTHER_PART = 'Content-Disposition: form-data; name="other"';
const LONG_FORM = `${`--b\r\n${OTHER_PART}\r\n\r\nabc\r\n`.repeat(100)}--b\r\n${DISPOSITION}\r\n\r\nabc\r\n--b--`;
const TOO_LARGE = new RegExp(`at most ${MAX_BYTES} bytes \\(4 MiB\\)$`);
const LARGE_FORM = `--b\r\n${OTHER_PART}\r\n\r\n${'a'.repeat(MAX_BYTES + (2 << 20))}\r\n--b--`;

let stack: FileStack;
let ingester: FileIngester;
let sourceId: number;
beforeAll(async () => {
  stack = await startFileStack(MAX_BYTES);
  ingester = startIngester();
  const siteId = await createSite(stack.api.manager, { timeZoneId: 'Europe/Brussels' });
  // Keeps the ids of new variables above 7, the id that the fixtures use.
  await stack.api.database.query(`select setval(pg_get_serial_sequence('variable', 'id'), 100)`);
  sourceId = await createSource(stack.api.manager, siteId, { serialNumber: 'S-1' });
});
afterAll(() => stack.close());

const startIngester = () => stack.startIngester({ maxRows: 200_000 });
const newVariable = (members = {}) => createVariable(stack.api.manager, sourceId, members);
const read = async (variableId: number) =>
  (
    await stack.api.manager.get<{ date: string; rawValue: number; version?: string; tags?: object }[]>(
      `/data?variableId=${variableId}`,
    )
  ).body;
const process = async (filename: string, content: string | Uint8Array<ArrayBuffer>) =>
  stack.ended(await stack.upload(filename, content));

describe('files: POST /storage', () => {
  it('accepts the multipart form that shipped clients send, and answers with the file id as a JSON string (R-E1)', async () => {
    const variableId = await newVariable();
    const form = new FormData();
    form.append('note', 'first');
    form.append('other', new Blob(['x']), 'other.txt');
    form.append(
      'data',
      new Blob([`${HEADER}\n${variableId},${DATE},1.5\n`], { type: 'text/csv' }),
      'C:\\data\\Mäy.csv',
    );
    const response = await stack.post('/storage/?Parameters.FileName=', form);
    expect(response.status).toBe(200);
    const fileId = (await response.json()) as string;
    expect(fileId).toMatch(/^[\da-f-]{36}$/);
    expect(await stack.ended(fileId)).toMatchObject({
      ...{ id: fileId, filename: 'Mäy.csv', format: 'csv', state: 'Completed' },
      ...{ counts: { rows: 1, ingested: 1, rejected: 0, warnings: 0 }, errors: [] },
    });
    expect(await read(variableId)).toMatchObject([{ date: '2026-02-28T23:15:00Z', rawValue: 1.5 }]);
  });

  it('accepts the file as the body, plain or as gzip (R-E1, R-A4)', async () => {
    const variableId = await newVariable();
    const csv = `${HEADER}\n${variableId},${DATE}Z,1\n`;
    const plain = await stack.post('/storage?filename=a.csv', csv, { 'content-type': 'text/csv; charset=utf-8' });
    const zipped = await stack.post('/storage?FILENAME=b.csv', gzipSync(csv.replace(',1\n', ',2\n')), {
      ...{ 'content-type': 'text/csv', 'content-encoding': 'gzip' },
    });
    for (const response of [plain, zipped]) expect(response.status).toBe(200);
    expect(await stack.ended((await plain.json()) as string)).toMatchObject({ filename: 'a.csv', state: 'Completed' });
    expect(await stack.ended((await zipped.json()) as string)).toMatchObject({ filename: 'b.csv', state: 'Completed' });
    expect(await read(variableId)).toMatchObject([{ rawValue: 2 }]);
  });

  it.each([
    [415, 'a JSON body', /multipart/, '/storage?filename=a.csv', 'x', { 'content-type': 'application/json' }],
    [415, 'CSV named a.xlsx', /must end in \.csv/, '/storage?filename=a.xlsx', 'x', CSV],
    [415, 'a workbook in a format other than .xlsx', /a workbook must be \.xlsx/, '/storage?filename=a.xls', 'x', XLS],
    [415, 'a workbook sent as CSV', /zip/, '/storage', fixture('openpyxl.xlsx'), CSV],
    [415, 'an encrypted workbook', /encrypted/, '/storage', fixture('encrypted.xlsx'), XLSX],
    [415, 'CSV sent as a workbook', /but it is not a zip archive/, '/storage', 'a,b', XLSX],
    [
      415,
      'a zip archive sent as CSV and above the size limit',
      /zip/,
      '/storage',
      `PK\x03\x04${'x'.repeat(6 << 20)}`,
      CSV,
    ],
    [415, 'an unknown Content-Encoding', /absent, got "br"$/, '/storage', 'x', { ...CSV, 'content-encoding': 'br' }],
    [400, 'a body sent as gzip that is not gzip', /gzip/, '/storage', 'x', GZIP],
    [400, 'an empty body', /empty/, '/storage', '', CSV],
    [400, 'a form without a boundary', /form/, '/storage', 'x', { 'content-type': 'multipart/form-data' }],
    [400, 'a form that is cut off', /form/, '/storage', `--b\r\n${DISPOSITION}; filename="a.csv"\r\n\r\nabc`, FORM],
    [400, 'a form without the part data', /data/, '/storage', `--b\r\n${OTHER_PART}\r\n\r\nabc\r\n--b--`, FORM],
    [400, 'a form with 100 parts before the part data', /first 100 parts/, '/storage', LONG_FORM, FORM],
    [413, 'a file one byte above the limit', TOO_LARGE, '/storage', 'a'.repeat(MAX_BYTES + 1), CSV],
    [413, 'a file 2 MiB above the limit', TOO_LARGE, '/storage', 'a'.repeat(MAX_BYTES + (2 << 20)), CSV],
    [
      413,
      'a form with another part that is large',
      /rest of the form must be at most .*1 MiB/,
      '/storage',
      LARGE_FORM,
      FORM,
    ],
    [413, 'gzip that inflates above the limit', TOO_LARGE, '/storage', gzipSync('a'.repeat(20 << 20)), GZIP],
  ])(
    'answers %i to %s, with a message that matches %s, and stores nothing (R-A5, R-E4)',
    async (code, _what, message, path, body, headers: Readonly<Record<string, string>>) => {
      const countFiles = async () => (await stack.api.database.query('select from stored_file')).rowCount;
      const before = await countFiles();
      // On a busy machine, the server may refuse a request before the whole body has arrived. It then closes the
      // connection, so each request has its own connection.
      const response = await stack.post(path, body, { ...headers, connection: 'close' });
      expect([response.status, await response.json()]).toMatchObject([
        code,
        { message: expect.stringMatching(message) },
      ]);
      expect(await countFiles()).toBe(before);
    },
  );

  it('answers 403 without the permission to push (R-B8)', async () => {
    const reader = await stack.api.signIn('reader', 'MANAGER', { mayPush: false });
    const response = await stack.post('/storage', 'x', { 'content-type': 'text/csv' }, reader);
    expect(response.status).toBe(403);
  });

  it('answers 415 to a workbook in a format other than .xlsx (R-E4)', async () => {
    for (const name of ['a.xls', 'a.ods'])
      await expect(stack.upload(name, 'x')).rejects.toThrow(/415.*\.xlsx or \.csv/);
    const raw = await stack.post('/storage?filename=a.xls', 'x', { 'content-type': 'application/vnd.ms-excel' });
    expect(raw.status).toBe(415);
  });

  it('stores a file that is neither a .csv file nor a workbook as an attachment, which is not queued for parsing (R-E1)', async () => {
    const text = 'variable_id,date,value\r\n1,2026-03-01,1\r\n';
    const raw = await stack.post('/storage?filename=Hello.txt', text, { 'content-type': 'text/plain' });
    const ids = [
      await stack.upload('Hello.txt', text),
      await stack.upload('notes', text),
      (await raw.json()) as string,
    ];
    for (const [index, id] of ids.entries()) {
      const filename = index === 1 ? 'notes' : 'Hello.txt';
      const status = await stack.status(id);
      expect(status).toMatchObject({ id, filename, kind: 'Attachment', state: 'Stored', counts: { rows: 0 } });
      expect(status).not.toHaveProperty('format');
      const content = await stack.get(`/storage/${id}/content`);
      expect(await content.text()).toBe(text);
      expect(content.headers.get('content-type')).toBe('application/octet-stream');
      expect(await (await stack.get(`/storage/${id}/events`)).text()).toMatch(/^event: end\n/);
    }
    expect(raw.headers.get('File-Kind')).toBe('Attachment');
    expect(raw.headers.get('File-Advice')).toBeNull();
    const { rows } = await stack.api.database.query('select place from stored_file where id = any($1)', [ids]);
    expect(rows).toEqual([{ place: null }, { place: null }, { place: null }]);
  });
});

describe('files: an attachment whose name suggests a data file', () => {
  it.each([
    ['a.csv.gz', 'Content-Encoding: gzip'],
    ['a.tsv', 'ends in .csv'],
    ['a.parquet', 'as a .csv or .xlsx file'],
  ])('%s is stored with advice on how to upload the file as data (R-E1)', async (filename, advice) => {
    const answer = await stack.post(`/storage?filename=${filename}`, 'x', { 'content-type': 'application/gzip' });
    expect(answer.headers.get('File-Kind')).toBe('Attachment');
    expect(answer.headers.get('File-Advice')).toContain(advice);
    const status = await stack.status((await answer.json()) as string);
    expect(status).toMatchObject({ state: 'Stored', advice: answer.headers.get('File-Advice') });
  });
});

describe('files: an uploaded file', () => {
  it('that is a workbook is ingested with its local dates, versions and tags (R-E2)', async () => {
    const variableId = await newVariable({ isVersioned: true, mappingConfig: 'wb' });
    await stack.api.database.query('update variable set id = 7 where id = $1', [variableId]);
    const status = await process('Book.XLSX', fixture('libreoffice.xlsx'));
    expect(status).toMatchObject({
      kind: 'StandardFile',
      state: 'PartiallyIngested',
      counts: { rows: 5, ingested: 3, rejected: 2 },
      ignoredColumns: ['note'],
    });
    expect(status.progress).toEqual({
      bytes: status.progress.totalBytes,
      totalBytes: status.progress.totalBytes,
      rows: 5,
    });
    expect(await read(7)).toMatchObject([
      { date: '2026-02-28T23:15:00Z', rawValue: 1.5, version: 'V1', tags: { quality: 'estimated', version: 'V1' } },
      { date: '2026-02-28T23:30:00Z', rawValue: -0.0025 },
      { date: '2026-03-01T00:45:00Z', rawValue: 3, version: 'V1' },
    ]);
  });

  it('names the target of a row by serial number and mapping configuration, or by mapping configuration alone; rows with an unknown or ambiguous target are rejected (§2, R-D2)', async () => {
    const variableId = await newVariable({ mappingConfig: 'm1' });
    const siteId = await createSite(stack.api.manager);
    const twinId = await createSource(stack.api.manager, siteId, { serialNumber: 'S-1' });
    for (const id of [sourceId, twinId]) await createVariable(stack.api.manager, id, { mappingConfig: 'twin' });
    // Each of two sources has its own variable with the mapping configuration `shared`.
    const otherId = await createSource(stack.api.manager, siteId, { serialNumber: 'S-2' });
    const shared = await createVariable(stack.api.manager, otherId, { mappingConfig: 'shared' });
    await createVariable(stack.api.manager, sourceId, { mappingConfig: 'shared' });
    const csv = [
      'source_serialnumber;mapping_config;date;value',
      `S-1;m1;${DATE};1`,
      `;m1;${DATE}Z;2`,
      `S-1;nothing;${DATE};3`,
      `S-1;twin;${DATE};4`,
      `;;${DATE};5`,
      `S-2;shared;${DATE};6`,
    ].join('\r\n');
    const { errors } = await process('targets.csv', csv);
    expect(errors.map(({ row, code }) => [row, code])).toEqual([
      [4, 'target_not_found'],
      [5, 'target_ambiguous'],
      [6, 'target_not_found'],
    ]);
    expect(errors[0]?.message).toBe('no variable has source_serialnumber "S-1" and mapping_config "nothing"');
    expect(await read(variableId)).toMatchObject([{ rawValue: 1 }, { rawValue: 2 }]);
    expect(await read(shared)).toMatchObject([{ rawValue: 6 }]);
  });

  it('writes only to variables that its uploader may push to, and is hidden from other USERs and from other accounts (R-B9)', async () => {
    const variableId = await newVariable();
    const otherSite = await createSite(stack.api.manager);
    const user = await stack.api.signIn('uma', 'USER', { sites: [otherSite] });
    const type = { 'content-type': 'text/csv' };
    const mine = await stack.post('/storage?filename=a.csv', `${HEADER}\n${variableId},${DATE},1\n`, type, user);
    const theirs = await stack.post(
      '/storage?filename=a.csv',
      `${HEADER}\n${variableId},${DATE},1\n`,
      type,
      stack.api.stranger,
    );
    const fileId = (await mine.json()) as string;
    expect(await stack.ended(fileId)).toMatchObject({
      counts: { ingested: 0, rejected: 1 },
      errors: [{ code: 'target_not_found' }],
    });
    const foreign = (await theirs.json()) as string;
    await eventually('the end of the file of the other account', async () => {
      const status = await (await stack.get(`/storage/${foreign}`, stack.api.stranger)).json();
      return (status as { state: string }).state === 'Rejected';
    });
    const file = await stack.upload('mine.csv', HEADER);
    for (const path of ['', '/errors', '/events', '/content']) {
      expect((await stack.get(`/storage/${foreign}${path}`)).status).toBe(404);
      expect((await stack.get(`/storage/${fileId}${path}`, user)).status).toBe(200);
      expect((await stack.get(`/storage/${file}${path}`, user)).status, path).toBe(404);
    }
    expect((await stack.get('/storage/7')).status).toBe(404);
    expect(await read(variableId)).toEqual([]);
  });

  it('the answer shows all warnings and the first 1,000 row errors; a CSV lists all row errors (R-E1, R-E3, R-D4)', async () => {
    const variableId = await newVariable();
    const bad = Array.from({ length: 1500 }, (_, index) => `${variableId},01/02/2026,${index}\n`).join('');
    const status = await process('bad.csv', `${HEADER}\n${bad}${variableId},2026-10-25T02:30:00,1\n`);
    expect(status).toMatchObject({
      state: 'PartiallyIngested',
      counts: { rows: 1501, ingested: 1, rejected: 1500, warnings: 1 },
    });
    expect(status.warnings).toMatchObject([{ row: 1502, code: 'ambiguous_local_date' }]);
    expect(status.errors).toHaveLength(1000);
    expect(status.errors[0]).toMatchObject({
      row: 2,
      code: 'invalid_date',
      message: expect.stringContaining('"01/02/2026"'),
    });
    const response = await stack.get(`/storage/${status.id}/errors`);
    expect(response.headers.get('content-type')).toContain('text/csv');
    const lines = (await response.text()).trim().split('\n');
    expect([lines.length, lines[0], lines[1500]?.slice(0, 17)]).toEqual([
      1501,
      'row,code,message',
      '1501,invalid_date',
    ]);
  });

  it('is Rejected when all its rows are rejected; a file with only a header is Completed (R-E3, §7)', async () => {
    const status = await process('none.csv', `${HEADER}\n${`999999999,${DATE},1\n`.repeat(5)}`);
    expect(status).toMatchObject({ state: 'Rejected', counts: { rows: 5, ingested: 0, rejected: 5 } });
    const { totalBytes } = status.progress;
    expect(status.progress).toMatchObject({ bytes: totalBytes });
    expect(await process('header.csv', `${HEADER}\n`)).toMatchObject({ state: 'Completed', counts: { rows: 0 } });
  });

  it('that cannot be processed is Failed and shows the reason; the next file is still processed (R-E2)', async () => {
    const failed = await process('columns.csv', 'date,amount\n');
    expect(failed).toMatchObject({
      state: 'Failed',
      failure: { code: 'missing_column', message: expect.stringContaining('value') },
    });
    const truncated = await process('cut.xlsx', fixture('openpyxl.xlsx').slice(0, 4000));
    expect(truncated).toMatchObject({ state: 'Failed', failure: { code: 'damaged_file' } });
    const variableId = await newVariable();
    expect(await process('good.csv', `${HEADER}\n${variableId},${DATE},1\n`)).toMatchObject({ state: 'Completed' });
  });

  it('is downloaded with the name and the bytes of its upload (R-E1)', async () => {
    const bytes = fixture('gnumeric.xlsx');
    const fileId = await stack.upload("it's 100% ü.xlsx", bytes);
    const response = await stack.get(`/storage/${fileId}/content`);
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename*=UTF-8''it%27s%20100%25%20%C3%BC.xlsx`,
    );
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
  });

  it('a user can have at most 3 open streams of progress events, for all files together (R-A14)', async () => {
    // Without an ingester, the files stay Queued, so their event streams stay open.
    await ingester.stop();
    const fileIds = [await stack.upload('one.csv', `${HEADER}\n`), await stack.upload('two.csv', `${HEADER}\n`)];
    const follow = async (fileId = fileIds[0]) => {
      const leaving = new AbortController();
      const headers = { authorization: `Bearer ${stack.api.manager.token}` };
      const answer = await fetch(`${stack.origin}/storage/${fileId}/events`, { headers, signal: leaving.signal });
      return { answer, leave: () => leaving.abort() };
    };
    const followers = [];
    for (let count = 0; count < MAX_FOLLOWED; count += 1) followers.push(await follow(fileIds[count % 2]));
    expect(followers.map(({ answer }) => answer.status)).toEqual(followers.map(() => 200));
    const refused = await follow();
    expect(refused.answer.status).toBe(429);
    expect(refused.answer.headers.get('retry-after')).toBe('2');
    expect(await refused.answer.json()).toMatchObject({ code: 'rate_limited' });
    followers.pop()?.leave();
    const next = await eventually('a free follower', async () => {
      const found = await follow();
      return found.answer.status === 200 && found;
    });
    await stack.api.database.query(`update stored_file set state = 'Failed' where id = any($1)`, [fileIds]);
    ingester = startIngester();
    expect(await next.answer.text()).toMatch(/event: end\ndata: .*"Failed"/);
    for (const { answer } of followers) expect(await answer.text()).toMatch(/^event: progress\n.*event: end\n/s);
  });

  it('notifies a webhook whose filter lists variables, but only if a row of a listed variable is ingested (R-I1, R-I2)', async () => {
    const { accountId, database, parts } = stack.api;
    const [first, second, third] = [await newVariable(), await newVariable(), await newVariable()];
    const addWebhook = async (variableId: number) => {
      const { rows } = await database.query<{ id: string }>(
        `insert into webhook (account_id, name, url, event_type, secret, variable_ids)
         values ($1, 'w', 'https://receiver.example', 'FileIngested', 'whsec_', array[$2::int]) returning id`,
        [accountId, variableId],
      );
      return rows[0]?.id ?? '';
    };
    const webhooks = [await addWebhook(first), await addWebhook(second), await addWebhook(third)];
    const rows = Array.from({ length: 60_000 }, (_, index) => `${first},${minute(index)},${index}\n`).join('');
    const fileId = await stack.upload('filtered.csv', `${HEADER}\n${rows}${second},${DATE},1\n${third},never,1\n`);
    await stack.ended(fileId);
    const found = await eventually('the messages of the file', async () => {
      await parts.outbox.relay();
      const { rows: messages } = await database.query<{ id: string; data: object }>(
        'select webhook_id as id, data from webhook_event where webhook_id = any($1) order by created_date',
        [webhooks],
      );
      return messages.length > 0 && messages;
    });
    expect(found.map(({ id }) => id).toSorted()).toEqual(webhooks.slice(0, 2).toSorted());
    for (const { data } of found) {
      expect(data).toMatchObject({ fileId, counts: { rows: 60_002, ingested: 60_001, rejected: 1 } });
      expect(data).not.toHaveProperty('concerns');
    }
    await database.query('delete from webhook where id = any($1)', [webhooks]);
  });

  it('is ingested, except for rows at dates that retention has rolled up; these rows are rejected, and a warning names the dates (R-E1)', async () => {
    const variableId = await newVariable();
    const file = (value: number) =>
      ['2019-03-01T06:00:00', '2019-03-01T18:00:00', '2019-03-02T06:00:00']
        .map((date) => `${variableId},${date}Z,${value}\n`)
        .join('');
    await process('old.csv', `${HEADER}\n${file(1)}`);
    const rollup = { variableId, untilMicros: Date.UTC(2019, 2, 2) * 1000, bucket: 'day', timeZoneId: 'UTC' } as const;
    const work = (transaction: Transaction) => rollUpPoints(transaction, rollup);
    while (!(await withTransaction(stack.api.database, work)).isDone);
    expect(await process('again.csv', `${HEADER}\n${file(2)}`)).toMatchObject({
      ...{ state: 'PartiallyIngested', counts: { rows: 3, ingested: 1, rejected: 2, warnings: 1 } },
      warnings: [
        {
          ...{ row: 2, code: 'rolled_up_date' },
          message: `readings of variable ${variableId} were not stored (number of readings: 2, dates: 2019-03-01T06:00:00Z to 2019-03-01T18:00:00Z), because retention has already rolled up these dates`,
        },
      ],
    });
    expect(await read(variableId)).toMatchObject([{ date: '2019-03-02T06:00:00Z', rawValue: 2 }]);
  });

  it('has a stream of progress events that ends with the final state of the file (R-E1)', async () => {
    const variableId = await newVariable();
    const rows = Array.from({ length: 100_000 }, (_, index) => `${variableId},${minute(index)},${index}\n`).join('');
    const fileId = await stack.upload('events.csv', `${HEADER}\n${rows}`);
    const text = await (await stack.get(`/storage/${fileId}/events`)).text();
    const events = text
      .trim()
      .split('\n\n')
      .map((event) => /^event: (.*)\ndata: (.*)$/.exec(event)?.slice(1) ?? []);
    expect(events.at(-1)?.[0]).toBe('end');
    expect(JSON.parse(events.at(-1)?.[1] ?? '')).toMatchObject({ state: 'Completed', counts: { ingested: 100_000 } });
    expect(events.length).toBeGreaterThan(1);
    expect(events.slice(0, -1).every(([name]) => name === 'progress')).toBe(true);
  });
});

function minute(index: number): string {
  return new Date(Date.UTC(2020, 0, 1) + index * 60_000).toISOString().slice(0, 19);
}
