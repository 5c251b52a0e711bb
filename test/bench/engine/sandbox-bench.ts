/**
 * Measures the sandbox without the calculator. A run is timed from the call in Node to the result in Node. Each figure
 * is a ratio:
 * 1. The extra time that R code takes in the sandbox, divided by the time of the same code in a plain warm R process.
 * 2. The time of a run with 100,000 points in and out, divided by the time of a run with one point.
 * 3. The number of trivial runs per second with three concurrent runs, divided by the number with one run at a time. In
 *    both cases, twenty target variables take turns.
 * 4. The memory of R after runs for a thousand target variables, divided by the memory before these runs.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { containerCommand, makeSocketDirectory } from '../../../src/calculation/sandbox/launcher-bwrap.ts';
import { openSandboxPool, type SandboxPool } from '../../../src/calculation/sandbox/pool.ts';
import type { SandboxJob, SeriesColumns } from '../../../src/calculation/sandbox/sandbox-types.ts';
import type { Config } from '../../../src/config.ts';
import type { Log } from '../../../src/platform/log.ts';
import { createMetrics } from '../../../src/platform/metrics/metrics.ts';
import { eventually } from '../../support/eventually.ts';
import { type Figure, figure, median } from '../report.ts';

const ROUNDS = 5;
const RUNS_A_ROUND = 40;
const BIG_POINTS = 100_000;
const TARGETS = 20;
const MANY_TARGETS = 1000;
const CONCURRENCY = 3;
/** Processes of an idle pool: a zygote and its standby, two supervisors for each, and a runner for each supervisor. */
const IDLE_PROCESSES = 10;
const START_SECONDS = Date.UTC(2026, 0, 1) / 1000;

const TRIVIAL = 'list(TimeSeries = data.frame(Dates = 1L, Values = 1))';
const PASS = 'list(TimeSeries = inputVariables$a$TimeSeries)';
const MEANS = `ts <- inputVariables$a$TimeSeries
hour <- ts$Dates - ts$Dates %% 3600L
means <- tapply(ts$Values, hour, mean)
list(TimeSeries = data.frame(Dates = as.integer(names(means)), Values = as.numeric(means)))`;
const MEANS_POINTS = 96;
/**
 * R code for a plain R process: prints the median duration of the script `MEANS` in milliseconds, without the first
 * runs.
 */
const IN_PLAIN_R = `inputVariables <- list(a = list(TimeSeries = data.frame(
  Dates = ${START_SECONDS}L + 900L * 0:${MEANS_POINTS - 1}L, Values = as.numeric(0:${MEANS_POINTS - 1}))))
times <- vapply(1:200, function(i) {
  began <- Sys.time()
  eval(parse(text = ${JSON.stringify(MEANS)}, keep.source = TRUE), globalenv())
  1000 * as.numeric(Sys.time() - began, units = "secs")
}, 0)
cat(median(tail(times, 150)))`;

export async function benchSandbox(config: Config, log: Log): Promise<readonly Figure[]> {
  const pool = await openSandboxPool({ config, metrics: createMetrics(), log });
  try {
    // Waits until the standby has started: the start takes seconds of CPU time, which must not count as time of a run.
    await idleMegabytes();
    await timeRuns(pool, jobOf(MEANS, MEANS_POINTS), RUNS_A_ROUND);
    return [
      await benchOverhead(pool, config.R_ROOT ?? ''),
      await benchBig(pool, 'without labels', noText(BIG_POINTS)),
      await benchBig(pool, 'with three VersionTags', threeTexts(BIG_POINTS)),
      await benchThroughput(pool),
      await benchMemory(pool),
    ];
  } finally {
    await pool.close();
  }
}

async function benchOverhead(pool: SandboxPool, rRoot: string): Promise<Figure> {
  const pairs: [number, number][] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const plain = await timePlainR(rRoot);
    pairs.push([median(await timeRuns(pool, jobOf(MEANS, MEANS_POINTS), RUNS_A_ROUND)) - plain, plain]);
  }
  const name = `time that the sandbox adds to a run of ${MEANS_POINTS} points, from Node and back`;
  return figure(name, 'of the same R code in a plain warm R process', 'ms', pairs);
}

