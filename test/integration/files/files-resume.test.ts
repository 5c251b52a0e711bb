import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFileMetrics } from '../../../src/files/file-metrics.ts';
import { type FileParser, openFileParser, ParserDeath } from '../../../src/files/parsing/file-parser.ts';
import { purgeFiles } from '../../../src/files/processing/file-ingester.ts';
import { ingestFile } from '../../../src/files/processing/ingest-file.ts';
import type { Log } from '../../../src/platform/log.ts';
import { openAccountPace } from '../../../src/platform/shares/account-pace.ts';
import { makeWorkbook } from '../../fixtures/files/make-workbook.ts';
import { eventually } from '../../support/eventually.ts';
import { createSite, createSource, createVariable } from '../../support/fixtures/structure.ts';
import { type FileStack, LIMITS, startFileStack } from './files-fixture.ts';

const ROWS = 160_000;

let stack: FileStack;
let parser: FileParser;
let variableId: number;
let csv: string;
beforeAll(async () => {
  stack = await startFileStack();
  parser = openFileParser();
});
afterAll(async () => {
  await parser.close();
  await stack.close();
});
beforeEach(async () => {
  const siteId = await createSite(stack.api.manager);
  const sourceId = await createSource(stack.api.manager, siteId);
  variableId = await createVariable(stack.api.manager, sourceId, { isVersioned: true });
  // One row in every thousand is invalid.
  const rows = Array.from(
    { length: ROWS },
    (_, row) => `${variableId},${row % 1000 === 7 ? 'never' : minute(row)},${row}\n`,
  );
  csv = `variable_id,date,value\n${rows.join('')}`;
});

/** @returns a log, and the fields and the text of each of its lines. */
function recordLog() {
  const lines: (readonly [fields: object, text: string])[] = [];
  const note = (fields: object, text: string): void => void lines.push([fields, text]);
  return { lines, log: { info: note, warn: note, error: note } as unknown as Log };
}

const ingest = (signal = new AbortController().signal, help: Partial<FileParser> = {}, log = stack.api.parts.log) => {
  const { database, dictionary } = stack.api.parts;
  const services = {
    database,
    dictionary,
    parser: { ...parser, ...help },
    pace: openAccountPace({ share: 0.5 }),
    limits: { ...LIMITS, maxRatio: 1e6 },
    onWritten: async () => {},
    metrics: createFileMetrics(stack.api.parts.metrics),
    log,
  };
  return ingestFile(services, stack.api.accountId, signal);
};

/** Expects the versions, dates, row errors and event that uninterrupted processing of the file would have left. */
async function expectOnce(fileId: string): Promise<void> {
  const { rows } = await stack.api.database.query(
    `select count(*) as versions, count(distinct date) as dates, sum(value)::float8 as sum
     from (select * from point union all select * from point_version) version where variable_id = $1`,
    [variableId],
  );
  const bad = ROWS / 1000;
  const sum =
    (ROWS * (ROWS - 1)) / 2 - Array.from({ length: bad }, (_, index) => index * 1000 + 7).reduce((a, b) => a + b);
  expect(rows).toEqual([{ versions: ROWS - bad, dates: ROWS - bad, sum }]);
  const status = await stack.status(fileId);
  expect(status).toMatchObject({
    ...{ state: 'PartiallyIngested', counts: { rows: ROWS, ingested: ROWS - bad, rejected: bad } },
  });
  expect(new Set(status.errors.map(({ row }) => row)).size).toBe(bad);
  const events = await stack.api.database.query<{ payload: unknown }>(
    `select payload from outbox_event where type = 'FileIngested' and payload ->> 'fileId' = $1`,
    [fileId],
  );
  expect(events.rows).toEqual([
    {
      payload: expect.objectContaining({ state: 'PartiallyIngested', counts: expect.objectContaining({ rows: ROWS }) }),
    },
  ]);
}

