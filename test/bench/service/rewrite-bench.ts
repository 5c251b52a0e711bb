/**
 * Measures how long the points of two writes over HTTP take to become readable (R-D6):
 * - a rewrite of 1.4 million points, compared with direct calls of `writePoints`;
 * - a push of one day during the rewrite, compared with the same push on an idle service.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Database, withTransaction } from '../../../src/platform/database/database.ts';
import { encodeTuples } from '../../../src/points/copy-codec.ts';
import { writePoints } from '../../../src/points/write/write-points.ts';
import type { ApiClient } from '../../support/fixtures/sign-in.ts';
import { addStoredVariables } from '../../support/fixtures/stored-structure.ts';
import { createSiteAndSource } from '../../support/fixtures/structure.ts';
import { type Figure, figure } from '../report.ts';

const ROUNDS = 3;
const PUSHES = 8;
const CONNECTIONS = 2;
const VARIABLES_PER_PUSH = 5;
const YEAR_POINTS = 35_040;
const DAY_POINTS = 96;
const POINTS = PUSHES * VARIABLES_PER_PUSH * YEAR_POINTS;
const QUARTER_MILLIS = 900_000;
const START_MILLIS = Date.UTC(2024, 0, 1);
const POLL_MS = 5;

export interface RewriteService {
  readonly api: ApiClient;
  readonly database: Database;
  readonly accountId: number;
}

type Pair = readonly [ours: number, limit: number];

export async function benchRewrite(service: RewriteService): Promise<readonly Figure[]> {
  const { sourceId } = await createSiteAndSource(service.api);
  const add = (count: number) =>
    addStoredVariables(service.database, { accountId: service.accountId, sourceId }, { count, isVersioned: true });
  const ids = await add(PUSHES * VARIABLES_PER_PUSH);
  const [other = 0] = await add(1);
  await rewriteAlone(service.database, ids, 0);
  const rates: Pair[] = [];
  const waits: Pair[] = [];
  const longest: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const alone = await rewriteAlone(service.database, ids, 2 * round);
    const quiet = await pushDay(service.api, other, 1000 * round);
    const beside: number[] = [];
    const rewriting = { isOver: false };
    const pushing = pushDaysUntil(service.api, other, 1000 * round, rewriting, beside);
    const seconds = await rewriteByHttp(service.api, ids, 2 * round + 1).finally(() => {
      rewriting.isOver = true;
      return pushing.catch(() => {});
    });
    await pushing;
    rates.push([POINTS / seconds, POINTS / alone]);
    waits.push(...beside.map((ms): Pair => [ms, quiet]));
    longest.push(Math.max(...beside));
  }
  process.stdout.write(
    `rewrite: longest wait of a pushed day in each round ${longest.map(Math.round).join(', ')} ms\n`,
  );
  return [
    figure('rewriting 1.4 million points over HTTP until readable', 'of the writer alone', 'points/s', rates),
    figure('a pushed day beside that rewrite until readable', 'of a day pushed without the rewrite', 'ms', waits),
  ];
}

/** @returns the seconds that `writePoints` takes for all points, with one transaction per group of variables. */
async function rewriteAlone(database: Database, ids: readonly number[], value: number): Promise<number> {
  const parts = groupsOf(ids).map((group) => {
    return encodeTuples(
      group.flatMap((variableId) =>
        Array.from({ length: YEAR_POINTS }, (_, index) => ({
          ...{ variableId, dateMicros: (START_MILLIS + index * QUARTER_MILLIS) * 1000, value: value + index / 1024 },
          ...{ versionTagId: 0, tagSetId: 0 },
        })),
      ),
    );
  });
  const startMs = performance.now();
  for (const tuples of parts) await withTransaction(database, (transaction) => writePoints(transaction, [tuples]));
  return (performance.now() - startMs) / 1000;
}

/** @returns the seconds from the first request until every variable has the new values. */
async function rewriteByHttp(api: ApiClient, ids: readonly number[], value: number): Promise<number> {
  const data = readings(YEAR_POINTS, value);
  const bodies = groupsOf(ids).map((group) => {
    return Buffer.from(JSON.stringify(group.map((variableId) => ({ variableId, data }))));
  });
  const startMs = performance.now();
  const next = bodies.values();
  const send = async () => {
    for (const raw of next) await api.call('POST', '/api/data', undefined, { raw });
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
  const last = value + (YEAR_POINTS - 1) / 1024;
  await areReadable(api, ids, last);
  return (performance.now() - startMs) / 1000;
}

/** Repeats `pushDay` with new values until `rewriting.isOver`, and adds the milliseconds of each push to `waits`. */
async function pushDaysUntil(
  api: ApiClient,
  variableId: number,
  value: number,
  rewriting: { readonly isOver: boolean },
  waits: number[],
): Promise<void> {
  for (let day = 1; !rewriting.isOver; day += 1) {
    await pause(100);
    waits.push(await pushDay(api, variableId, value + day));
  }
}

/** Pushes a day of points. @returns the milliseconds from the start of the push until the last point is readable. */
async function pushDay(api: ApiClient, variableId: number, value: number): Promise<number> {
  const body = [{ variableId, data: readings(DAY_POINTS, value) }];
  const startMs = performance.now();
  await api.call('POST', '/api/data', body);
  await areReadable(api, [variableId], value + (DAY_POINTS - 1) / 1024);
  return performance.now() - startMs;
}

async function areReadable(api: ApiClient, ids: readonly number[], last: number): Promise<void> {
  const query = `variableIds=${ids.join()}&pageNumber=0&itemsPerPage=1&pagingOrder=DESC`;
  for (;;) {
    const rows = await api.call<readonly { readonly rawValue: number }[]>('GET', `/data?${query}`);
    if (rows.length === ids.length && rows.every(({ rawValue }) => rawValue === last)) return;
    await pause(POLL_MS);
  }
}

function readings(count: number, value: number) {
  return Array.from({ length: count }, (_, index) => ({
    date: new Date(START_MILLIS + index * QUARTER_MILLIS).toISOString(),
    value: value + index / 1024,
  }));
}

function groupsOf(ids: readonly number[]): readonly (readonly number[])[] {
  return Array.from({ length: PUSHES }, (_, push) => {
    return ids.slice(push * VARIABLES_PER_PUSH, (push + 1) * VARIABLES_PER_PUSH);
  });
}
