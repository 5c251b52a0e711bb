/** Packing of an uncompressed chunk: rows move out of its last pages, and its indexes are rebuilt. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { withConnection, withTransaction } from '../../../src/platform/database/database.ts';
import { createLog } from '../../../src/platform/log.ts';
import { compressChunks } from '../../../src/points/columns/compress-chunks.ts';
import { moveRows } from '../../../src/points/columns/move-rows.ts';
import { packIndexes } from '../../../src/points/columns/pack-indexes.ts';
import { eventually } from '../../support/eventually.ts';
import { openPointStore, type PointStore, type WrittenPoint } from '../../support/fixtures/point-store.ts';

const POINTS = 20_000;
const START = Date.UTC(2026, 2, 1) * 1000;
const log = createLog('silent', 'test');

let store: PointStore;
beforeAll(async () => {
  store = await openPointStore();
});
afterAll(() => store?.close());

async function chunkOf(table: string): Promise<string> {
  const { rows } = await store.database.query<{ name: string }>(`select show_chunks($1)::text as name`, [table]);
  return rows[0]?.name ?? '';
}

/** @returns the average number of bytes that all indexes of a chunk together take per row. */
async function indexBytes(chunk: string): Promise<number> {
  const { rows } = await store.database.query<{ bytes: number }>(
    `select pg_indexes_size($1::regclass)::float8 / (select count(*) from ${chunk}) as bytes`,
    [chunk],
  );
  return rows[0]?.bytes ?? Number.NaN;
}

/** @returns the average number of bytes that the table of a chunk takes per row. */
async function tableBytes(chunk: string): Promise<number> {
  const { rows } = await store.database.query<{ bytes: number }>(
    `select pg_relation_size($1::regclass)::float8 / (select count(*) from ${chunk}) as bytes`,
    [chunk],
  );
  return rows[0]?.bytes ?? Number.NaN;
}

async function pagesOf(chunk: string): Promise<number> {
  const { rows } = await store.database.query<{ pages: number }>(
    'select (pg_relation_size($1::regclass) / 8192)::int as pages',
    [chunk],
  );
  return rows[0]?.pages ?? Number.NaN;
}

/** @returns the recorded number of inserted and deleted rows of a chunk. */
async function writesOf(chunk: string): Promise<number> {
  const { rows } = await store.database.query<{ writes: number }>(
    'select write_count::int as writes from point_chunk_activity join point_chunks() using (chunk_id) where name = $1',
    [chunk],
  );
  return rows[0]?.writes ?? 0;
}

async function settingsOf(chunk: string): Promise<readonly string[]> {
  const { rows } = await store.database.query<{ options: string[] | null }>(
    'select reloptions as options from pg_class where oid = $1::regclass',
    [chunk],
  );
  return rows[0]?.options ?? [];
}

/** Starts a transaction that sees the rows of this moment until it ends. */
const OPEN_SNAPSHOT = 'set transaction isolation level repeatable read; select 1';

const recordWrites = () => compressChunks(store.database, { quietSec: 3600, settleSec: 3600 }, log);

const pack = async (quietSec: number, rewrittenQuietSec = 3600): Promise<number> => {
  await recordWrites();
  return packIndexes(store.database, { quietSec, rewrittenQuietSec }, log);
};

/**
 * Calls `pack` until it has packed `count` chunks. One call may come too early, because the statistics of a session may
 * arrive after the end of its transaction.
 */
const packUntil = async (count: number, quietSec: number, rewrittenQuietSec: number): Promise<void> => {
  let packed = 0;
  await eventually('packed chunks', async () => {
    packed += await pack(quietSec, rewrittenQuietSec);
    return packed === count;
  });
  expect(await pack(quietSec, rewrittenQuietSec)).toBe(0);
};

/** Writes `POINTS` points, one per minute. Later calls with another `base` revise every point. */
async function writeAll(variableId: number, base: number): Promise<void> {
  const points = Array.from(
    { length: POINTS },
    (_, minute): WrittenPoint => [START + minute * 60_000_000, base + minute],
  );
  await store.write(variableId, points);
}

