/**
 * Replays of recorded runs: the same declaration, form values and versions of the inputs give the same points (R-H8,
 * R-H12).
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { replayRun } from '../../../src/calculation/authoring/replay-run.ts';
import type { SandboxJob, SandboxOutcome } from '../../../src/calculation/sandbox/sandbox-types.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { withConnection } from '../../../src/platform/database/database.ts';
import { formatInstant } from '../../../src/platform/dates/instant-rules.ts';
import { openDictionary } from '../../../src/points/dictionary.ts';
import { openPointStore, type PointStore } from '../../support/fixtures/point-store.ts';
import { measureTurns } from '../../support/measure-turns.ts';
import {
  type CalculationFixture,
  formula,
  HOUR,
  ok,
  openCalculationFixture,
  returned,
  START,
  sandboxOf,
} from './calculation-fixture.ts';

let store: PointStore;
let calculations: CalculationFixture;
beforeAll(async () => {
  store = await openPointStore();
  calculations = openCalculationFixture(store);
});
afterAll(() => store.close());

/** A script that multiplies its input by the form value `factor` and the constant `scale`. */
function multiply({ inputs: [input], forms, constants }: SandboxJob): SandboxOutcome {
  if (!input) throw new Error('no input');
  const factor = Number(forms[0]?.value) * Number(constants[0]?.value);
  const { dates, values } = input.series;
  return returned(
    dates,
    values.map((value) => value * factor),
  );
}

const declared = (variableId: number, scale = 10) =>
  formula({
    formula: 'a * factor * scale',
    variables: [{ alias: 'a', variableId, period: 1, periodTimeBase: 'Hour' }],
    entities: [{ alias: 'factor', entityType: 'Site', path: 'Factor' }],
    constants: [{ alias: 'scale', value: scale }],
  });

const setFactor = (factor: number) => store.database.query('update site set client_data = $1', [{ Factor: factor }]);

async function runOnce(isVersioned: boolean) {
  await setFactor(2);
  const source = await store.addVariable({ isVersioned });
  await store.write(source, [[START, 1, 'V1']]);
  const target = await calculations.addCalculated(declared(source));
  await calculations.change(source);
  await calculations.runWith(target, multiply);
  const [run] = await calculations.runsOf(target);
  return { source, target, run, runId: Number(run?.id) };
}

function replay(runId: number, script: (job: SandboxJob) => SandboxOutcome = multiply) {
  const { database } = store;
  const services = {
    database,
    dictionary: openDictionary(database),
    sandbox: sandboxOf(script),
    clock: systemClock,
    maxInputPoints: 1000,
  };
  return withConnection(database, (connection) => replayRun(services, connection, runId, new AbortController().signal));
}

test('runs: a run records the hash of its declaration; equal declarations have equal hashes, and a changed declaration has a different hash (R-H12)', async () => {
  const { source, target, run } = await runOnce(true);
  expect(run).toMatchObject({ declaration_hash: expect.stringMatching(/^v1-[0-9a-f]{64}$/) });
  const rerun = async (scale: number) => {
    await calculations.save(target, declared(source, scale));
    await calculations.change(source);
    await calculations.runWith(target, multiply);
    return (await calculations.runsOf(target)).at(-1)?.declaration_hash;
  };
  expect(await rerun(11)).not.toBe(run?.declaration_hash);
  expect(await rerun(10)).toBe(run?.declaration_hash);
});

test('replay: a run is reproduced even when the declaration, a form value and the input have changed since the run (R-H8, R-H12)', async () => {
  const { source, target, runId } = await runOnce(true);
  await store.write(source, [[START, 7, 'V2']]);
  await setFactor(3);
  await calculations.save(target, declared(source, 99));
  expect(await replay(runId)).toMatchObject({
    ...{ runId, outcome: 'ok', isReproduced: true, differences: [], warnings: [] },
    counts: { recorded: 1, replayed: 1, equal: 1, different: 0, missing: 0 },
  });
});

