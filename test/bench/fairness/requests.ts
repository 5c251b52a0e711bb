/**
 * Requests of one user: account A sends requests over REST, push and gRPC without a pause, and continues when it is refused.
 * Account B reads its account.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createGrpcReader } from '../../support/clients/grpc-client.ts';
import type { FairnessCase } from './fairness-case.ts';

const CONNECTIONS_EACH = 4;
const TOO_MANY = 429;
const MAX_WAIT_MS = 60_000;

export const requests: FairnessCase = {
  resource: 'requests',
  roles: ['api', 'grpc'],
  prepare: async ({ accountA: { api }, accountB, grpc }) => ({
    startLoad: async () => {
      const reader = createGrpcReader(grpc, api.token);
      let isStopped = false;
      let refused = 0;
      const repeat = async (send: () => Promise<unknown>) => {
        while (!isStopped) await send().catch(() => {});
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
    operation: async () => {
      await accountB.api.call('GET', '/account');
    },
  }),
};