describe('points: the indexes of a chunk that is not compressed', () => {
  it('after a revision of all points of the chunk, the indexes are rebuilt exactly once, and not while a transaction that writes to the chunk is open (R-F5)', async (test) => {
    if (inject('isInColumns')) test.skip('in this test run, the point store compresses every chunk immediately');
    const variableId = await store.addVariable({ isVersioned: true });
    for (const base of [1, 2]) await writeAll(variableId, base);
    const [current, history] = [await chunkOf('point'), await chunkOf('point_version')];
    const before = await Promise.all([current, history].map(indexBytes));
    expect(await tableBytes(current)).toBeGreaterThan(130);
    // Reads one digest of all rows, because comparing them one by one would take seconds.
    const read = async () => {
      const text = `select count(*)::int, md5(string_agg(stored::text, ';' order by variable_id, date, version_timestamp))
        from (select * from point union all select * from point_version) stored`;
      return (await store.database.query(text)).rows;
    };
    const points = await read();

    expect(await pack(3600)).toBe(0);
    // Creates an invalid index like the one that an interrupted rebuild leaves behind.
    await store.database.query(`create index left_over on ${current} (date)`);
    await store.database.query(
      `update pg_index set indisvalid = false where indexrelid = '_timescaledb_internal.left_over'::regclass`,
    );
    // The chunk is due for packing only when the statistics of the writes have arrived.
    await eventually('the recorded writes', async () => {
      await recordWrites();
      return (await writesOf(current)) >= 3 * POINTS;
    });
    await withTransaction(store.database, async (transaction) => {
      await transaction.query(`lock table ${current} in row exclusive mode`);
      expect(await pack(3600, 0)).toBe(0);
    });
    // An older transaction still sees the moved rows, so vacuum cannot free their old pages.
    await withTransaction(store.database, async (transaction) => {
      await transaction.query(OPEN_SNAPSHOT);
      expect(await pack(3600, 0)).toBe(0);
    });
    // This call packs only chunks whose rows were replaced. The history chunk only got new rows, so it is not packed.
    await packUntil(1, 3600, 0);
    expect(before[0]).toBeGreaterThan(50);
    expect(await indexBytes(current)).toBeLessThan(35);
    expect(await tableBytes(current), 'the superseded copy is gone').toBeLessThan(75);
    expect(await indexBytes(history)).toBe(before[1]);
    expect(await read()).toEqual(points);
    const { rows: left } = await store.database.query(`select from pg_class where relname = 'left_over'`);
    expect(left).toEqual([]);

    const { rows } = await store.database.query(`select current_setting('timescaledb.license') as license`);
    if (rows[0]?.license !== 'timescale') {
      await packUntil(1, 0, 3600);
      expect(await indexBytes(history)).toBeLessThanOrEqual(before[1] ?? 0);
    }
    expect(await read()).toEqual(points);
    for (const chunk of [current, history]) {
      expect(await settingsOf(chunk)).toContain('autovacuum_vacuum_scale_factor=0.05');
    }
  });

  it('moving rows stops when an open transaction still sees the dead rows, so the table hardly grows', async (test) => {
    if (inject('isInColumns')) test.skip('in this test run, the point store compresses every chunk immediately');
    const variableId = await store.addVariable({ isVersioned: true });
    await writeAll(variableId, 1);
    const current = await chunkOf('point');
    await withTransaction(store.database, async (transaction) => {
      await transaction.query(OPEN_SNAPSHOT);
      for (const base of [2, 3]) await writeAll(variableId, base);
      const before = await pagesOf(current);
      const isBlocked = await withConnection(store.database, async (connection) => {
        await connection.query(`vacuum (truncate) ${current}`);
        return (await moveRows(connection, current)).isBlocked;
      });
      expect(isBlocked).toBe(true);
      // One step moves the rows of 100 pages.
      expect((await pagesOf(current)) - before).toBeLessThanOrEqual(110);
    });
  });
});