async function timePlainR(rRoot: string): Promise<number> {
  const directory = await makeSocketDirectory();
  const [file = '', ...rest] = containerCommand(rRoot, directory, ['Rscript', '--vanilla', '-e', IN_PLAIN_R]);
  const { status, signal, stdout, stderr } = spawnSync(file, rest, { encoding: 'utf8' });
  await rm(directory, { recursive: true });
  if (status !== 0) throw new Error(`Rscript ended with ${signal ?? status}: ${stderr}`);
  return Number(stdout);
}

async function benchBig(pool: SandboxPool, label: string, versions: SeriesColumns['versions']): Promise<Figure> {
  const pairs: [number, number][] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const big = await timeRuns(pool, jobOf(PASS, BIG_POINTS, versions), 5);
    const small = await timeRuns(pool, jobOf(PASS, 1), 5);
    pairs.push([median(big), median(small)]);
  }
  return figure(`100,000 points in and out, ${label}`, 'of one point', 'ms', pairs);
}

async function benchThroughput(pool: SandboxPool): Promise<Figure> {
  const pairs: [number, number][] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const alone = await runsPerSecond(pool, 1, 60);
    pairs.push([await runsPerSecond(pool, CONCURRENCY, 200), alone]);
  }
  return figure(
    `trivial runs for ${TARGETS} target variables, ${CONCURRENCY} at a time`,
    'of runs one at a time',
    'runs/s',
    pairs,
  );
}

async function runsPerSecond(pool: SandboxPool, concurrency: number, count: number): Promise<number> {
  let left = count;
  const startMs = performance.now();
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await run(pool, { ...jobOf(TRIVIAL, 0), target: { ...VARIABLE, id: left % TARGETS } });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return (1000 * count) / (performance.now() - startMs);
}

async function benchMemory(pool: SandboxPool): Promise<Figure> {
  const before = await idleMegabytes();
  for (let id = 0; id < MANY_TARGETS; id += 1) {
    await run(pool, { ...jobOf(TRIVIAL, 0), target: { ...VARIABLE, id } });
  }
  return figure(`memory of R after runs for ${MANY_TARGETS} target variables`, 'of the memory before them', 'MB', [
    [await idleMegabytes(), before],
  ]);
}

/**
 * Waits until the last runs have ended. Then measures the memory of the pool's processes as the sum of their
 * proportional set sizes, in which shared pages count once.
 */
function idleMegabytes(): Promise<number> {
  return eventually('the end of the last runs', async () => {
    const kilobytes = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? readSize(name) : []));
    return kilobytes.length === IDLE_PROCESSES && kilobytes.reduce((sum, size) => sum + size, 0) / 1024;
  });
}

function readSize(pid: string): readonly number[] {
  try {
    if (!/^(R|supervisor)$/m.test(readFileSync(`/proc/${pid}/comm`, 'utf8')) || !isOurs(pid)) return [];
    return [Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0)];
  } catch {
    // The process has ended meanwhile.
    return [];
  }
}

/**
 * @returns true for this process and its descendants. R processes of other programs on the machine must not be counted.
 */
function isOurs(pid: string): boolean {
  if (pid === String(process.pid)) return true;
  const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return parent !== '0' && isOurs(parent);
}

/** @returns the duration of each run in milliseconds. */
async function timeRuns(pool: SandboxPool, job: SandboxJob, count: number): Promise<readonly number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const startMs = performance.now();
    await run(pool, job);
    times.push(performance.now() - startMs);
  }
  return times;
}

async function run(pool: SandboxPool, job: SandboxJob): Promise<void> {
  const outcome = await pool.run(job);
  if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
}

const VARIABLE = {
  ...{ id: 1, name: 'a', sourceId: 1, granularity: 15, granularityTimeBase: 'Minute' },
  ...{ quantityType: 'Integrated', aggregate: 'SUM', sourceTimeZoneId: 'UTC' },
};

const noText = (rows: number) => ({ codes: new Int32Array(rows), texts: [''] });
const threeTexts = (rows: number) => ({
  codes: Int32Array.from({ length: rows }, (_, row) => row % 3),
  texts: ['', 'final', 'estimated'],
});

function jobOf(script: string, rows: number, versions: SeriesColumns['versions'] = noText(rows)): SandboxJob {
  const series = {
    dates: Int32Array.from({ length: rows }, (_, row) => START_SECONDS + 900 * row),
    values: Float64Array.from({ length: rows }, (_, row) => row),
    ...{ versions, tags: noText(rows) },
  };
  const inputs = [{ alias: 'a', variable: VARIABLE, series }];
  return { script, inputs, forms: [], constants: [], target: VARIABLE, triggerDate: START_SECONDS };
}
