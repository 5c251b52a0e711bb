/** Tests the compression of chunks that receive no more writes; only TimescaleDB's Community edition compresses. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Transaction, withConnection, withTransaction } from '../../../src/platform/database/database.ts';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { createLog } from '../../../src/platform/log.ts';
import { compressChunks } from '../../../src/points/columns/compress-chunks.ts';
import { findColumnsTable } from '../../../src/points/columns/find-columns-table.ts';
import { measureStorage } from '../../../src/points/columns/measure-storage.ts';
import { encodeTuples } from '../../../src/points/copy-codec.ts';
import { findChunks } from '../../../src/points/write/find-chunks.ts';
import { writePoints } from '../../../src/points/write/write-points.ts';
import { eventually } from '../../support/eventually.ts';
import { openPointStore, type PointStore, type WrittenPoint } from '../../support/fixtures/point-store.ts';
import { createTestDatabase, type TestDatabase } from '../../support/services/stack.ts';

let store: PointStore;
let other: TestDatabase;
beforeAll(async () => {
  [store, other] = await Promise.all([openPointStore(), createTestDatabase()]);
});
afterAll(async () => {
  await store?.close();
  await other?.drop();
});

const isCommunity = async () => {
  const { rows } = await store.database.query(`select current_setting('timescaledb.license') as license`);
  return rows[0]?.license === 'timescale';
};

interface StoredChunk {
  readonly isCompressed: boolean;
  readonly rowBytes: number;
  readonly indexBytes: number;
}

const findChunkSizes = async (): Promise<readonly StoredChunk[]> => {
  const chunks = await withTransaction(store.database, (transaction) => findChunks(transaction));
  return Promise.all(
    chunks.map(async ({ name, isCompressed }) => {
      const { rows } = await store.database.query<{ bytes: number; indexBytes: number }>(
        'select pg_relation_size($1::regclass) as bytes, pg_indexes_size($1::regclass) as "indexBytes"',
        [name],
      );
      return { isCompressed, rowBytes: rows[0]?.bytes ?? 0, indexBytes: rows[0]?.indexBytes ?? 0 };
    }),
  );
};

/** Selects the total size, in bytes, of the free space maps and the visibility maps of all compressed chunks. */
const MAP_BYTES = `
  select sum(pg_relation_size(relation, fork))::float8 as "mapBytes"
  from point_chunks()
  join pg_class columns on columns.oid = columns_name::regclass
  cross join unnest(array[name::regclass, columns.oid, columns.reltoastrelid]) relation
  cross join unnest(array['fsm', 'vm']) fork
  where relation <> 0`;

const log = createLog('silent', 'test');
const NOW = { quietSec: 0, settleSec: 0 };
const DAY = Date.UTC(2026, 2, 1) * 1000;
const writeHours = (variableId: number, base: number, count = 24) =>
  store.write(
    variableId,
    Array.from({ length: count }, (_, hour): WrittenPoint => [DAY + hour * 3_600_000_000, base + hour]),
  );

it('points: with the Apache edition of TimescaleDB, compressChunks compresses no chunk', async (test) => {
  if (await isCommunity()) test.skip('the Community edition is installed (TIMESCALEDB_BUILD)');
  const variableId = await store.addVariable({ isVersioned: true });
  await writeHours(variableId, 1);
  for (let call = 0; call < 2; call += 1) {
    const { rows } = await store.database.query('select enable_columnstore() as "isEnabled"');
    expect(rows).toEqual([{ isEnabled: false }]);
    expect(await compressChunks(store.database, NOW, log)).toBe(0);
  }
  expect((await findChunkSizes()).some(({ isCompressed }) => isCompressed)).toBe(false);
});

