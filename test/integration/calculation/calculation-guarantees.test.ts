/**
 * Calculation under concurrency and faults: merged triggers, order in a chain, repeated runs, and faults of the sandbox
 * (R-H5, R-H8); a variable that reads its own output, the default Version, and the events at the end of a run (R-H1,
 * R-H10, R-I8).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RUN_LOCK_CLASS } from '../../../src/calculation/run/claim-run.ts';
import type { SandboxJob, SandboxOutcome } from '../../../src/calculation/sandbox/sandbox-types.ts';
import { HandBack } from '../../../src/calculation/turns/hand-back.ts';
import { eventually } from '../../support/eventually.ts';
import { openPointStore, type PointStore } from '../../support/fixtures/point-store.ts';
import {
  type CalculationFixture,
  forceRuns,
  formula,
  HOUR,
  NOTES,
  ok,
  openCalculationFixture,
  returned,
  START,
  TIMING,
} from './calculation-fixture.ts';

const CHAIN = 5;
const QUARTERS = 365 * 96;
const FAULT = { kind: 'fault', cause: 'run', message: 'gone', timing: TIMING } as const;

let store: PointStore;
let calculations: CalculationFixture;
beforeAll(async () => {
  store = await openPointStore();
  calculations = openCalculationFixture(store);
});
afterAll(() => store.close());

const addInput = async (points: readonly (readonly [number, number])[] = [[START, 1]]): Promise<number> => {
  const variableId = await store.addVariable({ isVersioned: false });
  await store.write(variableId, points);
  return variableId;
};

/** Declares a formula with one input. A run reads the input at the dates that changed. */
const reader = (variableId: number, members: object = {}) =>
  formula({
    variables: [{ alias: 'a', variableId, periodType: 'RelativeDate', canBeUsedAsATrigger: true, ...members }],
  });

/** Script that returns its input. */
const passOn = ({ inputs: [input] }: SandboxJob): SandboxOutcome =>
  returned(input?.series.dates ?? [], input?.series.values ?? []);

const countPoints = async (variableId: number) =>
  (await store.database.query('select from point where variable_id = $1', [variableId])).rowCount;

/** @returns a promise and the function that resolves it. */
function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('calculation: merging of triggers', () => {
  test('several triggers that arrive before a run starts cause one run, which covers the whole range of their dates (R-H5)', async () => {
    const source = await addInput();
    const variableId = await calculations.addCalculated(reader(source));
    await calculations.change(source, [START + 5 * HOUR]);
    await calculations.change(source, [START + HOUR, START + 2 * HOUR]);
    await calculations.change(source, [START + 9 * HOUR]);
    await calculations.runWith(variableId, passOn);
    expect((await calculations.runWith(variableId, passOn)).kind).toBe('idle');
    const [run, ...others] = await calculations.runsOf(variableId);
    expect(others).toEqual([]);
    expect([run?.from_date, run?.to_date, run?.trigger_date].map((date) => new Date(String(date)).getTime())).toEqual(
      [1, 9, 9].map((hour) => (START + hour * HOUR) / 1000),
    );
  });

  test('triggers that arrive while a run is in progress cause one more run, which reads the points written during the first run (R-H5)', async () => {
    const source = await addInput();
    const variableId = await calculations.addCalculated(reader(source));
    await calculations.change(source);
    await calculations.runWith(variableId, async (job) => {
      await store.write(source, [[START + HOUR, 2]]);
      await calculations.change(source, [START + HOUR]);
      await calculations.change(source, [START + HOUR]);
      return passOn(job);
    });
    await calculations.runWith(variableId, passOn);
    expect((await calculations.runWith(variableId, passOn)).kind).toBe('idle');
    expect((await store.read(variableId)).map(({ value }) => value)).toEqual([1, 2]);
    expect(await calculations.runsOf(variableId)).toHaveLength(2);
  });
});

