/**
 * Compares the writer of points with raw COPY BINARY of the same rows into a similar hypertable. The primary key of
 * this hypertable has the default fill factor. The writer and COPY take turns.
 */
import { type Database, withConnection, withTransaction } from '../../../src/platform/database/database.ts';
import { encodeTuples, patchVersionTimestamps } from '../../../src/points/copy-codec.ts';
import { copyTuples, writePoints } from '../../../src/points/write/write-points.ts';
import { addAccount } from '../../support/fixtures/accounts.ts';
import { addStoredSource, addStoredVariables } from '../../support/fixtures/stored-structure.ts';
import { createTwin } from '../load/twin.ts';
import { type Figure, figure } from '../report.ts';

const ROUNDS = 5;
const QUARTER_MICROS = 900_000_000;
const START_MICROS = Date.UTC(2024, 0, 1) * 1000;
const WRITE_TIMEOUT_MS = 600_000;
const VERSION_LIMIT = 7;
const LAST_ID = 2 ** 31 - 1;

/** Number of variables in a batch, and of points per variable. */
interface Shape {
  readonly variables: number;
  readonly points: number;
}

const MILLION: Shape = { variables: 1000, points: 1000 };
const QUARTER_MILLION: Shape = { variables: 250, points: 1000 };
const LONG: Shape = { variables: 1, points: 100_000 };
const WIDE: Shape = { variables: 1000, points: 1 };

interface World {
  readonly database: Database;
  readonly accountId: number;
  readonly sourceId: number;
  /** Next unused variable id in `bench_point`, the table into which COPY writes. */
  nextTwinId: number;
}

type Pair = readonly [ours: number, limit: number];

export async function benchPoints(database: Database): Promise<readonly Figure[]> {
  const world = await createWorld(database);
  const pairs = new Map<string, Pair[]>();
  // The first round warms up both sides.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for await (const [name, pair] of measureRound(world)) {
      if (round > 0) pairs.set(name, [...(pairs.get(name) ?? []), pair]);
    }
  }
  return [...pairs].map(([name, values]) => figure(name, 'of raw COPY BINARY', 'points/s', values));
}

async function* measureRound(world: World): AsyncGenerator<readonly [string, Pair]> {
  const plain = await addVariables(world, MILLION, false);
  yield ['append 1,000 x 1,000', await measure(world, plain, MILLION)];
  yield ['overwrite 1,000 x 1,000', await measure(world, plain, MILLION)];
  const untagged = await addVariables(world, MILLION, true);
  yield ['append 1,000 x 1,000, versioned', await measure(world, untagged, MILLION)];
  yield ['new versions 1,000 x 1,000, untagged', await measure(world, untagged, MILLION)];
  yield ['third versions 1,000 x 1,000, untagged', await measure(world, untagged, MILLION)];
  const tagged = await addVariables(world, MILLION, true);
  await timeWrite(world, encode(tagged, MILLION, await addVersionTag(world)));
  yield ['new versions 1,000 x 1,000, new tag', await measure(world, tagged, MILLION, await addVersionTag(world))];
  yield* measureAtLimit(world);
  const long = await addVariables(world, LONG, true);
  yield ['append 1 x 100,000', await measure(world, long, LONG)];
  yield ['new versions 1 x 100,000', await measure(world, long, LONG)];
  const wide = await addVariables(world, WIDE, true);
  yield ['append 1,000 x 1', await measure(world, wide, WIDE)];
  yield ['new versions 1,000 x 1', await measure(world, wide, WIDE)];
}

/**
 * Each measured write removes as many versions as it adds: either each point is at the version limit, or the new
 * versions replace versions with the same tag.
 */
async function* measureAtLimit(world: World): AsyncGenerator<readonly [string, Pair]> {
  const full = await addVariables(world, QUARTER_MILLION, true);
  for (let version = 0; version < VERSION_LIMIT; version += 1) {
    await timeWrite(world, encode(full, QUARTER_MILLION, 0));
  }
  yield ['new versions at the limit of 7, 250 x 1,000, untagged', await measure(world, full, QUARTER_MILLION)];
  const tag = await addVersionTag(world);
  await timeWrite(world, encode(full, QUARTER_MILLION, tag));
  yield ['the same tag again, 7 more versions stored, 250 x 1,000', await measure(world, full, QUARTER_MILLION, tag)];
}

/** @returns the points per second of the writer and of COPY, measured one after the other. */
async function measure(world: World, ids: readonly number[], shape: Shape, versionTagId = 0): Promise<Pair> {
  const twinIds = ids.map((_, index) => world.nextTwinId + index);
  world.nextTwinId += ids.length;
  const limit = encode(twinIds, shape, versionTagId);
  patchVersionTimestamps(limit, Date.now() * 1000);
  const ours = encode(ids, shape, versionTagId);
  const points = shape.variables * shape.points;
  const limitSeconds = await timeCopy(world, limit);
  return [points / (await timeWrite(world, ours)), points / limitSeconds];
}

async function timeWrite({ database }: World, tuples: Buffer): Promise<number> {
  const startMs = performance.now();
  await withTransaction(database, (transaction) => writePoints(transaction, [tuples]), {
    statementTimeoutMs: WRITE_TIMEOUT_MS,
  });
  return (performance.now() - startMs) / 1000;
}

async function timeCopy({ database }: World, tuples: Buffer): Promise<number> {
  return withConnection(database, async (connection) => {
    const startMs = performance.now();
    await copyTuples(connection, 'bench_point', [tuples]);
    return (performance.now() - startMs) / 1000;
  });
}

function encode(variableIds: readonly number[], { points }: Shape, versionTagId: number): Buffer {
  return encodeTuples(
    variableIds.flatMap((variableId) =>
      Array.from({ length: points }, (_, index) => ({
        variableId,
        dateMicros: START_MICROS + index * QUARTER_MICROS,
        value: index + 0.25,
        versionTagId,
        tagSetId: 0,
      })),
    ),
  );
}

async function createWorld(database: Database): Promise<World> {
  await createTwin(database, 'bench_point');
  // Stores points of an extra variable whose id is higher than the id of every measured variable. Without these points,
  // the measured points would go to the end of the index, where COPY is faster.
  for (const table of ['bench_point', 'point', 'point_version']) {
    await database.query(
      `insert into ${table} (date, value, version_timestamp, variable_id, version_tag_id, tag_set_id)
       select timestamptz 'epoch' + micros * interval '1 microsecond', 0, now(), $1, 0, 0
       from generate_series($2::int8, $3::int8, $4::int8) micros`,
      [LAST_ID, START_MICROS, START_MICROS + LONG.points * QUARTER_MICROS, QUARTER_MICROS],
    );
  }
  const accountId = await addAccount(database, 'Bench', { versionLimit: VERSION_LIMIT });
  return { database, accountId, sourceId: await addStoredSource(database, accountId), nextTwinId: 1 };
}

function addVariables(world: World, { variables }: Shape, isVersioned: boolean): Promise<readonly number[]> {
  return addStoredVariables(world.database, world, { count: variables, isVersioned });
}

async function addVersionTag({ database, accountId }: World): Promise<number> {
  const { rows } = await database.query<{ id: number }>(
    'insert into version_tag (account_id, tag) values ($1, gen_random_uuid()::text) returning id',
    [accountId],
  );
  return rows[0]?.id ?? 0;
}
