/**
 * Compares points in compressed columns with the same points in rows: bytes, reads and revisions. Stores a year of
 * 15-minute points of 40 variables, with two superseded versions of each point. BENCH_STORAGE_VARIABLES sets another
 * number of variables.
 */
import { type Database, withTransaction } from '../../../src/platform/database/database.ts';
import { createLog } from '../../../src/platform/log.ts';
import { streamAggregates } from '../../../src/points/buckets/aggregate-points.ts';
import type { Buckets } from '../../../src/points/buckets/bucket.ts';
import { compressChunks } from '../../../src/points/columns/compress-chunks.ts';
import { measureStorage, type StoredPoints } from '../../../src/points/columns/measure-storage.ts';
import { encodeTuples } from '../../../src/points/copy-codec.ts';
import type { PointSelection } from '../../../src/points/point.ts';
import { streamPoints } from '../../../src/points/read/read-points.ts';
import { writePoints } from '../../../src/points/write/write-points.ts';
import { addAccount } from '../../support/fixtures/accounts.ts';
import { addStoredSource, addStoredVariables } from '../../support/fixtures/stored-structure.ts';
import { type Figure, figure } from '../report.ts';

const VARIABLES = Number(process.env.BENCH_STORAGE_VARIABLES ?? 40);
const ROUNDS = Math.min(7, Math.floor(VARIABLES / 2));
const VERSIONS = 3;
const QUARTER_MICROS = 900_000_000;
const DAY_POINTS = 96;
const YEAR_POINTS = 365 * DAY_POINTS;
const YEAR = { fromMicros: Date.UTC(2025, 0, 1) * 1000, toMicros: Date.UTC(2026, 0, 1) * 1000 };
const log = createLog('error', 'bench');

type Times = Readonly<Record<string, readonly number[]>>;

/** @returns no figures with the Apache edition of TimescaleDB, which cannot compress. */
export async function benchStorage(database: Database): Promise<readonly Figure[]> {
  const { rows } = await database.query<{ license: string }>(
    `select current_setting('timescaledb.license') as license`,
  );
  if (rows[0]?.license !== 'timescale') {
    process.stdout.write('storage: left out, TIMESCALEDB_BUILD names no build of the Community edition\n');
    return [];
  }
  const accountId = await addAccount(database, 'Archive');
  const sourceId = await addStoredSource(database, accountId);
  const settings = { count: VARIABLES, isVersioned: true };
  const ids = await addStoredVariables(database, { accountId, sourceId }, settings);
  for (let version = 0; version < VERSIONS; version += 1) for (const id of ids) await revise(database, id, YEAR_POINTS);
  const known = Date.now() * 1000;
  await database.query('vacuum (analyze) point, point_version');
  const inRows = await bytesOf(database, accountId, 'rows');
  // Measures reads before revisions, which leave dead rows. Only the first half of the variables is revised in rows;
  // the second half is revised once it is compressed.
  const [first, second] = [ids.slice(0, ids.length / 2), ids.slice(ids.length / 2)];
  const rowTimes = { ...(await timeReads(database, second, known)), ...(await timeRevisions(database, first)) };
  await compressAll(database);
  const inColumns = await bytesOf(database, accountId, 'columns');
  const columnTimes = { ...(await timeReads(database, second, known)), ...(await timeRevisions(database, second)) };
  const startMs = performance.now();
  await compressAll(database);
  process.stdout.write(`storage: revised chunks are in columns again ${seconds(startMs)} s after the last revision\n`);
  return [
    ...(['point', 'point_version'] as const).map((table) =>
      figure(`bytes of ${table} in columns`, 'of rows', 'bytes a point', [
        [inColumns[table] ?? NaN, inRows[table] ?? NaN],
      ]),
    ),
    ...Object.entries(columnTimes).map(([name, times]) =>
      figure(
        `${name} in columns`,
        'of the same in rows',
        'ms',
        times.map((ms, round) => [ms, rowTimes[name]?.[round] ?? NaN]),
      ),
    ),
  ];
}

async function timeReads(database: Database, ids: readonly number[], known: number): Promise<Times> {
  const timesOf = async (read: (id: number) => AsyncIterable<unknown>) => {
    const times: number[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const startMs = performance.now();
      for await (const _part of read(ids[round % ids.length] ?? 0));
      if (round > 0) times.push(performance.now() - startMs);
    }
    return times;
  };
  const select = (id: number): PointSelection => ({ variableIds: [id], ...YEAR, version: {}, order: 'ASC' });
  return {
    'the latest year': await timesOf((id) => streamPoints(database, select(id))),
    'the year as of an instant': await timesOf((id) =>
      streamPoints(database, { ...select(id), version: { asOfMicros: known } }),
    ),
    'months of the year': await timesOf((id) => streamAggregates(database, select(id), MONTHS)),
  };
}

const MONTHS: Buckets = {
  bucket: 'month',
  timeZoneId: 'UTC',
  functionOf: () => 'avg',
  startOfDay: (localMidnight) => localMidnight,
  fill: 'none',
};

async function timeRevisions(database: Database, ids: readonly number[]): Promise<Times> {
  const timesOf = async (points: number): Promise<readonly number[]> => {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const startMs = performance.now();
      await revise(database, ids[round % ids.length] ?? 0, points);
      times.push(performance.now() - startMs);
    }
    return times;
  };
  return { 'a revised day': await timesOf(DAY_POINTS), 'a revised year': await timesOf(YEAR_POINTS) };
}

/** Writes the first points of the year again: a random walk with two decimals. */
async function revise(database: Database, variableId: number, count: number): Promise<void> {
  let hundredths = 5000;
  const entries = Array.from({ length: count }, (_, index) => {
    hundredths += Math.round((Math.random() - 0.5) * 100);
    const dateMicros = YEAR.fromMicros + index * QUARTER_MICROS;
    return { variableId, dateMicros, value: hundredths / 100, versionTagId: 0, tagSetId: 0 };
  });
  await withTransaction(database, (transaction) => writePoints(transaction, [encodeTuples(entries)]));
}

/** Repeats until no chunk is due three times in a row: the statistics of the last writes arrive within a second. */
async function compressAll(database: Database): Promise<void> {
  for (let idle = 0; idle < 3; ) {
    idle = (await compressChunks(database, { quietSec: 0, settleSec: 0 }, log)) === 0 ? idle + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function bytesOf(
  database: Database,
  accountId: number,
  form: StoredPoints['form'],
): Promise<Readonly<Record<string, number>>> {
  const parts = (await measureStorage(database)).filter((part) => part.accountId === accountId && part.form === form);
  return Object.fromEntries(parts.map(({ table, points, bytes }) => [table, bytes / points]));
}

function seconds(startMs: number): string {
  return ((performance.now() - startMs) / 1000).toFixed(1);
}