describe('files: a file that is being processed when the structure changes', () => {
  it('is ingested with the targets and dividers from before the change; the next file uses the new ones (R-E2, R-D2)', async () => {
    const { manager } = stack.api;
    const sourceId = await createSource(manager, await createSite(manager), { serialNumber: 'changing' });
    const changing = await createVariable(manager, sourceId, { mappingConfig: 'old' });
    const rows = Array.from({ length: ROWS }, (_, row) => `changing,old,${minute(row)},8\n`).join('');
    const content = `source_serialnumber,mapping_config,date,value\n${rows}`;
    async function* changingAfterOne(...given: Parameters<FileParser['parse']>) {
      let count = 0;
      for await (const chunk of parser.parse(...given)) {
        yield chunk;
        count += 1;
        if (count > 1) continue;
        const members = { mappingConfig: 'renamed', divider: 4 };
        await manager.put(`/sources/${sourceId}/variables/${changing}`, members);
      }
      expect(count).toBeGreaterThan(1);
    }
    const fileId = await stack.upload('changing.csv', content);
    await ingest(undefined, { parse: changingAfterOne });
    expect(await stack.status(fileId)).toMatchObject({ state: 'Completed', counts: { ingested: ROWS, rejected: 0 } });
    const read = `select distinct value from point where variable_id = $1 order by value`;
    expect((await stack.api.database.query(read, [changing])).rows).toEqual([{ value: 8 }]);
    const header = content.slice(0, content.indexOf('\n') + 1);
    const next = await stack.upload(
      'next.csv',
      `${header}changing,old,${minute(0)},8\nchanging,renamed,${minute(1)},8\n`,
    );
    await ingest();
    expect(await stack.status(next)).toMatchObject({ counts: { ingested: 1, rejected: 1 }, errors: [{ row: 2 }] });
    expect((await stack.api.database.query(read, [changing])).rows).toEqual([{ value: 2 }, { value: 8 }]);
  });
});

describe('files: a file whose processing is interrupted or runs twice', () => {
  it('its processing resumes after a stop and stores each row exactly once (R-E5, R-K2, R-I2)', async () => {
    const fileId = await stack.upload('a.csv', csv);
    const stopped = new AbortController();
    stopped.abort();
    const { lines, log } = recordLog();
    await ingest(stopped.signal, {}, log);
    const { accountId } = stack.api;
    const text = expect.stringContaining('file processing stopped');
    expect(lines).toEqual([[expect.objectContaining({ accountId, fileId }), text]]);
    const between = await stack.status(fileId);
    expect(between.state).toBe('Processing');
    expect(between.progress.rows).toBeGreaterThan(0);
    expect(between.progress.rows).toBeLessThan(ROWS);
    expect(between.progress.bytes).toBeLessThan(between.progress.totalBytes);
    await ingest();
    await expectOnce(fileId);
    expect(await ingest()).toBe(false);
  });

  it('its processing resumes after an error between two chunks (R-E5, R-K3)', async () => {
    const fileId = await stack.upload('b.csv', csv);
    async function* broken(...given: Parameters<FileParser['parse']>) {
      let count = 0;
      for await (const chunk of parser.parse(...given)) {
        count += 1;
        if (count === 3) throw new Error('the process dies');
        yield chunk;
      }
    }
    await expect(ingest(undefined, { parse: broken })).rejects.toThrow('dies');
    expect((await stack.status(fileId)).progress.rows).toBeGreaterThan(0);
    await ingest();
    await expectOnce(fileId);
  });

  it('its processing resumes after the ingesting process is killed (R-E5, R-K3)', async () => {
    const fileId = await stack.upload('killed.csv', csv);
    const program = fileURLToPath(new URL('./files-process.ts', import.meta.url));
    const child = fork(program, [String(stack.api.accountId)], {
      execPath: process.execPath,
      execArgv: [],
      env: { ...process.env, DATABASE_URL: stack.api.parts.config.DATABASE_URL },
    });
    const exited = once(child, 'exit');
    await once(child, 'message');
    child.kill('SIGKILL');
    expect(await exited).toEqual([null, 'SIGKILL']);
    expect(await stack.status(fileId)).toMatchObject({ state: 'Processing' });
    while (await ingest());
    await expectOnce(fileId);
  });

  it('is ingested once when it is processed twice at the same time (R-E5)', async () => {
    const fileId = await stack.upload('c.csv', csv);
    await Promise.all([ingest(), ingest()]);
    while (await ingest());
    await expectOnce(fileId);
  });

  it('is Failed after ten failed attempts without progress, not counting those that fail by a full disk, a stop of the service or a kill of the parser (R-A15)', async () => {
    const fileId = await stack.upload('d.csv', csv);
    await stack.api.database.query('update stored_file set attempts = 8 where id = $1', [fileId]);
    const failing = (error: Error) => ({
      // biome-ignore lint/correctness/useYield: it fails before the first chunk
      parse: async function* (): ReturnType<FileParser['parse']> {
        throw error;
      },
    });
    const full = Object.assign(new Error('the disk is full'), { code: '53100' });
    await expect(ingest(undefined, failing(full))).rejects.toThrow('disk');
    const stopped = AbortSignal.abort();
    await expect(ingest(stopped, failing(new ParserDeath('ended', true)))).rejects.toThrow('ended');
    for (let count = 0; count < 3; count += 1)
      await expect(ingest(undefined, failing(new ParserDeath('killed', false)))).rejects.toThrow('killed');
    const bug = failing(new Error('a bug'));
    await expect(ingest(undefined, bug)).rejects.toThrow('a bug');
    async function* failingAfterOne(...given: Parameters<FileParser['parse']>) {
      for await (const chunk of parser.parse(...given)) {
        if (chunk.position.rows > 0 && (await stack.status(fileId)).progress.rows > 0) throw new Error('later');
        yield chunk;
      }
    }
    await expect(ingest(undefined, { parse: failingAfterOne })).rejects.toThrow('later');
    // The failed attempts are counted since the last stored chunk. The error `later` was the first.
    for (let count = 2; count < 10; count += 1) await expect(ingest(undefined, bug)).rejects.toThrow('a bug');
    expect(await stack.status(fileId)).toMatchObject({ state: 'Processing' });
    await ingest(undefined, bug);
    expect(await stack.status(fileId)).toMatchObject({ state: 'Failed', failure: { code: 'internal_error' } });
  });
});

