/** Tests how accounts share the slots of a calculator and how much one account may delay another account (R-A14). */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { askCalculator } from '../../../src/calculation/authoring/ask-calculator.ts';
import { type Calculator, startCalculator } from '../../../src/calculation/calculator.ts';
import type { SandboxJob, SandboxOutcome } from '../../../src/calculation/sandbox/sandbox-types.ts';
import type { Urgency } from '../../../src/calculation/turns/fair-queue.ts';
import { wakeTurns } from '../../../src/calculation/turns/turn-wake-ups.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createMetrics } from '../../../src/platform/metrics/metrics.ts';
import { type MemberQueue, openWakeQueue } from '../../../src/platform/queue.ts';
import { openDictionary } from '../../../src/points/dictionary.ts';
import { eventually } from '../../support/eventually.ts';
import { addAccount } from '../../support/fixtures/accounts.ts';
import { openPointStore, type PointStore } from '../../support/fixtures/point-store.ts';
import { calculated } from '../../support/fixtures/structure.ts';
import { createTestQueuePrefix, testRedisUrl } from '../../support/services/stack.ts';
import { forceRuns, NOTES, ok, TIMING } from './calculation-fixture.ts';

const LOG = createLog('silent', 'test');
/** Tolerance that the test adds to the maximum delay of a run, because the test machine may be busy. */
const NOISE_MS = 150;
const FAILED = { kind: 'script_error', message: '', call: '', line: null, notes: NOTES, timing: TIMING } as const;

type Script = (signal: AbortSignal) => Promise<SandboxOutcome>;

let store: PointStore;
let other: number;
let queue: MemberQueue;
let calculator: Calculator | undefined;
const scripts = new Map<number, Script>();

beforeAll(async () => {
  store = await openPointStore();
  other = await addAccount(store.database, 'South');
});
afterEach(async () => {
  await calculator?.stop(0);
  calculator = undefined;
  await queue.close();
  scripts.clear();
  await store.database.query('delete from calculation_request');
});
afterAll(() => store.close());

/** Starts a calculator. Its sandbox calls the variable's function in `scripts`, or returns 1 if there is none. */
function start(parts: { concurrency?: number; sweepIntervalMs?: number } = {}): void {
  const { concurrency = 2, sweepIntervalMs = 600_000 } = parts;
  const queueOptions = { redisUrl: testRedisUrl(), prefix: createTestQueuePrefix(), log: LOG };
  queue = openWakeQueue('calculation', queueOptions);
  const run = async ({ target }: SandboxJob, signal = new AbortController().signal) => {
    signal.throwIfAborted();
    return (await scripts.get(target.id)?.(signal)) ?? ok([1]);
  };
  calculator = startCalculator({
    ...{ queue, queueOptions, log: LOG, metrics: createMetrics(), database: store.database, clock: systemClock },
    ...{ outbox: { relay: async () => {} }, dictionary: openDictionary(store.database), maxInputPoints: 1000 },
    sandbox: { run, checkHealth: async () => {}, close: async () => {} },
    settings: { concurrency, sweepIntervalMs, runRetentionDays: 90 },
  });
}

async function addVariable(accountId: number, script?: Script): Promise<number> {
  const id = await store.addVariable({ isVersioned: false });
  const values = [id, calculated('anything', []), accountId];
  await store.database.query('update variable set calculated = $2, account_id = $3 where id = $1', values);
  if (script) scripts.set(id, script);
  return id;
}

const addVariables = (count: number, accountId: number, script?: Script) =>
  Promise.all(Array.from({ length: count }, () => addVariable(accountId, script)));

async function request(accountId: number, ids: readonly number[], urgency: Urgency = 'triggered'): Promise<void> {
  await forceRuns(store.database, ids, {});
  await wakeTurns(
    queue,
    ids.map((id) => ({ accountId, urgency, id })),
  );
}

const runsOf = async (id: number) =>
  (await store.database.query('select * from calculation_run where variable_id = $1 order by id', [id])).rows;