describe('points: with the Community edition of TimescaleDB', () => {
  it('a chunk that receives no more writes is compressed, later corrections to it are compressed too, and compression changes no stored version (R-F5)', async (test) => {
    if (!(await isCommunity())) test.skip('needs the Community edition; TIMESCALEDB_BUILD names no build of it');
    const variableId = await store.addVariable({ isVersioned: true, versionLimit: 3 });
    await writeHours(variableId, 100);
    // Repeats the call, because PostgreSQL's statistics of a write can arrive some time after the commit.
    const compress = () =>
      eventually('the compression of all chunks', async () => {
        await compressChunks(store.database, NOW, log);
        const chunks = await findChunkSizes();
        return chunks.length > 0 && chunks.every(({ isCompressed, rowBytes }) => isCompressed && rowBytes === 0);
      });
    await compress();
    for (const base of [200, 300, 400, 500]) {
      const before = await store.readAll(variableId);
      await writeHours(variableId, base);
      const written = await store.readAll(variableId);
      expect(written.filter(({ value }) => value >= base)).toHaveLength(24);
      expect(written).toEqual(expect.arrayContaining(before.filter(({ value }) => value >= base - 200)));
      await compress();
      expect(await store.readAll(variableId)).toEqual(written);
    }
    expect((await store.read(variableId)).map(({ value }) => value)).toEqual(
      Array.from({ length: 24 }, (_, hour) => 500 + hour),
    );
  });

  it('a small compressed chunk has one page per index and no free space map or visibility map, even after a correction; measureStorage returns the exact total size of all chunks', async (test) => {
    if (!(await isCommunity())) test.skip('needs the Community edition; TIMESCALEDB_BUILD names no build of it');
    const variableId = await store.addVariable({ isVersioned: true });
    for (const base of [1, 2, 3]) await writeHours(variableId, base, 2000);
    expect((await findChunkSizes()).some(({ indexBytes }) => indexBytes > 50_000)).toBe(true);
    const compress = (name: string) =>
      eventually(name, async () => {
        await compressChunks(store.database, NOW, log);
        const { rows } = await store.database.query<{ mapBytes: number }>(MAP_BYTES);
        return (
          rows[0]?.mapBytes === 0 &&
          (await findChunkSizes()).every(({ isCompressed, indexBytes }) => isCompressed && indexBytes <= 8192)
        );
      });
    await compress('indexes of one page, without maps');
    await writeHours(variableId, 4, 100);
    await compress('the same after a correction');
    const measured = (await measureStorage(store.database)).reduce((sum, { bytes }) => sum + bytes, 0);
    const { rows } = await store.database.query<{ bytes: number }>(
      `select sum(pg_total_relation_size(name::regclass) + pg_total_relation_size(columns_name::regclass))::float8 as bytes
       from point_chunks()`,
    );
    expect(measured).toBeCloseTo(rows[0]?.bytes ?? 0, 0);
  });

  it('a batch of current points that exceeds 2 kB is not moved to the TOAST table', async (test) => {
    if (!(await isCommunity())) test.skip('needs the Community edition; TIMESCALEDB_BUILD names no build of it');
    const variableId = await store.addVariable({ isVersioned: false });
    const start = Date.UTC(1999, 6, 1) * 1000;
    await store.write(
      variableId,
      // These values compress badly, so a compressed batch of 240 points takes more than 2,032 bytes.
      Array.from(
        { length: 480 },
        (_, hour): WrittenPoint => [start + hour * 3_600_000_000, Math.sin(hour * hour) * 1e9],
      ),
    );
    const chunk = await eventually('a compressed chunk', async () => {
      await compressChunks(store.database, NOW, log);
      const { rows } = await store.database.query<{ columns: string }>(
        `select columns_name as columns from point_chunks()
         where is_compressed and not is_partial and table_name = 'point' and from_micros <= $1 and to_micros > $1`,
        [start],
      );
      return rows[0];
    });
    const { rows } = await store.database.query(
      `select pg_relation_size(reltoastrelid)::int as "toastBytes",
              (select min(pg_column_size(batch.*)) > 2032 from ${chunk.columns} batch) as "isLarge"
       from pg_class where oid = $1::regclass`,
      [chunk.columns],
    );
    expect(rows).toEqual([{ toastBytes: 0, isLarge: true }]);
    expect(await store.read(variableId)).toHaveLength(480);
  });

  it('compressChunks skips chunks that were just written, and compresses nothing while a write is open; the next call after the write compresses all chunks', async (test) => {
    if (!(await isCommunity())) test.skip('needs the Community edition; TIMESCALEDB_BUILD names no build of it');
    const variableId = await store.addVariable({ isVersioned: false });
    await store.write(variableId, [[Date.UTC(2010, 0, 1) * 1000, 1]]);
    const inRows = async () => (await findChunkSizes()).filter(({ isCompressed }) => !isCompressed).length;
    expect(await compressChunks(store.database, { quietSec: 3600, settleSec: 3600 }, log)).toBe(0);
    expect(await inRows()).toBe(1);
    // The open write holds `point_gate`, so no chunk can be compressed.
    await withTransaction(store.database, async (transaction) => {
      const tuples = encodeTuples([{ variableId, dateMicros: DAY, value: 2, versionTagId: 0, tagSetId: 0 }]);
      await writePoints(transaction, [tuples]);
      expect(await compressChunks(store.database, NOW, log)).toBe(0);
    });
    expect(await inRows()).toBe(1);
    expect(await compressChunks(store.database, NOW, log)).toBeGreaterThan(0);
    expect(await inRows()).toBe(0);
    expect((await store.read(variableId)).map(({ value }) => value)).toEqual([1, 2]);
  });

  it('current points are compressed in batches of at most 240 points', async (test) => {
    if (!(await isCommunity())) test.skip('needs the Community edition; TIMESCALEDB_BUILD names no build of it');
    const variableId = await store.addVariable({ isVersioned: true });
    await writeHours(variableId, 1, 1000);
    const largestBatch = () =>
      eventually('the compressed batches', async () => {
        await compressChunks(store.database, NOW, log);
        const chunks = await withTransaction(store.database, (transaction) => findChunks(transaction));
        const chunk = chunks.find(
          ({ table, fromMicros, toMicros }) => table === 'point' && fromMicros <= DAY && DAY < toMicros,
        );
        const columns = chunk?.isCompressed && (await findColumnsTable(store.database, chunk.name));
        if (!columns) return undefined;
        const { rows } = await store.database.query<{ count: number }>(
          `select max(_ts_meta_count) as count from ${columns} where variable_id = $1`,
          [variableId],
        );
        return rows[0]?.count;
      });
    expect(await largestBatch()).toBe(240);
  });

  it('a chunk is not compressed while an open transaction holds a snapshot; the transaction can still read the points of the chunk (R-F5)', async (test) => {
    if (!(await isCommunity())) test.skip('needs the Community edition; TIMESCALEDB_BUILD names no build of it');
    const variableId = await store.addVariable({ isVersioned: false });
    await store.write(variableId, [[Date.UTC(2012, 0, 1) * 1000, 7]]);
    const snapshot = { isolation: 'repeatable read', readOnly: true } as const;
    const work = async (transaction: Transaction) => {
      await transaction.query('select 1');
      expect(await compressChunks(store.database, NOW, log)).toBe(0);
      return (await transaction.query('select value from point where variable_id = $1', [variableId])).rows;
    };
    expect(await withTransaction(store.database, work, snapshot)).toEqual([{ value: 7 }]);
    expect(await compressChunks(store.database, NOW, log)).toBe(1);
    expect((await store.read(variableId)).map(({ value }) => value)).toEqual([7]);
  });
});

