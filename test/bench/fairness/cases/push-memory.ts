/**
 * Tests the fairness of the memory for push bodies. Account A opens pushes that announce 50 MiB each, until this memory
 * is used up. Then account B pushes one reading.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { openStalledBody } from '../../../support/clients/stalled-body.ts';
import { addStoredSource, addStoredVariables } from '../../../support/fixtures/stored-structure.ts';
import { fairnessCase } from '../fairness-case.ts';

const BODIES = 20;
const ANNOUNCED_BYTES = 50 << 20;
/**
 * Number of bytes sent of each body before the body stalls. The sent bytes of all bodies together exceed the default of
 * PUSH_MAX_MEMORY_BYTES.
 */
const SENT_BYTES = 10 << 20;
const SETTLE_MS = 2000;

export const pushMemory = fairnessCase({
  resource: 'push memory',
  roles: ['api', 'ingester'],
  prepare: async ({ database, accountA, accountB, http }) => {
    const sourceId = await addStoredSource(database, accountB.accountId);
    const [variableId] = await addStoredVariables(database, { accountId: accountB.accountId, sourceId });
    let minutes = 0;
    return {
      load: { http, token: accountA.api.token },
      operation: async () => {
        minutes += 1;
        const date = new Date(Date.UTC(2026, 0, 1) + 60_000 * minutes).toISOString();
        await accountB.api.call('POST', '/api/data', [{ variableId, data: [{ date, value: minutes }] }]);
      },
    };
  },
  startLoad: async ({ http, token }) => {
    const stalled = { url: `${http}/api/data`, token, type: 'application/json' };
    const bodies = Array.from({ length: BODIES }, () =>
      openStalledBody({ ...stalled, announcedBytes: ANNOUNCED_BYTES, sentBytes: SENT_BYTES }),
    );
    await wait(SETTLE_MS);
    return async () => {
      for (const body of bodies) body.destroy();
      await wait(SETTLE_MS);
    };
  },
});