describe('calculation: a chain of five variables', () => {
  test('runs each variable once, in the order of the chain, after one forced update (R-H5)', async () => {
    const dates = Array.from({ length: QUARTERS }, (_, quarter) => START + quarter * (HOUR / 4));
    const source = await addInput(dates.map((date, quarter) => [date, quarter]));
    const chain: number[] = [];
    for (let link = 0; link < CHAIN; link += 1)
      chain.push(await calculations.addCalculated(reader(chain.at(-1) ?? source)));
    // Each run also triggers the next variable. A forced run of that variable already waits, so the two are merged.
    await forceRuns(store.database, chain, { to: new Date((dates.at(-1) ?? 0) / 1000).toISOString() });
    for (let turn = 0; turn < CHAIN; turn += 1) {
      // Tries to claim the variables in reverse order. Nevertheless, each variable must run only after its input.
      for (const variableId of chain.toReversed()) await calculations.runWith(variableId, passOn);
      await calculations.relay();
    }
    const runs = (await Promise.all(chain.map((variableId) => calculations.runsOf(variableId)))).flat();
    expect(runs.map((run) => run.variable_id)).toEqual(chain);
    expect(new Set(runs.map((run) => run.wave)).size).toBe(1);
    expect(await Promise.all(chain.map(countPoints))).toEqual(chain.map(() => QUARTERS));
  }, 60_000);
});

describe('calculation: repeated runs', () => {
  test('a worker that tries to run a variable gets the result `busy` while another worker runs that variable (R-H5)', async () => {
    const source = await addInput();
    const variableId = await calculations.addCalculated(reader(source));
    await calculations.change(source);
    const [begun, done] = [gate(), gate()];
    const first = calculations.runWith(variableId, async (job) => {
      begun.open();
      await done.opened;
      return passOn(job);
    });
    await begun.opened;
    expect(await calculations.runWith(variableId, passOn)).toEqual({ kind: 'busy' });
    done.open();
    await first;
    expect(await calculations.runsOf(variableId)).toMatchObject([{ state: 'Succeeded' }]);
  });

  test('after a paused worker loses its database session, its run is Abandoned, and only the repeated run stores points (R-H5, R-K3)', async () => {
    const source = await addInput();
    const variableId = await calculations.addCalculated(reader(source));
    await calculations.change(source);
    const [begun, done] = [gate(), gate()];
    const paused = calculations.runWith(variableId, async () => {
      begun.open();
      await done.opened;
      return ok([START / 1e6, START / 1e6 + 60]);
    });
    // `paused` is awaited below. Until then, this handler keeps a rejection of `paused` from being reported as
    // unhandled.
    paused.catch(() => undefined);
    await begun.opened;
    const holders = `from pg_locks where locktype = 'advisory' and classid = ${RUN_LOCK_CLASS} and objid = $1::int8::oid`;
    await store.database.query(`select pg_terminate_backend(pid) ${holders}`, [variableId]);
    await eventually('the end of the session', async () => {
      return (await store.database.query(`select ${holders}`, [variableId])).rowCount === 0;
    });
    await calculations.runWith(variableId, passOn);
    done.open();
    await expect(paused).rejects.toThrow();
    expect((await store.read(variableId)).map(({ value }) => value)).toEqual([1]);
    expect(await calculations.runsOf(variableId)).toMatchObject([{ state: 'Abandoned' }, { state: 'Succeeded' }]);
  });

  test.each([
    ['its account gives back a slot borrowed from another account', false],
    ['the calculator stops', true],
  ])(
    'when a run loses its database session just before %s, the run is repeated and the lost attempt does not count (R-A15)',
    async (why, isStopping) => {
      const source = await addInput();
      const variableId = await calculations.addCalculated(reader(source));
      await calculations.change(source);
      const abort = new AbortController();
      const run = async () => {
        const holders = `from pg_locks where locktype = 'advisory' and classid = ${RUN_LOCK_CLASS} and objid = $1::int8::oid`;
        await store.database.query(`select pg_terminate_backend(pid) ${holders}`, [variableId]);
        abort.abort(new HandBack(why, isStopping ? AbortSignal.abort() : new AbortController().signal));
        throw abort.signal.reason;
      };
      await expect(calculations.runWith(variableId, run, {}, abort.signal)).rejects.toThrow();
      expect(await calculations.runsOf(variableId)).toMatchObject([{ state: 'Abandoned', outcome: 'stopped' }]);
      await calculations.runWith(variableId, passOn);
      expect((await calculations.runsOf(variableId)).at(-1)).toMatchObject({ state: 'Succeeded', attempt: 0 });
    },
  );

  test('a run that lost its session is handed back even if its lock is freed only later (R-A15)', async () => {
    const source = await addInput();
    const variableId = await calculations.addCalculated(reader(source));
    await calculations.change(source);
    const other = await store.database.connect();
    const run = async () => {
      const holders = `from pg_locks where locktype = 'advisory' and classid = ${RUN_LOCK_CLASS} and objid = $1::int8::oid`;
      await store.database.query(`select pg_terminate_backend(pid) ${holders}`, [variableId]);
      // Stands for the lost session, whose lock the server frees after a second.
      await other.query('select pg_advisory_lock($1, $2)', [RUN_LOCK_CLASS, variableId]);
      setTimeout(() => void other.query('select pg_advisory_unlock_all()'), 1000);
      throw Object.assign(new Error('terminating connection'), { code: '57P01' });
    };
    await expect(calculations.runWith(variableId, run)).rejects.toThrow();
    other.release();
    expect(await calculations.runsOf(variableId)).toMatchObject([{ state: 'Abandoned', outcome: 'stopped' }]);
    await calculations.runWith(variableId, passOn);
    expect((await calculations.runsOf(variableId)).at(-1)).toMatchObject({ state: 'Succeeded', attempt: 0 });
  });

  test('a run repeated after a fault gets the same inputs (R-H8)', async () => {
    const source = await addInput([
      [START, 1],
      [START + HOUR, 2],
    ]);
    const variableId = await calculations.addCalculated(reader(source, { period: 1, periodTimeBase: 'Day' }));
    await calculations.change(source, [START + HOUR]);
    const jobs: SandboxJob[] = [];
    await calculations.runWith(variableId, (job) => {
      jobs.push(job);
      return FAULT;
    });
    await store.database.query('update calculation_request set not_before_date = now() where variable_id = $1', [
      variableId,
    ]);
    await calculations.runWith(variableId, (job) => {
      jobs.push(job);
      return passOn(job);
    });
    expect(jobs[1]).toEqual(jobs[0]);
    const runs = await calculations.runsOf(variableId);
    expect(runs).toMatchObject([
      { state: 'Abandoned', outcome: 'fault', attempt: 0 },
      { state: 'Succeeded', attempt: 1 },
    ]);
    expect(runs[1]?.inputs).toEqual(runs[0]?.inputs);
  });
});

