/**
 * Calculation requests and calculation runs, with a fake sandbox in place of R: order, inputs, limits, crashes, stopped
 * runs, waves, odd output.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claimRun, findDueTurns } from '../../../src/calculation/run/claim-run.ts';
import { findRunOrigins } from '../../../src/calculation/run/find-origins.ts';
import type { SandboxOutcome } from '../../../src/calculation/sandbox/sandbox-types.ts';
import { stopUpdates } from '../../../src/calculation/updates/stop-updates.ts';
import { readUpdateState } from '../../../src/calculation/updates/update-state.ts';
import { readWave } from '../../../src/calculation/updates/wave.ts';
import { type Transaction, withConnection, withTransaction } from '../../../src/platform/database/database.ts';
import { announcePoints } from '../../../src/points/announce-points.ts';
import { openPointStore, type PointStore } from '../../support/fixtures/point-store.ts';
import { calculated } from '../../support/fixtures/structure.ts';
import { behindClosedGate } from '../../support/services/closed-gate.ts';
import {
  type CalculationFixture,
  forceRuns,
  ok,
  openCalculationFixture,
  START,
  sandboxOf,
  TIMING,
} from './calculation-fixture.ts';

const MAX_ATTEMPTS = 5;
const MAX_INPUT_POINTS = 100;
const TOO_MANY_POINTS =
  'input a0 brings the run above its maximum of 100 input points (CALC_MAX_INPUT_POINTS); declare a shorter period or a coarser granularity, or update fewer dates at a time';

let store: PointStore;
let calculations: CalculationFixture;
beforeAll(async () => {
  store = await openPointStore();
  calculations = openCalculationFixture(store, MAX_INPUT_POINTS);
});
afterAll(() => store.close());

interface Input {
  readonly variableId: number;
  readonly [member: string]: unknown;
}

/** Adds a calculated variable. `canBeUsedAsATrigger` of an input defaults to true. @returns the variable's id. */
const addCalculated = (inputs: readonly Input[]): Promise<number> =>
  calculations.addCalculated(
    calculated(
      'anything',
      inputs.map((input, index) => ({ alias: `a${index}`, canBeUsedAsATrigger: true, ...input })),
    ),
  );

describe('calculation: a variable that a change reaches by two paths', () => {
  test('waits for the run on the longer path, but not for runs of later changes (R-H5)', async () => {
    const input = await store.addVariable({ isVersioned: false });
    const between = await addCalculated([{ variableId: input }]);
    const both = await addCalculated([{ variableId: input }, { variableId: between }]);
    const claim = (variableId: number) => withConnection(store.database, (it) => claimRun(it, variableId, ''));
    await calculations.change(input);
    const first = await claim(between);
    await calculations.change(input);
    expect(await claim(both)).toBeUndefined();
    // The first run of `between` ends. The second run of `between` is claimed before the run of `both`.
    await withTransaction(store.database, async (transaction) => {
      await transaction.query(`update calculation_run set state = 'Succeeded' where id = $1`, [first?.id]);
      await announcePoints(
        transaction,
        store.accountId,
        [{ variableId: between, fromMicros: START, toMicros: START, count: 1 }],
        first && { wave: first.wave },
      );
    });
    await calculations.relay();
    expect(await claim(between)).toBeDefined();
    expect(await claim(both)).toMatchObject({ wave: first?.wave });
  });
});

describe('calculation: a run that may read at most 100 points', () => {
  test.each([
    [MAX_INPUT_POINTS, 'ok', null],
    [MAX_INPUT_POINTS + 1, 'invalid_input', TOO_MANY_POINTS],
    // With this many points, the run must stop reading before it reaches the last point.
    [100_000, 'invalid_input', TOO_MANY_POINTS],
  ])('with an input of %i points, the outcome of the run is %s (R-H7)', async (count, outcome, message) => {
    const input = await store.addVariable({ isVersioned: false });
    await store.database.query(
      `insert into point select timestamptz '2026-01-01' + n * interval '1 minute', n, now(), $1, 0, 0
       from generate_series(1, $2::int) n`,
      [input, count],
    );
    const variableId = await addCalculated([{ variableId: input, periodType: 'AbsoluteDate' }]);
    await forceRuns(store.database, [variableId], {});
    await calculations.runWith(variableId, () => ok([]));
    expect(await calculations.runsOf(variableId)).toMatchObject([{ outcome, message }]);
  });
});

