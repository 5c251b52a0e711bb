/**
 * One user of account A constantly sends requests over REST, push and gRPC, even after refusals.
 * Account B sends `GET /account`.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createGrpcReader } from '../../../support/clients/grpc-client.ts';
import { createTestClient } from '../../../support/clients/test-client.ts';
import { fairnessCase } from '../fairness-case.ts';

const CONNECTIONS_EACH = 4;
const TOO_MANY = 429;
const MAX_WAIT_MS = 60_000;

export const requests = fairnessCase({
  resource: 'requests',
  operations: 200,
  roles: ['api', 'grpc'],
  prepare: async ({ accountA, accountB, http, grpc }) => ({
    load: { http, grpc, token: accountA.api.token },
    operation: async () => {
      await accountB.api.call('GET', '/account');
    },
  }),
  startLoad: async ({ http, grpc, token }, answered) => {
    const api = createTestClient(http, token);
    const reader = createGrpcReader(grpc, token);
    let isStopped = false;
    let refused = 0;
    const repeat = async (send: () => Promise<unknown>) => {
      while (!isStopped) {
        await send().catch(() => {});
        answered();
      }
    };
    const count = async (answer: Promise<{ readonly status: number }>) => {
      if ((await answer).status === TOO_MANY) refused += 1;
    };
    const work = Array.from({ length: CONNECTIONS_EACH }, () => [
      repeat(() => count(api.send('GET', '/account'))),
      repeat(() => count(api.send('POST', '/api/data', []))),
      repeat(() => reader.readLast({ variableIds: [1] })),
    ]).flat();
    for (let waitedMs = 0; refused < CONNECTIONS_EACH && waitedMs < MAX_WAIT_MS; waitedMs += 100) await wait(100);
    return async () => {
      isStopped = true;
      await Promise.all(work);
      reader.close();
    };
  },
});
