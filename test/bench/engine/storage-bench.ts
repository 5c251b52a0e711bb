/**
 * Compares compressed points with uncompressed points: bytes, reads and revisions. 40 variables have two years of
 * 15-minute points in three versions; one year is compressed. With BENCH_STORAGE_VARIABLES=400, the points take 20 GB
 * of disk.
 */
import { type Database, withConnection, withTransaction } from '../../../src/platform/database/database.ts';
import { createLog } from '../../../src/platform/log.ts';
import { streamAggregates } from '../../../src/points/buckets/aggregate-points.ts';
import type { Buckets } from '../../../src/points/buckets/bucket.ts';
import { compressChunk, compressChunks } from '../../../src/points/columns/compress-chunks.ts';
import { measureStorage, type StoredPoints } from '../../../src/points/columns/measure-storage.ts';
import { encodeTuples } from '../../../src/points/copy-codec.ts';
import type { PointSelection } from '../../../src/points/point.ts';
import { streamPoints } from '../../../src/points/read/read-points.ts';
import { CHUNK_MICROS } from '../../../src/points/write/chunk-rules.ts';
import { writePoints } from '../../../src/points/write/write-points.ts';
import { addAccount } from '../../support/fixtures/accounts.ts';
import { addStoredSource, addStoredVariables } from '../../support/fixtures/stored-structure.ts';
import { type Figure, figure } from '../report.ts';

const VARIABLES = Number(process.env.BENCH_STORAGE_VARIABLES ?? 40);
/**
 * Number of chunks in which single days are revised. Each variable is revised at most once per chunk, because only the
 * first revision finds its data compressed.
 */
const CHUNKS_OF_DAYS = 4;
const ROUNDS = { read: 7, day: Math.min(20, (CHUNKS_OF_DAYS * VARIABLES) / 2), year: 7 };
const VERSIONS = 3;
const QUARTER_MICROS = 900_000_000;
const DAY_POINTS = 96;
const YEAR_POINTS = 365 * DAY_POINTS;
/** No chunk holds dates of both years. */
const YEARS = { columns: yearFrom(2023), rows: yearFrom(2025) } as const;
const log = createLog('error', 'bench');

type Form = keyof typeof YEARS;
type Year = (typeof YEARS)[Form];
type Pair = readonly [columns: number, rows: number];

function yearFrom(year: number) {
  return { fromMicros: Date.UTC(year, 0, 1) * 1000, toMicros: Date.UTC(year + 1, 0, 1) * 1000 };
}

/** @returns the figures; an empty list when TimescaleDB cannot compress. */
export async function benchStorage(database: Database): Promise<readonly Figure[]> {
  const { rows } = await database.query<{ license: string }>(
    `select current_setting('timescaledb.license') as license`,
  );
  if (rows[0]?.license !== 'timescale') {
    process.stdout.write('storage: skipped, because TIMESCALEDB_BUILD names no build of the Community edition\n');
    return [];
  }
  const accountId = await addAccount(database, 'Archive');
  const sourceId = await addStoredSource(database, accountId);
  const settings = { count: VARIABLES, isVersioned: true };
  const ids = await addStoredVariables(database, { accountId, sourceId }, settings);
  await timed('loaded', () => load(database, ids));
  const known = Date.now() * 1000;
  await timed('vacuumed', () => database.query('vacuum (analyze) point, point_version'));
  const inRows = await bytesOf(database, accountId, 'rows');
  await timed('compressed', () => compressYear(database, YEARS.columns));
  const inColumns = await bytesOf(database, accountId, 'columns');
  const pairs = { ...(await timeReads(database, ids, known)), ...(await timeRevisions(database, ids)) };
  await timed('compressed again after the last revision', () => compressRest(database));
  return [
    ...(['point', 'point_version'] as const).map((table) =>
      figure(`bytes of ${table} compressed`, 'of rows', 'bytes a point', [
        [inColumns[table] ?? NaN, inRows[table] ?? NaN],
      ]),
    ),
    ...Object.entries(pairs).map(([name, times]) => figure(`${name} compressed`, 'of the same in rows', 'ms', times)),
  ];
}

/** Runs `work` and prints how long it took. */
async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const startMs = performance.now();
  await work();
  process.stdout.write(`storage: ${name} in ${((performance.now() - startMs) / 1000).toFixed(1)} s\n`);
}

/** Number of variables per INSERT, and number of concurrent INSERTs. */
const LOAD = { variables: 10, statements: 2 };

/**
 * Writes the points of the first variable through the writer, and copies them to the other variables by SQL. The SQL
 * adds to each copied value an offset that depends on the variable and the version. The VersionTimestamps of the
 * versions of a copy are an hour apart.
 */
async function load(database: Database, [first = 0, ...others]: readonly number[]): Promise<void> {
  for (let version = 0; version < VERSIONS; version += 1) {
    for (const year of Object.values(YEARS)) await revise(database, first, year, YEAR_POINTS);
  }
  await database.query(
    `create table bench_walk as select date, (value * 100)::int as hundredths from point where variable_id = $1`,
    [first],
  );
  const groups: (readonly number[])[] = [];
  for (let start = 0; start < others.length; start += LOAD.variables) {
    groups.push(others.slice(start, start + LOAD.variables));
  }
  const work = async (): Promise<void> => {
    for (let group = groups.shift(); group; group = groups.shift()) {
      for (const version of [1, 2]) await database.query(insertVersions('point_version', VERSIONS - version), [group]);
      await database.query(insertVersions('point', 0), [group]);
    }
  };
  await Promise.all(Array.from({ length: LOAD.statements }, work));
  await database.query(
    `insert into series (variable_id, max_date, last_version_timestamp, has_history, version_bound)
     select id, max_date, last_version_timestamp, has_history, version_bound
     from series, unnest($2::int[]) id where variable_id = $1`,
    [first, others],
  );
  await database.query('drop table bench_walk');
}

