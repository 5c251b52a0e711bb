/** Long listings: account A lists its 50,000 variables in eight concurrent requests. Account B lists one variable. */
import { setTimeout as wait } from 'node:timers/promises';
import { addStoredSource, addStoredVariables } from '../../../support/fixtures/stored-structure.ts';
import { fairnessCase } from '../fairness-case.ts';

const READERS = 8;
const VARIABLES = 50_000;
const SETTLE_MS = 1000;

export const listings = fairnessCase({
  resource: 'listings',
  roles: ['api'],
  prepare: async ({ database, accountA, accountB, http }) => {
    for (const [{ accountId }, count] of [
      [accountA, VARIABLES],
      [accountB, 1],
    ] as const) {
      const sourceId = await addStoredSource(database, accountId);
      await addStoredVariables(database, { accountId, sourceId }, { count });
    }
    return {
      load: { http, token: accountA.api.token },
      operation: async () => {
        await accountB.api.call('GET', '/variables');
      },
    };
  },
  startLoad: async ({ http, token }, answered) => {
    const stopping = new AbortController();
    const headers = { authorization: `Bearer ${token}` };
    const read = async () => {
      while (!stopping.signal.aborted) {
        await fetch(`${http}/variables`, { headers, signal: stopping.signal })
          .then(async ({ body }) => {
            for await (const _piece of body ?? []);
          })
          .catch(() => {});
        answered();
      }
    };
    const work = Array.from({ length: READERS }, read);
    await wait(SETTLE_MS);
    return async () => {
      stopping.abort();
      await Promise.all(work);
    };
  },
});