describe('calculation: the versions of a run', () => {
  test('the versions are traced to the run even when their VersionTimestamps are after the end of the run (R-H12, R-F1)', async () => {
    const variableId = await addCalculated([]);
    // The last VersionTimestamp of the series is in the future, so the versions that the run writes have
    // VersionTimestamps after the end of the run.
    await store.write(variableId, [[START, 0]]);
    await store.database.query(
      `update series set last_version_timestamp = now() + interval '1 h' where variable_id = $1`,
      [variableId],
    );
    await forceRuns(store.database, [variableId], {});
    await calculations.runWith(variableId, () => ok([START / 1e6, START / 1e6 + 60]));
    const { rows } = await store.database.query<{ id: number; at: number }>(
      `select run.id, (extract(epoch from version_timestamp) * 1000000)::int8 as at
       from point join calculation_run run using (variable_id)
       where variable_id = $1 and version_timestamp > finished_date and run.state = 'Succeeded'`,
      [variableId],
    );
    expect(rows).toHaveLength(2);
    const found = await findRunOrigins(
      store.database,
      store.accountId,
      variableId,
      rows.map(({ at }) => at),
    );
    expect(new Set([...found.values()].map(({ runId }) => runId))).toEqual(new Set([rows[0]?.id]));
    expect(found.size).toBe(new Set(rows.map(({ at }) => at)).size);
  });

  test('a run that stored nothing is not the origin of a version that was written during the run (R-H12)', async () => {
    const variableId = await addCalculated([]);
    await forceRuns(store.database, [variableId], {});
    let at = 0;
    await calculations.runWith(variableId, async () => {
      await store.write(variableId, [[START, 0]]);
      at = (await store.readAll(variableId))[0]?.versionTimestamp ?? 0;
      return ok([]);
    });
    expect((await calculations.runsOf(variableId)).at(-1)).toMatchObject({ state: 'Succeeded' });
    expect(await findRunOrigins(store.database, store.accountId, variableId, [at])).toEqual(new Map());
  });
});

describe('calculation: a forced update without dates', () => {
  test('waits while `point_gate` is locked, then requests a run from the first date of the input (R-H5)', async () => {
    const input = await store.addVariable({ isVersioned: false });
    await store.write(input, [[START, 1]]);
    const variableId = await addCalculated([{ variableId: input }]);
    const forced = await behindClosedGate(store.database, () => forceRuns(store.database, [variableId], {}));
    expect(forced).toEqual([variableId]);
    const { rows } = await store.database.query(
      'delete from calculation_request where variable_id = $1 returning from_date as "from"',
      [variableId],
    );
    expect(rows).toEqual([{ from: '2026-01-01T00:00:00Z' }]);
  });
});

const findDue = async () => (await findDueTurns(store.database)).map(({ id }) => id);