test('replay: a run is reproduced when one of its formulas ran for two periods (R-H8)', async () => {
  const source = await store.addVariable({ isVersioned: true });
  await store.write(
    source,
    [0, 1, 2, 3, 4].map((hour) => [START + hour * HOUR, hour]),
  );
  const variables = [{ alias: 'a', variableId: source, period: 1, periodTimeBase: 'Hour' }];
  const bounds = { validFrom: formatInstant(START + HOUR), validUntil: formatInstant(START + 2 * HOUR) };
  const target = await calculations.addCalculated({
    calculatedVariableFormulas: [
      { formula: 'outer', variables },
      { formula: 'inner', variables, ...bounds },
    ],
  });
  await calculations.change(source, [START, START + 4 * HOUR]);
  const copy = ({ inputs: [input] }: SandboxJob) => returned(input?.series.dates ?? [], input?.series.values ?? []);
  await calculations.runWith(target, copy);
  const [run] = await calculations.runsOf(target);
  expect(run?.inputs).toMatchObject([{ formula: 0 }, { formula: 1 }, { formula: 0 }]);
  expect(await replay(Number(run?.id), copy)).toMatchObject({ outcome: 'ok', isReproduced: true, warnings: [] });
});

test('replay: names the points whose stored value differs from the replayed value (R-H8)', async () => {
  const { source, target, runId } = await runOnce(true);
  await store.write(source, [[START + HOUR / 2, 5, 'V1']]);
  await store.write(target, [[START, 21]]);
  const answer = await replay(runId);
  expect(answer).toMatchObject({ isReproduced: false, counts: { replayed: 1, different: 1, missing: 0 } });
  expect(answer.differences).toEqual([{ date: '2026-01-01T00:00:00Z', replayed: 20, stored: 21 }]);
});

test('replay: comparing an output of 500,000 rows blocks the event loop for less than 250 ms at a time, and only the first 100 differences are named (R-H8)', async () => {
  const { target, runId } = await runOnce(true);
  const rows = 500_000;
  const last = START + (rows - 1) * 1e6;
  await store.write(target, [
    [START, 1],
    [last - 3e6, 1],
    [last, 5],
  ]);
  const dates = Float64Array.from({ length: rows }, (_, row) => START / 1e6 + row);
  const output = returned(dates, new Float64Array(rows).fill(1));
  const { result: answer, maxTurnMs } = await measureTurns(() => replay(runId, () => output));
  expect(answer.counts).toMatchObject({ replayed: rows, equal: 2, different: 1, missing: rows - 3 });
  expect(answer.differences).toHaveLength(100);
  expect(maxTurnMs).toBeLessThan(250);
});

test('replay: when a value of an unversioned input was overwritten after a run, the replay does not reproduce the run, and a warning names the input (R-H8)', async () => {
  const { source, runId } = await runOnce(false);
  expect(await replay(runId)).toMatchObject({ isReproduced: true });
  await store.write(source, [[START, 5]]);
  const answer = await replay(runId);
  expect(answer).toMatchObject({ isReproduced: false, counts: { recorded: 1, replayed: 0 } });
  expect(answer.warnings).toEqual(['input a has changed; points read by the run: 1, by the replay: 0']);
});

test('replay: a run that ended before its script started cannot be replayed, because it recorded no declaration (R-H12)', async () => {
  const { source } = await runOnce(true);
  const target = await calculations.addCalculated({
    calculatedVariableFormulas: [{ variables: [{ alias: 'a', variableId: source }] }],
  });
  await calculations.change(source);
  await calculations.runWith(target, multiply);
  const [run] = await calculations.runsOf(target);
  expect(await replay(Number(run?.id))).toMatchObject({ error: expect.stringContaining('no recorded declaration') });
});

test('runs: an input records `historyFrom` only if its `asOf` is before the instant from which the history is complete (R-F9, R-H8)', async () => {
  await setFactor(2);
  const variableId = await store.addVariable({ isVersioned: true, versionLimit: 1 });
  for (const value of [1, 2]) await store.write(variableId, [[START, value]]);
  const input = (asOf: string) =>
    formula({ variables: [{ alias: 'a', variableId, period: 1, periodTimeBase: 'Hour', asOf }] });
  const [kept] = await store.readAll(variableId);
  const target = await calculations.addCalculated(input('2026-01-01T12:00:00Z'));
  const recorded = async () => {
    await calculations.change(variableId);
    await calculations.runWith(target, () => ok([]));
    return (await calculations.runsOf(target)).at(-1)?.inputs as readonly Record<string, unknown>[];
  };
  expect(await recorded()).toMatchObject([{ points: 0, historyFrom: formatInstant(kept?.versionTimestamp ?? 0) }]);
  await calculations.save(target, input('2099-01-01T00:00:00Z'));
  const [latest] = await recorded();
  expect(latest).toMatchObject({ points: 1 });
  expect(latest).not.toHaveProperty('historyFrom');
});
