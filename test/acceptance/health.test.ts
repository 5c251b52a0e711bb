/**
 * Roles without the HTTP API answer `/health` on HEALTH_PORT. The answer shows the parts that the role needs, and which
 * of these parts are down (R-A9).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTcpGate, type TcpGate } from '../support/doubles/tcp-gate.ts';
import { eventually } from '../support/eventually.ts';
import { createWorld, type World } from '../support/fixtures/world.ts';
import { descendantsOf, signalAll } from '../support/processes.ts';
import { type RoleProcess, startRoles } from '../support/services/role-process.ts';
import { testRRoot } from '../support/services/stack.ts';

let world: World;
let databaseGate: TcpGate;
let redisGate: TcpGate;
let calculator: RoleProcess;
let ingester: RoleProcess;

beforeAll(async () => {
  world = await createWorld();
  const { DATABASE_URL = '', REDIS_URL = '' } = world.environment;
  [databaseGate, redisGate] = [await openTcpGate(DATABASE_URL), await openTcpGate(REDIS_URL)];
  const gates = { DATABASE_URL: databaseGate.url, REDIS_URL: redisGate.url, HEALTH_PORT: '0' };
  [calculator, ingester] = await Promise.all([
    startRoles(['calculator'], { ...world.environment, ...gates, R_ROOT: testRRoot() }),
    startRoles(['ingester'], { ...world.environment, ...gates }),
  ]);
}, 60_000);

afterAll(async () => {
  await Promise.all([calculator?.kill(), ingester?.kill()]);
  await Promise.all([databaseGate?.shut(), redisGate?.shut()]);
  await world?.close();
});

async function ready({ health }: RoleProcess) {
  const answer = await fetch(`${health}/health/ready`);
  const body = (await answer.json()) as { status: string; checks: Readonly<Record<string, string>> };
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    retryAfter: answer.headers.get('retry-after'),
    body,
  };
}

describe('health: readiness (R-A9)', () => {
  test('lists the parts that the role needs: R for a calculator, not for an ingester', async () => {
    expect(await ready(calculator)).toMatchObject({
      ...{ status: 200, type: 'application/json', retryAfter: null },
      body: { status: 'up', checks: { database: 'up', queue: 'up', r: 'up' } },
    });
    expect((await ready(ingester)).body).toEqual({
      status: 'up',
      checks: { database: 'up', queue: 'up', progress: 'up' },
    });
  });

  test('while R hangs, a calculator answers 503 and reports that R is down', async () => {
    const processes = descendantsOf(calculator.pid);
    try {
      expect(signalAll(processes, 'SIGSTOP')).toBeGreaterThan(0);
      const hanging = await eventually('readiness to report R', async () => {
        const answer = await ready(calculator);
        return answer.status === 503 && answer;
      });
      expect(hanging).toMatchObject({
        ...{ type: 'application/json', retryAfter: expect.stringMatching(/^\d+$/) },
        body: { status: 'down', checks: { database: 'up', queue: 'up', r: 'down' } },
      });
    } finally {
      signalAll(processes, 'SIGCONT');
    }
    await eventually('R to work again', async () => (await ready(calculator)).status === 200);
  }, 60_000);

  test.each([
    ['503 (down) while the database is unavailable', 'database', () => databaseGate, { status: 503, state: 'down' }],
    ['200 (degraded) while Redis is unavailable', 'queue', () => redisGate, { status: 200, state: 'degraded' }],
  ] as const)(
    'on a calculator and on an ingester, /health/ready answers %s; /health/live still answers 200',
    async (_title, name, gate, expected) => {
      await gate().shut();
      for (const role of [calculator, ingester]) {
        const answer = await eventually(`${name} to be reported`, async () => {
          const found = await ready(role);
          return found.body.status === expected.state && found;
        });
        expect(answer.status).toBe(expected.status);
        const down = Object.entries(answer.body.checks).flatMap(([check, state]) => (state === 'down' ? [check] : []));
        expect(down).toEqual([name]);
        expect((await fetch(`${role.health}/health/live`)).status).toBe(200);
      }
      await gate().open();
      for (const role of [calculator, ingester])
        await eventually('readiness', async () => (await ready(role)).body.status === 'up');
    },
    60_000,
  );
});