describe('calculation: a run that was abandoned', () => {
  const crash = () => Promise.reject(new Error('the process would be gone'));
  const requestsOf = async (variableId: number) => {
    const { rows } = await store.database.query(
      'select attempt, from_date as "from" from calculation_request where variable_id = $1 order by attempt',
      [variableId],
    );
    return rows;
  };
  const endPause = (variableId: number) =>
    store.database.query('update calculation_request set not_before_date = now() where variable_id = $1', [variableId]);
  const [OLD, NEW] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];
  const force = (variableId: number, at: string) => forceRuns(store.database, [variableId], { from: at, to: at });
  test('is repeated after a restart of the database, and the abandoned attempt does not count (R-A15)', async () => {
    const variableId = await addCalculated([]);
    await forceRuns(store.database, [variableId], {});
    for (let restart = 0; restart < MAX_ATTEMPTS + 1; restart += 1) {
      await expect(calculations.runWith(variableId, crash)).rejects.toThrow();
      await store.database.query(`update calculation_run set started_date = '2000-01-01' where variable_id = $1`, [
        variableId,
      ]);
    }
    expect(await calculations.runWith(variableId, () => ok([]))).toMatchObject({ kind: 'ended' });
    const runs = await calculations.runsOf(variableId);
    expect(runs.at(-1)).toMatchObject({ state: 'Succeeded' });
    const { rows } = await store.database.query('select max(attempt) from calculation_run where variable_id = $1', [
      variableId,
    ]);
    expect(rows).toEqual([{ max: 0 }]);
    expect(runs[0]).toMatchObject({ state: 'Abandoned', message: expect.stringContaining('database restarted') });
  });

  test.each(['before', 'after'] as const)(
    'when other dates are requested %s the run is requested again, both requests wait equally long (R-H5)',
    async (order) => {
      const variableId = await addCalculated([]);
      await force(variableId, OLD);
      // No pause precedes the first repetition; a pause precedes the second repetition.
      await expect(calculations.runWith(variableId, crash)).rejects.toThrow();
      await expect(calculations.runWith(variableId, crash)).rejects.toThrow();
      if (order === 'before') await force(variableId, NEW);
      expect(await calculations.runWith(variableId, () => ok([]))).toEqual({ kind: 'idle' });
      if (order === 'after') await force(variableId, NEW);
      expect(await findDue()).not.toContain(variableId);
      expect(await calculations.runWith(variableId, () => ok([]))).toEqual({ kind: 'idle' });
      expect(await requestsOf(variableId)).toEqual([
        { attempt: 0, from: NEW },
        { attempt: 2, from: OLD },
      ]);
    },
  );

  test('becomes Failed after the last attempt; a request for other dates gets its own run (R-H5, R-H8)', async () => {
    const variableId = await addCalculated([]);
    await force(variableId, OLD);
    const isDead = () => calculations.runWith(variableId, crash).then(...([() => false, () => true] as const));
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) while (!(await isDead())) await endPause(variableId);
    await force(variableId, NEW);
    // The run of the final permitted attempt is still Running. This call of `runWith` ends that run as Failed, and
    // delays the new request.
    expect(await calculations.runWith(variableId, () => ok([]))).toEqual({ kind: 'idle' });
    expect(await requestsOf(variableId)).toEqual([{ attempt: 0, from: NEW }]);
    await endPause(variableId);
    await calculations.runWith(variableId, () => ok([]));
    const { rows } = await store.database.query(
      'select state, attempt, from_date as "from" from calculation_run where variable_id = $1 order by id desc limit 2',
      [variableId],
    );
    expect(rows).toEqual([
      { state: 'Succeeded', attempt: 0, from: NEW },
      { state: 'Failed', attempt: MAX_ATTEMPTS - 1, from: OLD },
    ]);
  });
});

describe('calculation: a run whose calculator or variable is lost', () => {
  test('a run becomes Failed when its calculator has died in each of five attempts (R-H8)', async () => {
    const variableId = await addCalculated([]);
    await forceRuns(store.database, [variableId], {});
    const crash = () => Promise.reject(new Error('the process would be gone'));
    const isDead = () => calculations.runWith(variableId, crash).then(...([() => false, () => true] as const));
    // From the third attempt on, each attempt is preceded by a pause.
    const skipPause = () => store.database.query('update calculation_request set not_before_date = now()');
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) while (!(await isDead())) await skipPause();
    expect(await calculations.runWith(variableId, () => ok([]))).toEqual({ kind: 'idle' });
    expect((await calculations.runsOf(variableId)).map(({ state }) => state)).toEqual([
      ...Array.from({ length: MAX_ATTEMPTS - 1 }, () => 'Abandoned'),
      'Failed',
    ]);
    expect(await findDue()).not.toContain(variableId);
  });

  test('a run stores nothing when another database session ended the run (R-H5, R-K3)', async () => {
    const variableId = await addCalculated([]);
    await forceRuns(store.database, [variableId], {});
    const takeOver = async () => {
      await store.database.query(`update calculation_run set state = 'Abandoned' where variable_id = $1`, [variableId]);
      return ok([1]);
    };
    await expect(calculations.runWith(variableId, takeOver)).rejects.toThrow(
      'was already ended by another database session',
    );
    expect(await store.read(variableId)).toEqual([]);
    expect(await calculations.runsOf(variableId)).toMatchObject([{ state: 'Abandoned' }]);
  });

  test('is not repeated when its calculator dies and its variable is then deleted (R-H5)', async () => {
    const variableId = await addCalculated([]);
    await forceRuns(store.database, [variableId], {});
    await expect(calculations.runWith(variableId, () => Promise.reject(new Error('gone')))).rejects.toThrow();
    await store.database.query('delete from variable where id = $1', [variableId]);
    expect(await findDue()).toContain(variableId);
    expect(await calculations.runWith(variableId, () => ok([]))).toEqual({ kind: 'idle' });
    expect(await findDue()).not.toContain(variableId);
  });
});