it('files: a file that crashes its parser twice is Failed, and the ingester continues with the next file (R-A15, R-E4)', async () => {
  const bomb = await stack.upload('bomb.xlsx', new Uint8Array(makeMemoryBomb()));
  const next = await stack.upload('next.csv', `variable_id,date,value\n${variableId},2026-01-01T00:00:00Z,1\n`);
  const small = openFileParser(32);
  await expect(ingest(undefined, small)).rejects.toThrow(ParserDeath);
  expect(await stack.status(bomb)).toMatchObject({ state: 'Processing' });
  while (await ingest(undefined, small));
  await small.close();
  const message = expect.stringContaining('failed repeatedly');
  expect(await stack.status(bomb)).toMatchObject({ state: 'Failed', failure: { code: 'too_large', message } });
  expect(await stack.status(next)).toMatchObject({ state: 'Completed', counts: { ingested: 1 } });
});

/**
 * @returns a small workbook for which the parser needs hundreds of megabytes: each row has a new combination of a long
 *   version and long tags.
 */
function makeMemoryBomb(): Buffer {
  const numbers = Array.from({ length: 40 }, (_, index) => index);
  const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
  const shared = (index: number) => `<c t="s"><v>${index}</v></c>`;
  const date = cell('2026-03-01T00:15:00Z');
  const rows = numbers.flatMap((version) =>
    numbers.map((tags) => `<row>${cell('7')}${date}<c><v>1</v></c>${shared(version)}${shared(tags)}</row>`),
  );
  const header = ['variable_id', 'date', 'value', 'version', 'tags'].map(cell).join('');
  const texts = numbers.map((index) => `<si><t>${String(index).repeat(60_000)}</t></si>`).join('');
  const sheet = `<worksheet><sheetData><row>${header}</row>${rows.join('')}</sheetData></worksheet>`;
  return makeWorkbook({ sheet, sharedStrings: `<sst>${texts}</sst>` });
}

it('files: the files of an account are processed in the order in which their uploads were answered', async () => {
  const line = (value: number) => `variable_id,date,value\n${variableId},2026-01-01T00:00:00Z,${value}\n`;
  // The upload of slow.csv begins first, but is answered last.
  const content = new TransformStream<Uint8Array, Uint8Array>();
  const writer = content.writable.getWriter();
  const slow = stack.post('/storage?filename=slow.csv', content.readable, { 'content-type': 'text/csv' });
  void writer.write(Buffer.from(line(3)));
  await eventually('the start of the slow upload', async () => {
    const text = `select from stored_file where state = 'Uploading' and filename = 'slow.csv'`;
    return (await stack.api.database.query(text)).rowCount === 1;
  });
  const ids = [await stack.upload('1.csv', line(1)), await stack.upload('2.csv', line(2))];
  await writer.close();
  ids.push((await (await slow).json()) as string);
  while (await ingest());
  for (const id of ids) expect(await stack.status(id)).toMatchObject({ state: 'Completed' });
  const { rows } = await stack.api.database.query(
    `select value from (select * from point union all select * from point_version) version
     where variable_id = $1 order by version_timestamp`,
    [variableId],
  );
  expect(rows).toEqual([{ value: 1 }, { value: 2 }, { value: 3 }]);
});

