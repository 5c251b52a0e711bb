/**
 * Password checks: eight clients constantly guess the HTTP Basic password of a device of account B. Meanwhile the
 * device pushes single readings. Account A causes no load.
 */
import { randomUUID } from 'node:crypto';
import { createTestClient } from '../../../support/clients/test-client.ts';
import { addUser, PASSWORD } from '../../../support/fixtures/accounts.ts';
import { addStoredSource, addStoredVariables } from '../../../support/fixtures/stored-structure.ts';
import { fairnessCase } from '../fairness-case.ts';

const GUESSERS = 8;
const DEVICE = 'device-b@example.test';

const basic = (password: string) => ({
  authorization: `Basic ${Buffer.from(`${DEVICE}:${password}`).toString('base64')}`,
});

export const passwords = fairnessCase({
  resource: 'passwords',
  operations: 200,
  roles: ['api', 'ingester'],
  prepare: async ({ database, accountB: { accountId }, http }) => {
    // Because a password is given, `addUser` hashes it with the cost parameters of the product.
    await addUser(database, DEVICE, { password: PASSWORD, role: 'MANAGER', accountIds: [accountId], mayPush: true });
    const sourceId = await addStoredSource(database, accountId);
    const [variableId] = await addStoredVariables(database, { accountId, sourceId });
    const client = createTestClient(http);
    let minutes = 0;
    return {
      load: { http },
      operation: async () => {
        minutes += 1;
        const date = new Date(Date.UTC(2026, 0, 1) + 60_000 * minutes).toISOString();
        const { status, body } = await client.post(
          '/api/data',
          [{ variableId, data: [{ date, value: minutes }] }],
          basic(PASSWORD),
        );
        if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
      },
    };
  },
  startLoad: async ({ http }, answered) => {
    const client = createTestClient(http);
    let isStopped = false;
    const guess = async () => {
      while (!isStopped) {
        await client.post('/api/data', [], basic(`wrong ${randomUUID()}`)).catch(() => {});
        answered();
      }
    };
    const work = Array.from({ length: GUESSERS }, guess);
    return async () => {
      isStopped = true;
      await Promise.all(work);
    };
  },
});
