/**
 * Push of new points through HTTP until the last is readable, against raw COPY BINARY of the same rows into an identical
 * hypertable. Both in points per second; a ratio of 1 would mean that HTTP, JSON, validation, resolution, durability and
 * the ingester cost nothing.
 */
import { once } from 'node:events';
import { from as copyFrom } from 'pg-copy-streams';
import { type Database, withConnection } from '../../src/platform/database.ts';
import { COPY_HEADER, COPY_TRAILER, encodeTuples, patchVersionTimestamps } from '../../src/points/copy-codec.ts';
import { type ApiClient, createSource, createVariable } from '../support/manager.ts';
import { type Figure, figure } from './report.ts';

const ROUNDS = 5;
const PUSHES = 5;
const ELEMENTS = 100;
const READINGS = 1000;
const POINTS = PUSHES * ELEMENTS * READINGS;
const QUARTER_MILLIS = 900_000;
const START_MILLIS = Date.UTC(2024, 0, 1);

export async function benchPush(database: Database, api: ApiClient): Promise<Figure> {
  await createTwin(database);
  const { sourceId } = await createSource(api);
  const pairs: (readonly [number, number])[] = [];
  // The first round warms both sides up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const variableIds: number[] = [];
    for (let index = 0; index < PUSHES * ELEMENTS; index += 1) variableIds.push(await createVariable(api, sourceId));
    const ours = await timePush(database, api, variableIds);
    const limit = await timeCopy(database, variableIds);
    if (round > 0) pairs.push([POINTS / ours, POINTS / limit]);
  }
  return figure('push of new points until readable', 'of raw COPY BINARY', 'points/s', pairs);
}

/** `point` again: same columns, key, chunks. */
async function createTwin(database: Database): Promise<void> {
  await database.query('drop table if exists bench_point');
  await database.query('create table bench_point (like point including all)');
  await database.query(
    `select create_hypertable('bench_point', by_range('date', (
       select time_interval from timescaledb_information.dimensions where hypertable_name = 'point'
     )), create_default_indexes => false)`,
  );
}

/** Seconds from the first request until every point can be read. */
async function timePush(database: Database, api: ApiClient, variableIds: readonly number[]): Promise<number> {
  const bodies = Array.from({ length: PUSHES }, (_, push) =>
    JSON.stringify(
      variableIds.slice(push * ELEMENTS, (push + 1) * ELEMENTS).map((variableId) => ({ variableId, data: readings() })),
    ),
  );
  const startMs = performance.now();
  await Promise.all(bodies.map((raw) => api.call('POST', '/api/data', undefined, { raw })));
  while (!(await areAllReadable(api, variableIds))) await new Promise((resolve) => setTimeout(resolve, 2));
  const seconds = (performance.now() - startMs) / 1000;
  await assertStored(database, variableIds);
  return seconds;
}

/** By the last point of the last variable of each push: a batch becomes visible as a whole. */
async function areAllReadable(api: ApiClient, variableIds: readonly number[]): Promise<boolean> {
  const lasts = variableIds.filter((_, index) => index % ELEMENTS === ELEMENTS - 1);
  const query = `variableIds=${lasts.join()}&pageNumber=0&itemsPerPage=1&pagingOrder=DESC`;
  return (await api.call<unknown[]>('GET', `/data?${query}`)).length === lasts.length;
}

async function assertStored(database: Database, variableIds: readonly number[]): Promise<void> {
  const { rows } = await database.query<{ count: number }>(
    'select count(*) as count from point where variable_id = any($1::int[])',
    [variableIds],
  );
  if (rows[0]?.count !== POINTS) throw new Error(`${rows[0]?.count} of ${POINTS} points are stored`);
}

function readings() {
  return Array.from({ length: READINGS }, (_, index) => ({
    date: new Date(START_MILLIS + index * QUARTER_MILLIS).toISOString(),
    value: index + 0.25,
  }));
}

/** Seconds of COPY alone, the rows encoded beforehand. */
async function timeCopy(database: Database, variableIds: readonly number[]): Promise<number> {
  const tuples = encodeTuples(
    variableIds.flatMap((variableId) =>
      Array.from({ length: READINGS }, (_, index) => ({
        variableId,
        dateMicros: (START_MILLIS + index * QUARTER_MILLIS) * 1000,
        value: index + 0.25,
        versionTagId: 0,
        tagSetId: 0,
      })),
    ),
  );
  patchVersionTimestamps(tuples, Date.now() * 1000);
  return withConnection(database, async (connection) => {
    const startMs = performance.now();
    const stream = connection.query(copyFrom('copy bench_point from stdin (format binary)'));
    stream.write(COPY_HEADER);
    stream.write(tuples);
    stream.end(COPY_TRAILER);
    await once(stream, 'finish');
    return (performance.now() - startMs) / 1000;
  });
}