describe('calculation: faults of a sandbox', () => {
  /** Requests one run, then lets a worker attempt it until no retry is left. @returns all runs of the variable. */
  const runUntilEnded = async (variableId: number, source: number, outcome: SandboxOutcome) => {
    await calculations.change(source);
    while ((await calculations.runWith(variableId, () => outcome)).kind === 'ended') {
      await store.database.query('update calculation_request set not_before_date = now() where variable_id = $1', [
        variableId,
      ]);
    }
    return calculations.runsOf(variableId);
  };

  test('a script is tried three times when it causes sandbox faults; the third attempt and later runs end with the outcome `breaks_sandbox` (R-H7, R-H8)', async () => {
    const source = await addInput();
    const variableId = await calculations.addCalculated(reader(source));
    const faults = [
      { state: 'Abandoned', outcome: 'fault' },
      { state: 'Abandoned', outcome: 'fault' },
      {
        state: 'Failed',
        outcome: 'breaks_sandbox',
        message: expect.stringContaining('the sandbox failed at least 3 times'),
      },
    ];
    const runs = await runUntilEnded(variableId, source, FAULT);
    expect(runs).toMatchObject(faults);
    expect(runs).toHaveLength(3);
    const more = await runUntilEnded(variableId, source, FAULT);
    expect(more.slice(3)).toMatchObject([{ state: 'Failed', outcome: 'breaks_sandbox' }]);
    await calculations.save(variableId, formula({ ...reader(source).calculatedVariableFormulas[0], formula: 'new' }));
    const edited = await runUntilEnded(variableId, source, FAULT);
    expect(edited[4], 'another script starts with no faults').toMatchObject({ state: 'Abandoned', outcome: 'fault' });
  });

  test('a script is tried five times when the sandbox, not the script, causes the faults (R-H8)', async () => {
    const source = await addInput();
    const variableId = await calculations.addCalculated(reader(source));
    const runs = await runUntilEnded(variableId, source, { ...FAULT, cause: 'sandbox' });
    expect(runs.map(({ outcome }) => outcome)).toEqual(['fault', 'fault', 'fault', 'fault', 'fault']);
    expect(runs.at(-1)).toMatchObject({ state: 'Failed' });
  });
});