describe('calculation: an update that a user stops', () => {
  const stop = (...variableIds: readonly number[]) =>
    withTransaction(store.database, (transaction) => stopUpdates(transaction, calculations.caller, variableIds));
  const message = 'stopped by u; to calculate the values later, force an update over the dates of this run';

  test('the running script stores nothing, and a waiting request becomes a Failed run (R-H5, R-H8)', async () => {
    const variableId = await addCalculated([]);
    const [OLD, NEW] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];
    await forceRuns(store.database, [variableId], { from: OLD, to: OLD });
    const begun = Promise.withResolvers<void>();
    const endless = {
      ...sandboxOf(() => ok([])),
      run: (_job: unknown, signal?: AbortSignal) =>
        new Promise<SandboxOutcome>((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
          begun.resolve();
        }),
    };
    const running = calculations.runWith(variableId, () => ok([]), { sandbox: endless });
    await begun.promise;
    await forceRuns(store.database, [variableId], { from: NEW, to: NEW });
    expect(await readUpdateState(store.database, variableId)).toMatchObject({
      running: { trigger: 'ForceUpdate', from: OLD },
      waiting: [{ trigger: 'ForceUpdate', from: NEW, attempt: 0 }],
      usualMs: null,
    });
    const ids = await stop(variableId);
    expect(await running).toMatchObject({ kind: 'ended', report: { outcome: 'cancelled' } });
    const runs = await calculations.runsOf(variableId);
    expect(runs.map(({ id }) => id)).toEqual(ids);
    const stopped = { state: 'Failed', outcome: 'cancelled', message };
    expect(runs).toMatchObject([
      { ...stopped, from_date: OLD },
      { ...stopped, from_date: NEW },
    ]);
    expect(await calculations.runWith(variableId, () => ok([]))).toEqual({ kind: 'idle' });
    expect(await readUpdateState(store.database, variableId)).toEqual({ running: null, waiting: [], usualMs: null });
    expect(await store.read(variableId)).toEqual([]);
  });

  test('a script that returns after the stop stores nothing (R-H5)', async () => {
    const variableId = await addCalculated([]);
    await forceRuns(store.database, [variableId], {});
    const result = await calculations.runWith(variableId, async () => {
      await stop(variableId);
      return ok([1]);
    });
    expect(result).toMatchObject({ report: { outcome: 'cancelled' } });
    expect(await store.read(variableId)).toEqual([]);
    expect(await stop(variableId)).toEqual([]);
  });

  test('a run that a calculator claims while the update is being stopped is stopped too (R-H5)', async () => {
    const variableId = await addCalculated([]);
    await forceRuns(store.database, [variableId], {});
    const ids = await withTransaction(store.database, async (transaction) => {
      let statements = 0;
      const query = async (text: string, values: unknown[]) => {
        statements += 1;
        if (statements === 2) await withConnection(store.database, (it) => claimRun(it, variableId, ''));
        return transaction.query(text, values);
      };
      return stopUpdates({ query } as unknown as Transaction, calculations.caller, [variableId]);
    });
    expect(await calculations.runsOf(variableId)).toMatchObject([{ id: ids[0], outcome: 'cancelled' }]);
  });

  test('a run that is already storing its points is not stopped (R-H5)', async () => {
    const variableId = await addCalculated([]);
    await forceRuns(store.database, [variableId], {});
    const run = await withConnection(store.database, (it) => claimRun(it, variableId, ''));
    const ids = await withTransaction(
      store.database,
      async (storing) => {
        await storing.query('select from calculation_run where id = $1 for update', [run?.id]);
        return stop(variableId);
      },
      { idleTimeoutMs: 0 },
    );
    expect(ids).toEqual([]);
    expect(await calculations.runsOf(variableId)).toMatchObject([{ state: 'Running' }]);
  });
});

describe('calculation: a wave (all runs that one change triggers)', () => {
  test('shows which variable triggered which other variable (R-H8)', async () => {
    const [first, second] = [
      await store.addVariable({ isVersioned: false }),
      await store.addVariable({ isVersioned: false }),
    ];
    const middle = await addCalculated([{ variableId: first }, { variableId: second }]);
    const end = await addCalculated([{ variableId: middle }, { variableId: first, canBeUsedAsATrigger: false }]);
    await calculations.announce(first);
    await calculations.change(second);
    await calculations.runWith(middle, () => ok([0]));
    await calculations.relay();
    const [run] = await calculations.runsOf(middle);
    expect(new Set(run?.causes as number[])).toEqual(new Set([first, second]));
    const wave = await readWave(store.database, calculations.caller, Number(run?.wave), middle);
    expect(new Map(wave.nodes.map(({ variableId, state }) => [variableId, state]))).toEqual(
      new Map([
        [first, 'Changed'],
        [second, 'Changed'],
        [middle, 'Succeeded'],
        [end, 'Waiting'],
      ]),
    );
    const edges = [first, second].map((from) => ({ from, to: middle }));
    expect(wave.edges).toHaveLength(3);
    expect(wave.edges).toEqual(expect.arrayContaining([...edges, { from: middle, to: end }]));
    await forceRuns(store.database, [middle], {});
    await calculations.runWith(middle, () => ok([]));
    expect((await calculations.runsOf(middle)).at(-1)?.causes).toEqual([]);
  });
});