it('points: new points in a compressed chunk are counted, even by query plans that were cached before a point was corrected (R-F8)', async (test) => {
  if (!(await isCommunity())) test.skip('needs the Community edition; TIMESCALEDB_BUILD names no build of it');
  const [corrected, written] = [
    await store.addVariable({ isVersioned: true }),
    await store.addVariable({ isVersioned: true }),
  ];
  await writeHours(corrected, 1);
  await eventually('the compression of all chunks', async () => {
    await compressChunks(store.database, NOW, log);
    return (await findChunkSizes()).every(({ isCompressed, rowBytes }) => isCompressed && rowBytes === 0);
  });
  await withConnection(store.database, async (session) => {
    const count = async (variableId: number) => {
      await session.query('select refresh_version_summary($1)', [variableId]);
      const { rows } = await session.query<{ count: number }>(
        'select sum(point_count)::int as count from version_summary where variable_id = $1',
        [variableId],
      );
      return rows[0]?.count;
    };
    await session.query('set plan_cache_mode = force_generic_plan');
    expect(await count(corrected)).toBe(24);
    // This statement decompresses points of the chunk. TimescaleDB before 2.22 then keeps cached plans that miss all
    // uncompressed points of the chunk.
    await store.database.query('delete from point where variable_id = $1 and date > to_timestamp($2::float8 / 1e6)', [
      corrected,
      DAY,
    ]);
    await writeHours(written, 2);
    expect(await count(written)).toBe(24);
    await session.query('reset plan_cache_mode');
  });
});

it('points: a failure of enable_columnstore does not fail the migration', async () => {
  const warnings: unknown[] = [];
  const log = Object.assign(createLog('silent', 'test'), {
    warn: (_details: unknown, message: string) => warnings.push(message),
  });
  const client = new pg.Client({ connectionString: other.url });
  await client.connect();
  await client.query(
    `create or replace function enable_columnstore() returns boolean language plpgsql as
     $$ begin raise exception 'not here'; end $$`,
  );
  await client.end();
  await migrate(other.url, log);
  expect(warnings).toEqual([
    'the columnstore could not be enabled, so points may stay uncompressed; the next run of migrate tries again',
  ]);
});
