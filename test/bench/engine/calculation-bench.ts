/**
 * Compares two times for the same script over 96 points: the time of a warm run, from the call in Node to the result,
 * and the time that Rscript takes to start and run the script in a container like that of the warm run. The script
 * needs no packages; this favours Rscript, which would have to load packages at each start.
 */
import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { containerCommand, makeSocketDirectory } from '../../../src/calculation/sandbox/launcher-bwrap.ts';
import { openSandboxPool, type SandboxPool } from '../../../src/calculation/sandbox/pool.ts';
import type { SandboxJob } from '../../../src/calculation/sandbox/sandbox-types.ts';
import type { Config } from '../../../src/config.ts';
import type { Log } from '../../../src/platform/log.ts';
import { createMetrics } from '../../../src/platform/metrics/metrics.ts';
import { type Figure, figure, median } from '../report.ts';

const ROUNDS = 7;
const RUNS_A_ROUND = 30;
const POINTS = 96;
const START_SECONDS = Date.UTC(2026, 0, 1) / 1000;

const SCRIPT = `ts <- inputVariables$a$TimeSeries
hour <- ts$Dates - ts$Dates %% 3600L
means <- tapply(ts$Values, hour, mean)
list(TimeSeries = data.frame(Dates = as.integer(names(means)), Values = as.numeric(means)))`;

const SAME_INPUT = `inputVariables <- list(a = list(TimeSeries = data.frame(
  Dates = ${START_SECONDS}L + 900L * 0:${POINTS - 1}L, Values = as.numeric(0:${POINTS - 1}))))`;

export async function benchCalculation(config: Config, log: Log): Promise<Figure> {
  const pool = await openSandboxPool({ config, metrics: createMetrics(), log });
  const directory = await makeSocketDirectory();
  try {
    const pairs: (readonly [number, number])[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const limit = timeRscript(config.R_ROOT ?? '', directory);
      const ours = await timeWarmRuns(pool);
      if (round > 0) pairs.push([ours, limit]);
    }
    return figure(`warm calculation of ${POINTS} points`, 'of starting Rscript in the same container', 'ms', pairs);
  } finally {
    await pool.close();
    await rm(directory, { recursive: true });
  }
}

async function timeWarmRuns(pool: SandboxPool): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < RUNS_A_ROUND; run += 1) {
    const startMs = performance.now();
    const outcome = await pool.run(job());
    times.push(performance.now() - startMs);
    if (outcome.kind !== 'ok' || outcome.series.dates.length !== POINTS / 4) throw new Error(JSON.stringify(outcome));
  }
  return median(times);
}

function timeRscript(rRoot: string, directory: string): number {
  const script = `${SAME_INPUT}\n${SCRIPT}`;
  const [file = '', ...rest] = containerCommand(rRoot, directory, ['Rscript', '--vanilla', '-e', script]);
  const startMs = performance.now();
  const { status, signal, stderr } = spawnSync(file, rest, { stdio: ['ignore', 'ignore', 'pipe'] });
  if (status !== 0) throw new Error(`Rscript ended with ${signal ?? status}: ${stderr}`);
  return performance.now() - startMs;
}

function job(): SandboxJob {
  const variable = {
    ...{ id: 1, name: 'a', sourceId: 1, granularity: 15, granularityTimeBase: 'Minute' },
    ...{ quantityType: 'Integrated', aggregate: 'SUM', sourceTimeZoneId: 'UTC' },
  };
  const noText = { codes: new Int32Array(POINTS), texts: [''] };
  const series = {
    dates: Int32Array.from({ length: POINTS }, (_, index) => START_SECONDS + 900 * index),
    values: Float64Array.from({ length: POINTS }, (_, index) => index),
    versions: noText,
    tags: noText,
  };
  const inputs = [{ alias: 'a', variable, series }];
  return { script: SCRIPT, inputs, forms: [], constants: [], target: variable, triggerDate: START_SECONDS };
}
