/**
 * Tests that each result is stored exactly once when a calculator is killed during a run, or when all calculators are
 * down while a run is requested (R-H5, R-K3). Also tests that SIGTERM stops an ingester and a calculator (R-K2).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseExposition, sampleOf } from '../support/answers/exposition.ts';
import { eventually } from '../support/eventually.ts';
import { type ApiClient, signIn } from '../support/fixtures/sign-in.ts';
import { calculated, createSiteAndSource, createVariable } from '../support/fixtures/structure.ts';
import { createWorld, type World } from '../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../support/services/role-process.ts';
import { forgetJobs, testRRoot } from '../support/services/stack.ts';

let world: World;
let front: RoleProcess;
let api: ApiClient;
let sourceId: number;
const workers: RoleProcess[] = [];

beforeAll(async () => {
  world = await createWorld();
  front = await startRoles(['api'], { ...world.environment, HEALTH_PORT: '0' });
  api = await signIn(front.http);
  ({ sourceId } = await createSiteAndSource(api));
}, 60_000);

afterAll(async () => {
  await Promise.all([...workers, front].map((process) => process?.kill()));
  await world?.close();
});

async function start(role: 'ingester' | 'calculator'): Promise<RoleProcess> {
  const process = await startRoles([role], { ...world.environment, R_ROOT: testRRoot() });
  workers.push(process);
  return process;
}

interface Run {
  readonly state: string;
  readonly attempt: number;
  readonly from: string;
  readonly to: string;
}

const runsOf = (variableId: number) => api.call<Run[]>('GET', `/variables/${variableId}/runs`);
const read = (variableId: number, query = '') =>
  api.call<{ rawValue: number; version: string }[]>('GET', `/data?variableId=${variableId}${query}`);

describe('calculation: calculators that are killed or down', () => {
  test('another calculator repeats the run of a killed calculator and stores the result once; the interrupted attempt is recorded, and no folder or control group remains (R-H5, R-K3)', async () => {
    const [input, variable] = await createSlowVariable();
    const [victim] = await Promise.all([start('calculator'), start('ingester')]);
    await api.call('POST', '/api/data', [{ variableId: input, data: [{ date: '2026-03-01T00:00:00Z', value: 21 }] }]);
    await eventually('the run', async () => (await runsOf(variable)).some(({ state }) => state === 'Running'));
    expect(leftoversOf(victim.pid)).not.toEqual([]);
    await victim.kill();
    await forgetJobs(world.environment);
    expect(await read(variable)).toEqual([]);
    await start('calculator');
    const rows = await eventually('the result', async () => {
      const found = await read(variable);
      return found.length > 0 && found;
    });
    expect(rows).toMatchObject([{ rawValue: 42 }]);
    expect(await runsOf(variable)).toMatchObject([
      { state: 'Succeeded', attempt: 1 },
      { state: 'Abandoned', attempt: 0 },
    ]);
    expect(await read(variable, '&versions=all')).toHaveLength(1);
    expect(leftoversOf(victim.pid)).toEqual([]);
  }, 60_000);

  test('triggers that occur while all calculators are down are kept and merged into one run (R-H5)', async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.kill()));
    // Jobs of the killed calculator would otherwise hold the run back until their locks expire.
    await forgetJobs(world.environment);
    await start('ingester');
    const [input, variable] = await createSlowVariable();
    for (const hour of [0, 5, 2]) {
      const date = `2026-03-02T0${hour}:00:00Z`;
      await api.call('POST', `/api/data?operationId=hour-${hour}`, [
        { variableId: input, data: [{ date, value: hour }] },
      ]);
      await eventually('the write', async () => {
        const operation = await api.call<{ state: string }>('GET', `/api/operations/hour-${hour}`);
        return operation.state === 'Completed';
      });
    }
    // This is the first scrape of the api process, so no metric has a value that was cached before the writes.
    await eventually('the request of a run', async () => {
      const families = parseExposition(await (await fetch(`${front.health}/metrics`)).text());
      return sampleOf(families, 'tidemark_outbox_events') === 0 && sampleOf(families, 'tidemark_calculation_due') === 1;
    });
    await start('calculator');
    const runs = await eventually('the run', async () => {
      const found = await runsOf(variable);
      return found[0]?.state === 'Succeeded' && found;
    });
    expect(runs).toMatchObject([{ from: '2026-03-02T00:00:00Z', to: '2026-03-02T05:00:00Z' }]);
    expect(runs).toHaveLength(1);
  }, 60_000);
});

/** @returns the folders and control groups that a calculator has created and not removed. */
function leftoversOf(pid: number): readonly string[] {
  const groups = ['memory', 'pids', ''].flatMap((controller) => {
    const line = new RegExp(`^\\d+:${controller}:(.*)$`, 'm').exec(readFileSync('/proc/self/cgroup', 'utf8'));
    return line ? [join('/sys/fs/cgroup', controller, line[1] ?? '')] : [];
  });
  return [tmpdir(), ...groups]
    .flatMap((parent) => (existsSync(parent) ? readdirSync(parent).map((name) => join(parent, name)) : []))
    .filter((path) => new RegExp(`/tidemark-r-\\d+-${pid}-`).test(path));
}

/**
 * Creates an input and a versioned variable that doubles the input. A run of the variable is slow enough for the
 * calculator to be killed during the run.
 */
async function createSlowVariable(): Promise<readonly [input: number, variable: number]> {
  const input = await createVariable(api, sourceId);
  const script =
    'Sys.sleep(1); ts <- inputVariables$a$TimeSeries; list(TimeSeries = data.frame(Dates = ts$Dates, Values = 2 * ts$Values, Version = "one"))';
  const inputs = [{ alias: 'a', variableId: input, period: 1, periodTimeBase: 'Hour' }];
  const variable = await createVariable(api, sourceId, { isVersioned: true, calculated: calculated(script, inputs) });
  return [input, variable];
}

test('stop: SIGTERM ends an ingester and a calculator with exit code 0 (R-K2)', async () => {
  const stop = async (role: 'ingester' | 'calculator') => {
    const process = await start(role);
    expect(await process.kill('SIGTERM')).toBe(0);
    expect(process.log()).toContain('"msg":"stopped"');
  };
  await Promise.all([stop('ingester'), stop('calculator')]);
}, 60_000);