/** Sleeps until the run is aborted. */
const sleep: Script = (signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

/** @returns for each of 20 runs the milliseconds from its request to the start of its script, ascending. */
async function timeRuns(accountId: number, id: number): Promise<readonly number[]> {
  const durations: number[] = [];
  for (let run = 0; run < 20; run += 1) {
    const ended = Promise.withResolvers<void>();
    scripts.set(id, async () => {
      ended.resolve();
      return ok([1]);
    });
    const startMs = performance.now();
    await request(accountId, [id]);
    await ended.promise;
    durations.push(performance.now() - startMs);
    await eventually('the end', async () => (await runsOf(id)).every(({ state }) => state !== 'Running'));
  }
  return durations.toSorted((a, b) => a - b);
}

const p95 = (sorted: readonly number[]) => sorted[Math.floor(sorted.length * 0.95) - 1] ?? Number.NaN;

describe('calculator: accounts', () => {
  test('while another account is busy, the p95 delay of runs is below 3 × the idle delay + 150 ms (R-A14)', async () => {
    start();
    const honest = await addVariable(other);
    const quiet = p95(await timeRuns(other, honest));
    const sleepers = await addVariables(6, store.accountId, sleep);
    const asking = new AbortController();
    const previews = sleepers.map((variableId) =>
      askCalculator(
        { database: store.database, queue },
        {
          ...{ accountId: store.accountId, variableId },
          task: { kind: 'evaluate', dates: {}, pictures: 'svg' },
        },
        asking.signal,
      ).catch(() => undefined),
    );
    await request(store.accountId, sleepers);
    await eventually('two runs that sleep', async () => {
      const { rows } = await store.database.query(
        `select (select count(*) from calculation_run where state = 'Running')
              + (select count(*) from calculation_preview where state = 'Running') as count`,
      );
      return rows[0]?.count === 2;
    });
    const busy = p95(await timeRuns(other, honest));
    expect(busy).toBeLessThan(3 * quiet + NOISE_MS);
    asking.abort();
    await Promise.all(previews);
  });

  test('a run in a borrowed slot is stopped and repeated when the lending account needs the slot (R-K2, R-A14)', async () => {
    start();
    let isPatient = false;
    const script: Script = (signal) => (isPatient ? Promise.resolve(ok([1])) : sleep(signal));
    const sleepers = await addVariables(2, store.accountId, script);
    await request(store.accountId, sleepers);
    const running = async () => (await Promise.all(sleepers.map(runsOf))).flat();
    await eventually('two runs that sleep', async () => (await running()).length === 2);
    const honest = await addVariable(other);
    await request(other, [honest]);
    await eventually('the honest run', async () => (await runsOf(honest))[0]?.state === 'Succeeded');
    expect(await running()).toContainEqual(
      expect.objectContaining({
        ...{ state: 'Abandoned', outcome: 'stopped' },
        message:
          'the run used a slot borrowed from another account, which needed the slot back; the run will be repeated',
      }),
    );
    isPatient = true;
    await calculator?.stop(0);
    await queue.close();
    start({ sweepIntervalMs: 50 });
    await eventually('the repetition', async () => {
      const runs = await running();
      return (
        runs.filter(({ state }) => state === 'Succeeded').length === 2 && runs.every(({ attempt }) => attempt === 0)
      );
    });
  });

  test('a triggered run overtakes at least half of the background runs that wait in its account (R-H5, R-A14)', async () => {
    start({ concurrency: 1 });
    const order: number[] = [];
    const note = async ({ id, ms }: { id: () => number; ms: number }) => {
      order.push(id());
      await pause(ms);
      return ok([1]);
    };
    const forced = await addVariables(30, store.accountId);
    for (const id of forced) scripts.set(id, () => note({ id: () => id, ms: 20 }));
    const triggered: number = await addVariable(store.accountId, () => note({ id: () => triggered, ms: 0 }));
    await request(store.accountId, forced, 'background');
    await eventually('the beginning', async () => order.length > 0);
    await request(store.accountId, [triggered]);
    await eventually('the triggered run', async () => order.includes(triggered));
    expect(order.indexOf(triggered)).toBeLessThan(15);
    await eventually('all', async () => order.length === 31);
  });

  test('when the calculation of one variable is requested again during each of its runs, another variable is still calculated (R-H5)', async () => {
    start({ concurrency: 1 });
    const variable = await addVariable(store.accountId);
    const busy: number = await addVariable(store.accountId, async () => {
      await forceRuns(store.database, [busy], {});
      if ((await runsOf(variable)).length === 0) await request(store.accountId, [variable]);
      return FAILED;
    });
    await request(store.accountId, [busy]);
    await eventually('the turn of the other', async () => (await runsOf(variable)).length === 1);
    scripts.set(busy, async () => FAILED);
  });
});

describe('calculator: previews', () => {
  const ask = (variableId: number, signal: AbortSignal, accountId = store.accountId) =>
    askCalculator(
      { database: store.database, queue },
      { accountId, variableId, task: { kind: 'evaluate', dates: {}, pictures: 'svg' } },
      signal,
    );

  test('a preview is refused within 20 s if no calculator is running (R-H9, R-A5)', async () => {
    // The first preview takes the only slot of the calculator. So the calculator cannot run the second preview, even if
    // the calculator's sweep finds the second preview in the database.
    start({ concurrency: 1 });
    const begun = Promise.withResolvers<void>();
    const script = Promise.withResolvers<SandboxOutcome>();
    const busy = await addVariable(store.accountId, () => {
      begun.resolve();
      return script.promise;
    });
    const { signal } = new AbortController();
    const answer = ask(busy, signal);
    await begun.promise;
    const options = { redisUrl: testRedisUrl(), prefix: createTestQueuePrefix(), log: LOG };
    const lonely = openWakeQueue('calculation', options);
    const startMs = performance.now();
    const question = { accountId: other, variableId: null, task: { kind: 'packages' } } as const;
    await expect(askCalculator({ database: store.database, queue: lonely }, question, signal)).rejects.toMatchObject({
      code: 'dependency_unavailable',
      message: 'R cannot be run now, because no calculator of this service is running; try again later',
    });
    expect(performance.now() - startMs).toBeLessThan(20_000);
    script.resolve(ok([1]));
    expect((await answer).answer).toMatchObject({ outcome: 'ok' });
    expect((await store.database.query('select from calculation_preview')).rowCount).toBe(0);
    await lonely.close();
  });

  test('sample data: when R returns nothing, the error advises a shorter period; when no formula is in force, it names the requested dates (R-H9)', async () => {
    start();
    const { signal } = new AbortController();
    const variableId = await addVariable(store.accountId);
    const sample = async () => {
      const task = { kind: 'sampleData', dates: { to: '2026-01-01T00:00:00Z' } } as const;
      const question = { accountId: store.accountId, variableId, task };
      return (await askCalculator({ database: store.database, queue }, question, signal)).answer;
    };
    expect(await sample()).toEqual({
      error: expect.stringContaining('must be at most 48 MB; request a shorter period'),
    });
    const validFrom = `'{calculatedVariableFormulas,0,validFrom}', '"2030-01-01T00:00:00Z"'`;
    const update = `update variable set calculated = jsonb_set(calculated, ${validFrom}) where id = $1`;
    await store.database.query(update, [variableId]);
    const dates = '2026-01-01T00:00:00Z to 2026-01-01T00:00:00Z';
    expect(await sample()).toEqual({ error: `no formula with a script is valid for these dates: ${dates}` });
  });

  test('a preview is stopped and frees its slot when the client disconnects (R-H9, R-A14)', async () => {
    start({ concurrency: 1 });
    const stopped = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const variable = await addVariable(store.accountId, (signal) => {
      begun.resolve();
      signal.addEventListener('abort', () => stopped.resolve());
      return sleep(signal);
    });
    const client = new AbortController();
    const answer = ask(variable, client.signal).catch((error: unknown) => error);
    await begun.promise;
    client.abort(new Error('gone'));
    expect(await answer).toMatchObject({ message: 'The operation was aborted' });
    await stopped.promise;
    const next = await addVariable(store.accountId);
    await request(store.accountId, [next]);
    await eventually('the next run', async () => (await runsOf(next)).length === 1);
  });

  test('an account may have 20 previews at a time; further previews are refused with queue_full (R-H9, R-A14)', async () => {
    start();
    const variable = await addVariable(store.accountId, sleep);
    const client = new AbortController();
    // Previews that a killed API process had requested. No process waits for the results of these previews.
    const leftOver = `
      insert into calculation_preview (account_id, task, state, created_date)
      select $1, '{}', 'Running', now() - interval '91 s' from generate_series(1, 20)`;
    await store.database.query(leftOver, [store.accountId]);
    const asked = Array.from({ length: 20 }, () => ask(variable, client.signal).catch(() => undefined));
    const areAsked = (count: number) =>
      eventually(`${count} previews`, async () => {
        const { rows } = await store.database.query(
          `select count(*) as count from calculation_preview where task <> '{}'`,
        );
        return rows[0]?.count === count;
      });
    await areAsked(20);
    await expect(ask(variable, client.signal)).rejects.toMatchObject({ code: 'queue_full' });
    const foreign = await addVariable(other, sleep);
    asked.push(ask(foreign, client.signal, other).catch(() => undefined));
    await areAsked(21);
    client.abort();
    await Promise.all(asked);
    await store.database.query(`delete from calculation_preview where task = '{}'`);
  });
});