const insertVersions = (table: string, hoursAgo: number) => `
  insert into ${table} (date, value, version_timestamp, variable_id, version_tag_id, tag_set_id)
  select date, (hundredths + id * 7 + ${hoursAgo} * 13) / 100.0, now() - interval '1 hour' * ${hoursAgo}, id, 0, 0
  from unnest($1::int[]) id cross join bench_walk order by id, date`;

async function timeReads(
  database: Database,
  ids: readonly number[],
  known: number,
): Promise<Readonly<Record<string, readonly Pair[]>>> {
  const select = (id: number, year: Year): PointSelection => {
    return { variableIds: [id], ...year, version: {}, order: 'ASC' };
  };
  const time = (read: (id: number, year: Year) => AsyncIterable<unknown>) =>
    alternate(ROUNDS.read, async (round, year) => {
      for await (const _part of read(ids[round % ids.length] ?? 0, year));
    });
  return {
    'the latest year': await time((id, year) => streamPoints(database, select(id, year))),
    'the year as of an instant': await time((id, year) =>
      streamPoints(database, { ...select(id, year), version: { asOfMicros: known } }),
    ),
    'months of the year': await time((id, year) => streamAggregates(database, select(id, year), MONTHS)),
  };
}

const MONTHS: Buckets = {
  bucket: 'month',
  timeZoneId: 'UTC',
  functionOf: () => 'avg',
  startOfDay: (localMidnight) => localMidnight,
  fill: 'none',
};

async function timeRevisions(
  database: Database,
  ids: readonly number[],
): Promise<Readonly<Record<string, readonly Pair[]>>> {
  const [forDays, forYears] = [ids.slice(0, ids.length / 2), ids.slice(ids.length / 2)];
  return {
    'a revised day': await alternate(ROUNDS.day, (round, { fromMicros }) => {
      const chunk = Math.floor(round / forDays.length) % CHUNKS_OF_DAYS;
      const day = { fromMicros: fromMicros + chunk * CHUNK_MICROS, toMicros: Number.POSITIVE_INFINITY };
      return revise(database, forDays[round % forDays.length] ?? 0, day, DAY_POINTS);
    }),
    'a revised year': await alternate(
      ROUNDS.year,
      (round, year) => revise(database, forYears[round % forYears.length] ?? 0, year, YEAR_POINTS),
      // Compresses again when all variables have been revised, so that the next round finds compressed batches.
      async (round) => {
        if (round > 0 && round % forYears.length === 0) await compressRest(database);
      },
    ),
  };
}

/**
 * In each round, calls `prepare`, then runs `work` for each of the two years.
 * @returns one pair per round: the milliseconds that `work` takes for each year.
 */
async function alternate(
  rounds: number,
  work: (round: number, year: Year) => Promise<void>,
  prepare?: (round: number) => Promise<void>,
): Promise<readonly Pair[]> {
  const timeOf = async (round: number, form: Form): Promise<number> => {
    const startMs = performance.now();
    await work(round, YEARS[form]);
    return performance.now() - startMs;
  };
  const pairs: Pair[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await prepare?.(round);
    const rows = await timeOf(round, 'rows');
    pairs.push([await timeOf(round, 'columns'), rows]);
  }
  return pairs;
}

/** Writes `count` points from `fromMicros` on: a random walk with two decimals. */
async function revise(database: Database, variableId: number, { fromMicros }: Year, count: number): Promise<void> {
  let hundredths = 5000;
  const entries = Array.from({ length: count }, (_, index) => {
    hundredths += Math.round((Math.random() - 0.5) * 100);
    const dateMicros = fromMicros + index * QUARTER_MICROS;
    return { variableId, dateMicros, value: hundredths / 100, versionTagId: 0, tagSetId: 0 };
  });
  await withTransaction(database, (transaction) => writePoints(transaction, [encodeTuples(entries)]));
}

async function compressYear(database: Database, { fromMicros, toMicros }: Year): Promise<void> {
  const { rows } = await database.query<{ name: string }>(
    'select name from point_chunks() where from_micros < $2::int8 and to_micros > $1::int8',
    [fromMicros, toMicros],
  );
  await withConnection(database, async (connection) => {
    for (const { name } of rows) while (!(await compressChunk(connection, name)));
  });
}

/**
 * Compresses the uncompressed rows of compressed chunks. Statistics of writes arrive up to a second late, so this
 * repeats until three attempts in a row find nothing to compress.
 */
async function compressRest(database: Database): Promise<void> {
  const settings = { quietSec: Number.MAX_SAFE_INTEGER, settleSec: 0 };
  for (let idle = 0; idle < 3; ) {
    idle = (await compressChunks(database, settings, log)) === 0 ? idle + 1 : 0;
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
