/**
 * Starts roles for tests of faulty networks. The roles reach the database and Redis through TCP proxies (tcp-gate.ts).
 * A calculated variable returns twice the value of an input variable. Each `GatedService` has its own database.
 */
import { openTcpGate, type TcpGate } from '../doubles/tcp-gate.ts';
import { eventually } from '../eventually.ts';
import { type ApiClient, signIn } from '../fixtures/sign-in.ts';
import { calculated, createSiteAndSource, createVariable } from '../fixtures/structure.ts';
import { createWorld } from '../fixtures/world.ts';
import { type RoleEnvironment, type RoleProcess, startRoles } from './role-process.ts';
import { testRRoot } from './stack.ts';

const SCRIPT =
  'ts <- inputVariables$a$TimeSeries; list(TimeSeries = data.frame(Dates = ts$Dates, Values = 2 * ts$Values))';

export interface GatedService {
  readonly roles: RoleProcess;
  readonly api: ApiClient;
  readonly databaseGate: TcpGate;
  readonly redisGate: TcpGate;
  /** Pushes one point: the nth push sends the value n at hour n. @returns the answer. */
  push(): ReturnType<ApiClient['post']>;
  /** Repeats a push until it is accepted, and then waits for the computed point. */
  expectPushToBeComputed(withinMs: number): Promise<void>;
  /** Waits until the computed points have these values. */
  expectComputed(...values: readonly number[]): Promise<void>;
  readiness(): Promise<{ readonly status: string; readonly checks: Readonly<Record<string, string>> }>;
  /** Waits until readiness has this status. */
  expectReadiness(status: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts the roles api, ingester and calculator in one process that reaches the database and Redis through gates.
 * @param names list of further roles that the process has.
 */
export async function startGatedService(
  names: readonly string[] = [],
  environment: RoleEnvironment = {},
): Promise<GatedService> {
  const world = await createWorld();
  const { DATABASE_URL = '', REDIS_URL = '' } = world.environment;
  const [databaseGate, redisGate] = [await openTcpGate(DATABASE_URL), await openTcpGate(REDIS_URL)];
  const urls = { DATABASE_URL: databaseGate.url, REDIS_URL: redisGate.url, R_ROOT: testRRoot() };
  const roles = await startRoles(['api', 'ingester', 'calculator', ...names], {
    ...world.environment,
    ...urls,
    ...environment,
  });
  const api = await signIn(roles.http);
  const { sourceId } = await createSiteAndSource(api);
  const input = await createVariable(api, sourceId);
  const inputs = [{ alias: 'a', variableId: input, period: 1, periodTimeBase: 'Minute' }];
  const doubled = await createVariable(api, sourceId, { calculated: calculated(SCRIPT, inputs) });
  let hour = 0;
  const dateOf = (value: number) => `2026-03-01T${String(value).padStart(2, '0')}:00:00Z`;
  const push = (value: number) =>
    api.post('/api/data', [{ variableId: input, data: [{ date: dateOf(value), value }] }]);
  const computedFrom = async (date: string) => {
    const { status, body } = await api.get<{ rawValue: number }[]>(`/data?variableId=${doubled}&from=${date}`);
    return status === 200 ? body.map(({ rawValue }) => rawValue) : [];
  };
  const readiness: GatedService['readiness'] = async () =>
    (await api.get<Awaited<ReturnType<GatedService['readiness']>>>('/health/ready')).body;
  return {
    ...{ roles, api, databaseGate, redisGate, readiness },
    push: () => {
      hour += 1;
      return push(hour);
    },
    expectPushToBeComputed: async (withinMs) => {
      hour += 1;
      const deadlineMs = performance.now() + withinMs;
      await eventually('an accepted push', async () => (await push(hour)).status === 200, withinMs);
      const isComputed = async () => (await computedFrom(dateOf(hour)))[0] === 2 * hour;
      await eventually('the computed point', isComputed, deadlineMs - performance.now());
    },
    expectComputed: async (...values) => {
      const expected = values.join();
      await eventually(expected, async () => (await computedFrom(dateOf(0))).join() === expected, 25_000);
    },
    expectReadiness: async (status) => {
      await eventually(`readiness ${status}`, async () => (await readiness()).status === status);
    },
    close: async () => {
      await roles.kill();
      await Promise.all([databaseGate.shut(), redisGate.shut()]);
      await world.close();
    },
  };
}
