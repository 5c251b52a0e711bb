/**
 * A database whose sessions are killed all the time, under load: every push answered 200 is readable in the end, and no
 * operation is Failed (R-A15, R-D1). The short form takes FAULT_SEC = 12 s; a longer one: `FAULT_SEC=900 npm test -- database-faults`.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type ApiClient, signIn } from '../../support/fixtures/sign-in.ts';
import { createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';
import { createStoredWorld, type StoredWorld } from '../../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../../support/services/role-process.ts';

const FAULT_SEC = Number(process.env.FAULT_SEC ?? 12);
const KILL_INTERVAL_MS = 700;
const PUSHERS = 4;
const START_MS = Date.parse('2026-01-01T00:00:00Z');

let world: StoredWorld;
let roles: RoleProcess;
let api: ApiClient;
let variableIds: readonly number[];

beforeAll(async () => {
  world = await createStoredWorld();
  roles = await startRoles(['api', 'ingester'], { ...world.environment, API_RATE_PER_MINUTE: '1000000' });
  api = await signIn(roles.http);
  const { sourceId } = await createSiteAndSource(api);
  variableIds = await Promise.all(Array.from({ length: PUSHERS }, () => createVariable(api, sourceId)));
}, 60_000);

afterAll(async () => {
  await roles?.kill();
  await world?.close();
});

const KILL = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and application_name like 'tidemark%'`;

/** Pushes one reading after another; an error is repeated with the same label, as shipped clients do. */
async function pushUntil(deadlineMs: number, variableId: number): Promise<number> {
  let accepted = 0;
  while (performance.now() < deadlineMs) {
    const date = new Date(START_MS + accepted * 60_000).toISOString();
    const body = [{ variableId, data: [{ date, value: accepted }] }];
    const answer = await api.post(`/api/data?operationId=fault-${variableId}-${accepted}`, body).catch(() => undefined);
    if (answer?.status === 200) accepted += 1;
    else await pause(50);
  }
  return accepted;
}

async function killUntil(deadlineMs: number): Promise<number> {
  let killed = 0;
  while (performance.now() < deadlineMs) {
    killed += (await world.database.query(KILL)).rowCount ?? 0;
    await pause(KILL_INTERVAL_MS);
  }
  return killed;
}

test(
  'push: everything answered 200 while sessions of the database were killed is readable, and nothing is Failed (R-A15)',
  async () => {
    const deadlineMs = performance.now() + FAULT_SEC * 1000;
    const [killed, ...accepted] = await Promise.all([
      killUntil(deadlineMs),
      ...variableIds.map((variableId) => pushUntil(deadlineMs, variableId)),
    ]);
    expect(killed).toBeGreaterThan(FAULT_SEC);
    expect(Math.min(...accepted)).toBeGreaterThan(0);
    for (const [index, variableId] of variableIds.entries()) {
      const expected = Array.from({ length: accepted[index] ?? 0 }, (_, value) => value);
      await eventually(
        'every accepted reading',
        async () => {
          const { status, body } = await api.get<{ rawValue: number }[]>(`/data?variableId=${variableId}`);
          // A push whose answer was lost may be there as well.
          return status === 200 && expected.every((value) => body[value]?.rawValue === value);
        },
        30_000,
      );
    }
    const { rows } = await world.database.query(`select state, count(*)::int from push_operation group by state`);
    expect(rows.map(({ state }) => state)).toEqual(['Completed']);
  },
  (FAULT_SEC + 90) * 1000,
);
