/** Kills an api process while it receives many small pushes: every answered push is stored (R-D1, R-K3). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type ApiClient, signIn } from '../../support/fixtures/sign-in.ts';
import { createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';
import { createStoredWorld, type StoredWorld } from '../../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../../support/services/role-process.ts';

const CLIENTS = 32;
const ANSWERS_BEFORE_KILL = 1500;

let world: StoredWorld;
let witness: RoleProcess;
let api: ApiClient;
beforeAll(async () => {
  world = await createStoredWorld();
  witness = await startRoles(['api', 'ingester'], world.environment);
  api = await signIn(witness.http);
}, 60_000);
afterAll(async () => {
  await witness?.kill();
  await world?.close();
});

interface Answered {
  readonly label: string;
  readonly date: string;
}

test('push: after an api process is killed, every small push that the process had answered is stored (R-D1, R-D7, R-K3)', async () => {
  const { sourceId } = await createSiteAndSource(api);
  const variableId = await createVariable(api, sourceId);
  const victim = await startRoles(['api'], world.environment);
  const answered = await pushUntilKilled(victim, await signIn(victim.http), variableId);
  expect(answered.length).toBeGreaterThanOrEqual(ANSWERS_BEFORE_KILL);
  await eventually('all batches', async () => {
    const { rows } = await world.database.query('select from push_batch limit 1');
    return rows.length === 0;
  });
  const { rows } = await world.database.query<{ date: string }>('select date from point where variable_id = $1', [
    variableId,
  ]);
  const stored = new Set(rows.map(({ date }) => Date.parse(date)));
  expect(answered.filter(({ date }) => !stored.has(Date.parse(date)))).toEqual([]);
  // Pushes without an answer may be stored too: at most one per client.
  expect(stored.size).toBeLessThanOrEqual(answered.length + CLIENTS);
  expect(new Set(answered.map(({ label }) => label)).size).toBe(answered.length);
  for (const { label } of answered.filter((_, index) => index % 25 === 0)) {
    const operation = await api.call('GET', `/api/operations/${label}`);
    expect(operation).toMatchObject({ operationId: label, state: 'Completed', accepted: { elements: 1, readings: 1 } });
  }
  const { rows: shared } = await world.database.query('select from push_operation where member_elements is not null');
  expect(shared.length, 'pushes were stored together').toBeGreaterThan(0);
}, 60_000);

/** Pushes from `CLIENTS` clients and kills the process under this load. @returns the answered pushes. */
async function pushUntilKilled(
  victim: RoleProcess,
  client: ApiClient,
  variableId: number,
): Promise<readonly Answered[]> {
  const answered: Answered[] = [];
  let sent = 0;
  let killing: Promise<unknown> | undefined;
  const pushOn = async (): Promise<void> => {
    for (;;) {
      sent += 1;
      const date = new Date(Date.UTC(2026, 0, 1) + sent * 1000).toISOString();
      const body = [{ variableId, data: [{ date, value: sent }] }];
      const { operationId } = await client.call<{ operationId: string }>('POST', '/api/data', body);
      answered.push({ label: operationId, date });
      if (answered.length === ANSWERS_BEFORE_KILL) killing = victim.kill();
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, () => pushOn().catch(() => {})));
  await killing;
  return answered;
}