it('files: the rows of a file are written only after earlier pushes to the same variables (R-D6)', async () => {
  const { database, accountId } = stack.api;
  const addBatch = (variables: string) =>
    database.query(`insert into push_batch (account_id, rows, variables) values ($1, '', $2)`, [accountId, variables]);
  await addBatch(`{[${variableId},${variableId}]}`);
  await addBatch(`{[${variableId + 1},${variableId + 1}]}`);
  const fileId = await stack.upload('rows.csv', csv);
  let chunks = 0;
  const parse: FileParser['parse'] = async function* (...job) {
    for await (const chunk of parser.parse(...job)) {
      chunks += 1;
      yield chunk;
    }
  };
  const ended = ingest(undefined, { parse });
  await eventually('the first chunk', async () => chunks > 0);
  for (let attempt = 0; attempt < 10; attempt += 1) expect((await stack.status(fileId)).progress.rows).toBe(0);
  expect(chunks).toBe(1);
  await database.query('delete from push_batch where variables @> $1::int', [variableId]);
  expect(await ended).toBe(true);
  await database.query('delete from push_batch');
  expect(await stack.status(fileId)).toMatchObject({ state: 'PartiallyIngested', progress: { rows: ROWS } });
});

it('files: a file with more rows than the row limit is Failed; the rows that were already ingested stay stored (R-E4)', async () => {
  const fileId = await stack.upload('many.csv', csv);
  const { database, dictionary, log } = stack.api.parts;
  const metrics = createFileMetrics(stack.api.parts.metrics);
  const limits = { ...LIMITS, maxRows: 100_000 };
  await ingestFile(
    {
      database,
      dictionary,
      parser,
      pace: openAccountPace({ share: 0.5 }),
      limits,
      onWritten: async () => {},
      metrics,
      log,
    },
    stack.api.accountId,
    new AbortController().signal,
  );
  const status = await stack.status(fileId);
  expect(status).toMatchObject({ state: 'Failed', failure: { code: 'too_many_rows' } });
  const { rows } = await stack.api.database.query('select count(*) as count from point where variable_id = $1', [
    variableId,
  ]);
  expect(status.counts.ingested).toBeGreaterThan(0);
  expect(rows).toEqual([{ count: status.counts.ingested }]);
});

it('files: the purge deletes interrupted uploads, and deletes each expired file or attachment together with its content (R-E1)', async () => {
  const [old, recent] = [await stack.upload('old.csv', csv), await stack.upload('recent.csv', csv)];
  while (await ingest());
  await stack.api.database.query(
    `update stored_file set uploaded_date = now() - interval '1 day' * case when id = $1 then 31 else 29 end
     where id in ($1, $2)`,
    [old, recent],
  );
  const [kept, expired] = [await stack.upload('kept.txt', 'x'), await stack.upload('expired.txt', 'x')];
  await stack.api.database.query(
    `update stored_file set uploaded_date = now() - interval '1 day' * case when id = $1 then 59 else 61 end where id in ($1, $2)`,
    [kept, expired],
  );
  const { rows: cut } = await stack.api.database.query<{ id: string }>(
    `insert into stored_file (account_id, user_id, filename, format, uploaded_date)
     values ($1, 'x', 'cut.csv', 'csv', now() - interval '7 hours') returning id`,
    [stack.api.accountId],
  );
  expect(await purgeFiles(stack.api.database, 30, 60)).toBe(3);
  expect(await purgeFiles(stack.api.database, 30, 60)).toBe(0);
  expect((await stack.get(`/storage/${old}`)).status).toBe(404);
  expect((await stack.get(`/storage/${recent}`)).status).toBe(200);
  expect((await stack.get(`/storage/${kept}`)).status).toBe(200);
  const { rows } = await stack.api.database.query(
    'select file_id from stored_file_part where file_id = any($1) union select file_id from stored_file_error where file_id = any($1)',
    [[old, expired, cut[0]?.id]],
  );
  expect(rows).toEqual([]);
});

it('files: a failure of the ingester is logged with the account and the file (R-A15)', async () => {
  const fileId = await stack.upload('lost.csv', csv);
  await stack.api.database.query('delete from stored_file_part where file_id = $1', [fileId]);
  const { lines, log } = recordLog();
  // This ingester runs until `stack.close()` stops it after the last test.
  stack.startIngester({}, log);
  const line = await eventually('the log line', async () => lines.find(([fields]) => 'err' in fields));
  const { accountId } = stack.api;
  expect(line).toEqual([
    expect.objectContaining({ accountId, fileId }),
    expect.stringContaining('are retried after the delay in the field delayMs'),
  ]);
});

function minute(row: number): string {
  return `${new Date(Date.UTC(2020, 0, 1) + row * 60_000).toISOString().slice(0, 19)}Z`;
}
