/** A calculator that stops during a run returns the run to the queue; the next calculator repeats it (R-K2, R-K3). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fetchAnswerChecker } from '../support/answers/described-answers.ts';
import { eventually } from '../support/eventually.ts';
import { type ApiClient, signIn } from '../support/fixtures/sign-in.ts';
import { calculated, createSiteAndSource, createVariable } from '../support/fixtures/structure.ts';
import { createWorld, type World } from '../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../support/services/role-process.ts';
import { testRRoot } from '../support/services/stack.ts';

/** Duration of the slow script, longer than SHUTDOWN_TIMEOUT_MS of the calculators. */
const SLOW_SEC = 25;

let world: World;
let front: RoleProcess;
let api: ApiClient;
beforeAll(async () => {
  world = await createWorld();
  front = await startRoles(['api', 'ingester'], world.environment);
  api = await signIn(front.http, await fetchAnswerChecker(front.http));
}, 60_000);
afterAll(async () => {
  await front?.kill('SIGTERM');
  await world?.close();
});

const startCalculator = () =>
  startRoles(['calculator'], { ...world.environment, R_ROOT: testRRoot(), SHUTDOWN_TIMEOUT_MS: '8000' });

interface Run {
  readonly state: string;
  readonly outcome: string | null;
  readonly attempt: number;
}

/** @returns the runs of a variable, oldest first. */
const runsOf = async (variableId: number) =>
  (await api.call<Run[]>('GET', `/variables/${variableId}/runs`)).toReversed();

test('calculation: a calculator that gets SIGTERM does not wait for R; the run returns to the queue, and the interrupted attempt is not counted (R-K2)', async () => {
  const { sourceId } = await createSiteAndSource(api);
  const input = await createVariable(api, sourceId);
  // The script is slow until the form value `fast` of the source is set.
  const script = `if (is.null(inputForms$fast)) Sys.sleep(${SLOW_SEC})
    list(TimeSeries = data.frame(Dates = triggerDate, Values = 1))`;
  const declaration = calculated(script, [{ alias: 'a', variableId: input, periodType: 'RelativeDate' }]);
  const [formula] = declaration.calculatedVariableFormulas;
  const entities = [{ alias: 'fast', entityType: 'Source', path: 'fast' }];
  const variable = await createVariable(api, sourceId, {
    calculated: { calculatedVariableFormulas: [{ ...formula, entities }] },
  });
  const first = await startCalculator();
  await api.call('POST', '/api/data', [{ variableId: input, data: [{ date: '2026-03-01T00:00:00Z', value: 1 }] }]);
  await eventually('the run', async () => (await runsOf(variable)).some(({ state }) => state === 'Running'));
  expect(await first.kill('SIGTERM')).toBe(0);
  const [handedBack, ...others] = await runsOf(variable);
  expect(handedBack).toMatchObject({ state: 'Abandoned', outcome: 'stopped', attempt: 0 });
  expect(others).toEqual([]);
  await api.call('PUT', `/sources/${sourceId}`, { clientData: { fast: true } });
  const second = await startCalculator();
  await eventually('the second run', async () => (await runsOf(variable)).at(-1)?.state === 'Succeeded');
  await second.kill('SIGTERM');
  expect(await runsOf(variable)).toMatchObject([{ outcome: 'stopped' }, { outcome: 'ok', attempt: 0 }]);
}, 60_000);
