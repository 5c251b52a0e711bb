/**
 * Measures calculations through the whole service: (1) the time from a push until the computed point is readable,
 * compared with the time until the pushed point is readable; (2) the time to backfill a chain of five variables over a
 * year of quarter-hours, compared with the time to push the same number of points.
 */
import type { Database } from '../../../src/platform/database/database.ts';
import { eventually } from '../../support/eventually.ts';
import type { ApiClient } from '../../support/fixtures/sign-in.ts';
import { calculated, createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';
import { type Figure, figure } from '../report.ts';

const PUSHES = 60;
const CHAIN = 5;
const QUARTERS = 365 * 96;
const QUARTER_MILLIS = 900_000;
const START_MILLIS = Date.UTC(2025, 0, 1);
const PATIENCE_MS = 120_000;

const PASS_ON = `ts <- inputVariables$a$TimeSeries
list(TimeSeries = data.frame(Dates = ts$Dates, Values = ts$Values + 1))`;

export async function benchCalculationService(database: Database, api: ApiClient): Promise<readonly Figure[]> {
  const { sourceId } = await createSiteAndSource(api);
  return [...(await benchLatency(database, api, sourceId)), await benchChain(database, api, sourceId)];
}

const add = (api: ApiClient, sourceId: number, input: number) =>
  createVariable(api, sourceId, {
    calculated: calculated(PASS_ON, [{ alias: 'a', variableId: input, periodType: 'RelativeDate', period: 0 }]),
  });

const push = (api: ApiClient, variableId: number, data: readonly unknown[]) =>
  api.call('POST', '/api/data', [{ variableId, data }]);

/** @returns the median and the 95th percentile of the time until the computed point is readable, in milliseconds. */
async function benchLatency(database: Database, api: ApiClient, sourceId: number): Promise<readonly Figure[]> {
  const input = await createVariable(api, sourceId);
  const output = await add(api, sourceId, input);
  const pairs: [number, number][] = [];
  for (let index = 0; index < PUSHES + 5; index += 1) {
    const millis = START_MILLIS + index * QUARTER_MILLIS;
    const startMs = performance.now();
    await push(api, input, [{ date: new Date(millis).toISOString(), value: index }]);
    const inputMs = (await untilReadable(database, input, millis)) - startMs;
    const outputMs = (await untilReadable(database, output, millis)) - startMs;
    if (index >= 5) pairs.push([outputMs, inputMs]);
  }
  const sorted = [...pairs].sort(([a], [b]) => a - b);
  const late = sorted[Math.floor(sorted.length * 0.95)] ?? [0, 0];
  return [
    figure('push until the computed point is readable, median', 'of the pushed point itself', 'ms', pairs),
    figure('push until the computed point is readable, 95th percentile', 'of the pushed point itself', 'ms', [late]),
  ];
}

async function untilReadable(database: Database, variableId: number, millis: number): Promise<number> {
  const date = new Date(millis).toISOString();
  for (;;) {
    const text = 'select from point where variable_id = $1 and date = $2';
    const { rowCount } = await database.query({ name: 'bench-readable', text, values: [variableId, date] });
    if (rowCount === 1) return performance.now();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

async function benchChain(database: Database, api: ApiClient, sourceId: number): Promise<Figure> {
  const input = await createVariable(api, sourceId);
  const chain: number[] = [];
  for (let link = 0; link < CHAIN; link += 1) chain.push(await add(api, sourceId, chain.at(-1) ?? input));
  const data = Array.from({ length: QUARTERS }, (_, index) => ({
    date: new Date(START_MILLIS + index * QUARTER_MILLIS).toISOString(),
    value: index,
  }));
  const startMs = performance.now();
  await push(api, input, data);
  await untilStored(database, input);
  const inputMs = performance.now() - startMs;
  await untilStored(database, chain.at(-1) ?? 0);
  const chainMs = performance.now() - startMs - inputMs;
  const { rows } = await database.query<{ count: number }>(
    'select count(*) as count from calculation_run where variable_id = any($1::int[])',
    [chain],
  );
  if (rows[0]?.count !== CHAIN) throw new Error(`expected ${CHAIN} runs, got ${rows[0]?.count}`);
  return figure(
    'five variables over a year of 15-minute points, each run once',
    'of five pushes of as many points',
    's',
    [[chainMs / 1000, (CHAIN * inputMs) / 1000]],
  );
}

async function untilStored(database: Database, variableId: number): Promise<void> {
  await eventually(
    `the points of variable ${variableId}`,
    async () => {
      const text = 'select count(*) as count from point where variable_id = $1';
      const { rows } = await database.query<{ count: number }>(text, [variableId]);
      return rows[0]?.count === QUARTERS;
    },
    PATIENCE_MS,
  );
}
