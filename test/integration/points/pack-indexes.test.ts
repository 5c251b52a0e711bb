/** Rebuilding the indexes of chunks that stay in rows, with the Apache edition of TimescaleDB (architecture 7). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../../src/platform/log.ts';
import { compressChunks } from '../../../src/points/columns/compress-chunks.ts';
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

/** Bytes of all indexes of a chunk by its rows. */
async function indexBytes(chunk: string): Promise<number> {
  const { rows } = await store.database.query<{ bytes: number }>(
    `select pg_indexes_size($1::regclass)::float8 / (select count(*) from ${chunk}) as bytes`,
    [chunk],
  );
  return rows[0]?.bytes ?? Number.NaN;
}

/** Bytes of the table of a chunk by its rows. */
async function tableBytes(chunk: string): Promise<number> {
  const { rows } = await store.database.query<{ bytes: number }>(
    `select pg_relation_size($1::regclass)::float8 / (select count(*) from ${chunk}) as bytes`,
    [chunk],
  );
  return rows[0]?.bytes ?? Number.NaN;
}

async function settingsOf(chunk: string): Promise<readonly string[]> {
  const { rows } = await store.database.query<{ options: string[] | null }>(
    'select reloptions as options from pg_class where oid = $1::regclass',
    [chunk],
  );
  return rows[0]?.options ?? [];
}

const pack = async (quietSec: number): Promise<number> => {
  await compressChunks(store.database, { quietSec: 3600, settleSec: 3600 }, log);
  return packIndexes(store.database, quietSec, log);
};

describe('points: the indexes of a chunk that is never compressed', () => {
  it('are rebuilt without free space, once after the last write, and hold the same points (architecture 7, R-F5)', async (test) => {
    const { rows } = await store.database.query(`select current_setting('timescaledb.license') as license`);
    if (rows[0]?.license === 'timescale') test.skip('the Community edition is installed (TIMESCALEDB_BUILD)');
    const variableId = await store.addVariable({ isVersioned: true });
    const write = (base: number) =>
      store.write(
        variableId,
        Array.from({ length: POINTS }, (_, minute): WrittenPoint => [START + minute * 60_000_000, base + minute]),
      );
    await write(1);
    await write(2);
    const chunks = [await chunkOf('point'), await chunkOf('point_version')];
    const before = await Promise.all(chunks.map(indexBytes));
    expect(await tableBytes(chunks[0] ?? '')).toBeGreaterThan(130);
    // One digest of all rows: comparing them one by one would take seconds.
    const read = async () => {
      const text = `select count(*)::int, md5(string_agg(stored::text, ';' order by variable_id, date, version_timestamp))
        from (select * from point union all select * from point_version) stored`;
      return (await store.database.query(text)).rows;
    };
    const points = await read();

    expect(await pack(3600)).toBe(0);
    // The state that an interrupted rebuild leaves behind.
    await store.database.query(`create index left_over on ${chunks[0]} (date)`);
    await store.database.query(
      `update pg_index set indisvalid = false where indexrelid = '_timescaledb_internal.left_over'::regclass`,
    );
    // The statistics of a session arrive up to a second after its transaction.
    let packed = 0;
    await eventually('rebuilt indexes', async () => {
      packed += await pack(0);
      return packed === 2;
    });
    expect(await pack(0)).toBe(0);
    const after = await Promise.all(chunks.map(indexBytes));
    expect(before[0]).toBeGreaterThan(50);
    expect(after[0]).toBeLessThan(35);
    const rowBytes = await Promise.all(chunks.map(tableBytes));
    expect(rowBytes[0], 'the superseded copy is gone').toBeLessThan(85);
    expect(after[1]).toBeLessThanOrEqual(before[1] ?? 0);
    expect(await read()).toEqual(points);
    const { rows: left } = await store.database.query(`select from pg_class where relname = 'left_over'`);
    expect(left).toEqual([]);
    for (const chunk of chunks) expect(await settingsOf(chunk)).toContain('autovacuum_vacuum_scale_factor=0.05');
  });
});
