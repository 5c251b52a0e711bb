/**
 * Compares pushes of new points over HTTP with raw COPY BINARY of the same rows, in points per second. The time of a
 * push ends when its last point is readable. COPY writes to a hypertable with the columns and chunk interval of
 * `point`. COPY uses one core and parallel pushes use all cores, so the ratio of pushes to COPY can exceed 1. Also
 * measures the delays of the event loop during the largest push.
 */
import { once } from 'node:events';
import { from as copyFrom } from 'pg-copy-streams';
import { type Database, withConnection } from '../../../src/platform/database/database.ts';
import { COPY_HEADER, COPY_TRAILER, encodeTuples, patchVersionTimestamps } from '../../../src/points/copy-codec.ts';
import type { ApiClient } from '../../support/fixtures/sign-in.ts';
import { addStoredVariables } from '../../support/fixtures/stored-structure.ts';
import { createSiteAndSource } from '../../support/fixtures/structure.ts';
import type { Delays } from '../load/event-loop.ts';
import { createTwin } from '../load/twin.ts';
import { type Figure, figure } from '../report.ts';

const ROUNDS = 5;
const PUSHES = 5;
const ELEMENTS = 100;
const READINGS = 1000;
/** Number of elements of the largest push; its body is nearly 50 MiB long. */
const MOST_ELEMENTS = 1000;
const MOST_DELAY_MS = 50;
const QUARTER_MILLIS = 900_000;
const START_MILLIS = Date.UTC(2024, 0, 1);

export interface PushService {
  readonly api: ApiClient;
  readonly database: Database;
  readonly accountId: number;
  /** Returns the delays of the event loop since the previous call of `readDelays`. */
  readonly readDelays: () => Promise<Delays>;
}

export async function benchPush(service: PushService): Promise<readonly Figure[]> {
  await createTwin(service.database, 'bench_point');
  const { sourceId } = await createSiteAndSource(service.api);
  const ratioOf = 'of raw COPY BINARY';
  return [
    figure(
      `${PUSHES} pushes of new points at the same time until readable`,
      ratioOf,
      'points/s',
      await compare(service, sourceId, PUSHES),
    ),
    figure('one push of new points until readable', ratioOf, 'points/s', await compare(service, sourceId, 1)),
    figure(
      'event-loop delay, p99, of api and ingester in one process during a push of 50 MiB',
      `of the ${MOST_DELAY_MS} ms allowed`,
      'ms',
      await delaysOfLargest(service, sourceId),
    ),
  ];
}

type Pair = readonly [ours: number, limit: number];

/**
 * @param pushes number of concurrent pushes.
 * @returns for each round, the rate of the pushes and the rate of COPY, in points per second.
 */
async function compare(
  { api, database, accountId }: PushService,
  sourceId: number,
  pushes: number,
): Promise<readonly Pair[]> {
  const points = pushes * ELEMENTS * READINGS;
  const pairs: Pair[] = [];
  // The first round warms up both sides.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const variableIds = await addStoredVariables(database, { accountId, sourceId }, { count: pushes * ELEMENTS });
    const ours = await timePush(database, api, variableIds, ELEMENTS);
    const limit = await timeCopy(database, variableIds);
    if (round > 0) pairs.push([points / ours, points / limit]);
  }
  return pairs;
}

async function delaysOfLargest(
  { api, database, accountId, readDelays }: PushService,
  sourceId: number,
): Promise<readonly Pair[]> {
  const pairs: Pair[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const variableIds = await addStoredVariables(database, { accountId, sourceId }, { count: MOST_ELEMENTS });
    await readDelays();
    await timePush(database, api, variableIds, MOST_ELEMENTS);
    const { p99Ms } = await readDelays();
    if (round > 0) pairs.push([p99Ms, MOST_DELAY_MS]);
  }
  return pairs;
}

/**
 * @returns the seconds from the first request until every point can be read.
 * @param elements number of elements of each push.
 */
async function timePush(
  database: Database,
  api: ApiClient,
  variableIds: readonly number[],
  elements: number,
): Promise<number> {
  const pushes = Array.from({ length: variableIds.length / elements }, (_, push) =>
    variableIds.slice(push * elements, (push + 1) * elements),
  );
  const bodies = pushes.map((ids) => {
    return Buffer.from(JSON.stringify(ids.map((variableId) => ({ variableId, data: readings() }))));
  });
  const lasts = pushes.map((ids) => ids.at(-1) ?? 0);
  const startMs = performance.now();
  await Promise.all(bodies.map((raw) => api.call('POST', '/api/data', undefined, { raw })));
  while (!(await areAllReadable(api, lasts))) await new Promise((resolve) => setTimeout(resolve, 2));
  const seconds = (performance.now() - startMs) / 1000;
  await assertStored(database, variableIds);
  return seconds;
}

/** Reads only the last point of the last variable of each push: all points of a push become visible together. */
async function areAllReadable(api: ApiClient, lasts: readonly number[]): Promise<boolean> {
  const query = `variableIds=${lasts.join()}&pageNumber=0&itemsPerPage=1&pagingOrder=DESC`;
  return (await api.call<unknown[]>('GET', `/data?${query}`)).length === lasts.length;
}

async function assertStored(database: Database, variableIds: readonly number[]): Promise<void> {
  const { rows } = await database.query<{ count: number }>(
    'select count(*) as count from point where variable_id = any($1::int[])',
    [variableIds],
  );
  const expected = variableIds.length * READINGS;
  if (rows[0]?.count !== expected) throw new Error(`${rows[0]?.count} of ${expected} points are stored`);
}

function readings() {
  return Array.from({ length: READINGS }, (_, index) => ({
    date: new Date(START_MILLIS + index * QUARTER_MILLIS).toISOString(),
    value: index + 0.25,
  }));
}

/** @returns the seconds of COPY alone; the rows are encoded beforehand. */
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
