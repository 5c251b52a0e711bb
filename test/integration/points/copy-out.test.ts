/** CopyOut reads the rows of a COPY from the socket (R-G4). */
import { to as copyTo } from 'pg-copy-streams';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Database,
  openDatabase,
  type Transaction,
  withConnection,
  withTransaction,
} from '../../../src/platform/database/database.ts';
import { createLog } from '../../../src/platform/log.ts';
import { CopyOut, HEAD_BYTES } from '../../../src/points/read/copy-out.ts';
import { createTestDatabase } from '../../support/services/stack.ts';

let database: Database;
let url: string;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ url, drop } = await createTestDatabase());
  // All statements share one connection: if a statement left bytes unread, the next statement would fail.
  database = openDatabase({ url, poolSize: 1, applicationName: 'test', log: createLog('silent', 'test') });
  await database.query(`
    create function noisy(n int) returns text language plpgsql as $$
    begin
      raise notice 'row %', n;
      perform set_config('application_name', 'test ' || n, false);
      perform pg_notify('rows', n::text);
      return repeat('x', n);
    end $$`);
});
afterAll(async () => {
  await database?.end();
  await drop?.();
});

/** Reads the stream to its end. @returns the content of the messages, without the message headers. */
async function collect(connection: Transaction, stream: CopyOut): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of connection.query(stream)) pieces.push(Buffer.from(piece));
  return contentOf(Buffer.concat(pieces));
}

/** Removes the head of each message. @throws {Error} when a message is not a row. */
function contentOf(messages: Buffer): Buffer {
  const contents: Buffer[] = [];
  for (let at = 0; at < messages.length; ) {
    if (messages[at] !== ROW_KIND) throw new Error(`expected a row at byte ${at}, got ${messages[at]}`);
    const end = at + 1 + messages.readUInt32BE(at + 1);
    contents.push(messages.subarray(at + HEAD_BYTES, end));
    at = end;
  }
  return Buffer.concat(contents);
}

const ROW_KIND = 'd'.charCodeAt(0);

const copying = (rows: string, format = 'binary') => `copy (${rows}) to stdout (format ${format})`;

describe('points: rows of CopyOut', () => {
  test.each([
    ['no row', 'select 1 where false'],
    ['one row', 'select 1'],
    ['many small rows', 'select n, n::float8 from generate_series(1, 200000) n'],
    ['rows longer than one read of a socket', `select repeat('long ', n * 40000) from generate_series(1, 6) n`],
    ['rows of every length', `select repeat('x', n % 997) from generate_series(1, 20000) n`],
    ['empty rows', `select ''::text from generate_series(1, 1000) n`],
  ])('CopyOut reads the same bytes as pg-copy-streams: %s (R-G4)', async (_what, rows) => {
    const [ours, others] = await withConnection(database, async (connection) => {
      const own = await collect(connection, new CopyOut(copying(rows)));
      const chunks: Buffer[] = [];
      for await (const piece of connection.query(copyTo(copying(rows)))) chunks.push(piece as Buffer);
      return [own, Buffer.concat(chunks)];
    });
    expect(ours.equals(others)).toBe(true);
    expect(ours.length).toBeGreaterThan(0);
  });

  test('messages that the server sends between two rows are left out (R-G4)', async () => {
    const text = await withConnection(database, async (connection) => {
      await connection.query('listen rows');
      return collect(connection, new CopyOut(copying('select noisy(n) from generate_series(1, 300) n', 'text')));
    });
    expect(
      String(text)
        .split('\n')
        .map((line) => line.length),
    ).toEqual([...Array(300).keys()].map((n) => n + 1).concat(0));
  });

  test('CopyOut waits for a slow consumer (R-G4)', async () => {
    const sizes: number[] = [];
    await withConnection(database, async (connection) => {
      const stream = connection.query(new CopyOut(copying('select n from generate_series(1, 300000) n')));
      for await (const piece of stream) {
        sizes.push((piece as Buffer).length);
        expect(stream.readableLength).toBeLessThan(1 << 20);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    // 19 bytes of signature, 10 bytes for each row, 2 bytes of trailer, and one head for each row and for the trailer.
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(19 + 300_000 * 10 + 2 + 300_001 * HEAD_BYTES);
  });
});

describe('points: a CopyOut that fails', () => {
  test.each([
    ['before the first row', 'select 1 / 0'],
    ['after many rows', 'select 1 / (150000 - n) from generate_series(1, 200000) n'],
    ['when the statement is parsed', 'select nothing from nowhere'],
  ])('if the CopyOut fails %s, the failure is reported and the connection stays usable (R-G4)', async (_when, rows) => {
    await withConnection(database, async (connection) => {
      await expect(collect(connection, new CopyOut(copying(rows)))).rejects.toMatchObject({
        code: expect.stringMatching(/^(22012|42P01)$/),
      });
      expect((await connection.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
      expect(String(await collect(connection, new CopyOut(copying('select 2', 'text'))))).toBe('2\n');
    });
  });

  test('reports a broken connection (R-G4)', async () => {
    const reading = withTransaction(database, async (connection) => {
      const { rows } = await connection.query<{ pid: number }>('select pg_backend_pid() as pid');
      const stream = connection.query(new CopyOut(copying('select n from generate_series(1, 10000000) n')));
      let pieces = 0;
      for await (const _piece of stream) {
        pieces += 1;
        if (pieces === 3) await endBackend(rows[0]?.pid ?? 0);
      }
    });
    await expect(reading).rejects.toThrow(/terminat|reset|closed/i);
    expect((await database.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  async function endBackend(pid: number): Promise<void> {
    const other = openDatabase({ url, poolSize: 1, applicationName: 'other', log: createLog('silent', 'test') });
    await other.query('select pg_terminate_backend($1)', [pid]);
    await other.end();
  }
});