describe('calculation: a variable that reads its own output', () => {
  test('gets the points stored before the run; its output starts no further run (R-H1)', async () => {
    const source = await addInput();
    const variableId = await store.addVariable({ isVersioned: false });
    const own = { alias: 'own', variableId, periodType: 'AbsoluteDate', canBeUsedAsATrigger: false };
    const trigger = { alias: 'a', variableId: source, periodType: 'RelativeDate', canBeUsedAsATrigger: true };
    await calculations.save(variableId, formula({ variables: [trigger, own] }));
    const seen: number[][] = [];
    for (const hour of [1, 2]) {
      await calculations.change(source, [START + hour * HOUR]);
      await calculations.runWith(variableId, (job) => {
        seen.push([...(job.inputs[1]?.series.values ?? [])]);
        return ok([START / 1e6 + hour * 3600]);
      });
    }
    await calculations.relay();
    expect(seen).toEqual([[], [START / 1e6 + 3600]]);
    expect((await calculations.runWith(variableId, passOn)).kind).toBe('idle');
  });
});

describe('calculation: the default Version', () => {
  test('is computed from the time at which the run was claimed (§9.4, R-H10)', async () => {
    const source = await addInput();
    const variableId = await store.addVariable({ isVersioned: true });
    await store.database.query('update variable set is_versioned = true where id = $1', [variableId]);
    const variables = [{ alias: 'a', variableId: source, periodType: 'AbsoluteDate', canBeUsedAsATrigger: true }];
    const halves = [
      { formula: 'one', variables, validUntil: '2026-01-01T01:00:00Z' },
      { formula: 'two', variables, validFrom: '2026-01-01T01:00:00Z' },
    ];
    await calculations.save(variableId, { calculatedVariableFormulas: halves });
    await calculations.change(source, [START, START + 2 * HOUR]);
    let millis = Date.UTC(2026, 2, 1, 23, 59, 59, 999);
    const run = () => {
      millis += 3_600_000;
      return ok([START / 1e6, START / 1e6 + 7200]);
    };
    await calculations.runWith(variableId, run, { clock: { nowMillis: () => millis } });
    const midnight = '2026-03-02T00:00:00';
    expect((await store.readAll(variableId)).map(({ tag }) => tag)).toEqual([midnight, midnight]);
    expect(await calculations.runsOf(variableId)).toMatchObject([{ default_version: midnight }]);
  });
});

describe('calculation: the end of a run', () => {
  const eventsOf = async (variableId: number) => {
    const { rows } = await store.database.query<{ type: string; payload: object }>(
      `select type, payload from outbox_event where (payload ->> 'variableId')::int = $1 order by id`,
      [variableId],
    );
    return rows;
  };

  test('announces CalculationCompleted or CalculationFailed (R-I2, R-I8)', async () => {
    const source = await addInput();
    const variableId = await calculations.addCalculated(reader(source));
    await calculations.change(source);
    await calculations.runWith(variableId, passOn);
    expect(await eventsOf(variableId)).toMatchObject([{ type: 'CalculationCompleted', payload: { outcome: 'ok' } }]);
    await calculations.change(source);
    await calculations.runWith(variableId, () => {
      return { kind: 'script_error', message: 'no', call: '', line: 1, notes: NOTES, timing: TIMING };
    });
    const payload = { outcome: 'script_error', message: 'no' };
    expect((await eventsOf(variableId)).at(-1)).toMatchObject({ type: 'CalculationFailed', payload });
  });

  test('the error message of a run with several formulas names the formula that failed (R-H8)', async () => {
    const source = await addInput();
    const variables = [{ alias: 'a', variableId: source, periodType: 'AbsoluteDate', canBeUsedAsATrigger: true }];
    const border = '2026-01-01T01:00:00Z';
    const variableId = await calculations.addCalculated({
      calculatedVariableFormulas: [
        { formula: 'one', variables, validUntil: border },
        { formula: 'two', variables, validFrom: border },
      ],
    });
    await calculations.change(source, [START, START + 2 * HOUR]);
    await calculations.runWith(variableId, ({ script }) => {
      if (script === 'one') return ok([]);
      return { kind: 'script_error', message: 'no', call: '', line: 1, notes: NOTES, timing: TIMING };
    });
    expect(await calculations.runsOf(variableId)).toMatchObject([{ message: 'formula 1: no' }]);
  });
});