describe('calculation: unusual output of a script', () => {
  test('NUL and unpaired surrogates in the output and messages of a script are replaced (R-H7, R-H8)', async () => {
    const variableId = await addCalculated([]);
    await forceRuns(store.database, [variableId], {});
    const notes = { messages: ['half \ud83d'], warnings: [], output: 'a\0b' };
    await calculations.runWith(variableId, () => ({
      ...{ kind: 'script_error', message: 'no\0pe', call: '', line: 1, timing: TIMING },
      notes,
    }));
    expect(await calculations.runsOf(variableId)).toMatchObject([
      {
        ...{ state: 'Failed', outcome: 'script_error', message: 'no\ufffdpe' },
        notes: { messages: ['half \ufffd'], output: 'a\ufffdb' },
      },
    ]);
  });

  test('`Errors` that a script returns with a series become warnings of the run, and the series is stored (R-H3)', async () => {
    const variableId = await addCalculated([]);
    await forceRuns(store.database, [variableId], {});
    const result = await calculations.runWith(variableId, () => ({ ...ok([1]), errors: ['minor'] }) as SandboxOutcome);
    expect(result).toMatchObject({ report: { outcome: 'ok', counts: { stored: 1 }, notes: { warnings: ['minor'] } } });
  });

  test('a run fails when its script returns a `Version` that cannot be stored (§7)', async () => {
    const variableId = await addCalculated([]);
    await store.database.query('update variable set is_versioned = true where id = $1', [variableId]);
    await forceRuns(store.database, [variableId], {});
    await calculations.runWith(variableId, () => ok([0], ['V\0']));
    expect(await calculations.runsOf(variableId)).toMatchObject([{ state: 'Failed', outcome: 'invalid_output' }]);
  });
});

describe('calculation: the inputs of a run', () => {
  test.each([
    ['Year', 1_000_000],
    ['Month', 1_000_000],
    ['Week', 1_000_000],
    ['Day', 1_000_000],
  ])(
    'a run succeeds when the window of an input extends beyond the storable dates: `periodTimeBase` %s, `period` %i (R-H6)',
    async (periodTimeBase, period) => {
      const input = await store.addVariable({ isVersioned: false });
      await store.write(input, [[START, 1]]);
      const variableId = await addCalculated([{ variableId: input, period, periodTimeBase }]);
      await forceRuns(store.database, [variableId], {});
      await calculations.runWith(variableId, () => ok([1]));
      expect(await calculations.runsOf(variableId)).toMatchObject([{ state: 'Succeeded' }]);
    },
  );

  test('an input with an `asOf` is read as of that instant, exact to the microsecond (R-F5, R-H6)', async () => {
    const input = await store.addVariable({ isVersioned: true });
    const { versionTimestamp } = await store.write(input, [[START, 1]]);
    const isoOf = (micros: number) =>
      `${new Date(Math.floor(micros / 1000)).toISOString().slice(0, -1)}${String(micros % 1000).padStart(3, '0')}Z`;
    for (const [asOf, points] of [
      [isoOf(versionTimestamp), 1],
      [isoOf(versionTimestamp - 1), 0],
    ] as const) {
      const window = { periodType: 'AbsoluteDate', toAbsolutePeriod: '2026-01-01T00:00:00.000000Z', asOf };
      const variableId = await addCalculated([{ variableId: input, ...window }]);
      await forceRuns(store.database, [variableId], {});
      const result = await calculations.runWith(variableId, () => ok([]));
      expect(result).toMatchObject({ report: { inputs: [{ points }] } });
    }
  });
});

test('calculation: a run can store a point dated 2050, after the 32-bit limit in 2038 (R-H2)', async () => {
  const variableId = await addCalculated([]);
  await forceRuns(store.database, [variableId], { from: '2050-01-01T00:00:00Z', to: '2050-01-02T00:00:00Z' });
  await calculations.runWith(variableId, () => ok([Date.UTC(2050, 0, 1) / 1000]));
  expect(await calculations.runsOf(variableId)).toMatchObject([{ state: 'Succeeded', outcome: 'ok' }]);
  expect(await store.read(variableId)).toMatchObject([{ date: Date.UTC(2050, 0, 1) * 1000 }]);
});
