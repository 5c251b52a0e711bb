/**
 * Fairness of saving declarations: account A saves declarations with 500 inputs, eight at a time. Meanwhile, account B
 * saves a declaration with one input.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createTestClient } from '../../../support/clients/test-client.ts';
import { addStoredSource, addStoredVariables } from '../../../support/fixtures/stored-structure.ts';
import { calculated } from '../../../support/fixtures/structure.ts';
import { type FairnessAccount, type FairnessService, fairnessCase } from '../fairness-case.ts';

const SAVERS = 8;
const INPUTS = 500;
const SETTLE_MS = 1000;

export const declarations = fairnessCase({
  resource: 'declarations',
  roles: ['api'],
  prepare: async (service) => {
    const { accountA, accountB, http } = service;
    const { path, ids } = await addVariables(service, accountB, 2);
    const [own = 0, input = 0] = ids;
    return {
      load: { http, token: accountA.api.token, ...(await addVariables(service, accountA, INPUTS + SAVERS)) },
      operation: async () => {
        await accountB.api.call('PATCH', `${path}/${own}`, [replacement([input])], PATCH);
      },
    };
  },
  startLoad: async ({ http, token, path, ids }, answered) => {
    const client = createTestClient(http, token);
    const inputs = ids.slice(SAVERS);
    let isStopped = false;
    const repeat = async (id: number) => {
      while (!isStopped) {
        await client.send('PATCH', `${path}/${id}`, [replacement(inputs)], PATCH).catch(() => {});
        answered();
      }
    };
    const work = ids.slice(0, SAVERS).map(repeat);
    await wait(SETTLE_MS);
    return async () => {
      isStopped = true;
      await Promise.all(work);
    };
  },
});

/**
 * Number of saves so far. Each save derives the period of the declaration from this number, so that the declaration
 * differs from the saved one. Otherwise, the service would not check the declaration again.
 */
let saves = 0;
const PATCH = { headers: { 'content-type': 'application/json-patch+json' } };

function replacement(inputs: readonly number[]) {
  saves += 1;
  const period = 1 + (saves % 1000);
  const variables = inputs.map((variableId, index) => ({
    ...{ alias: `a${index}`, variableId, period, periodTimeBase: 'Hour' },
  }));
  return { op: 'add', path: '/calculated', value: calculated('a0', variables) };
}

async function addVariables({ database }: FairnessService, { accountId }: FairnessAccount, count: number) {
  const sourceId = await addStoredSource(database, accountId);
  const ids = await addStoredVariables(database, { accountId, sourceId }, { count });
  return { path: `/sources/${sourceId}/variables`, ids };
}
