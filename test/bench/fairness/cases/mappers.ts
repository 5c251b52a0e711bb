/**
 * Fairness of mapper processes. Account A always has 12 pushes in progress, through a mapper that never ends. Account B
 * pushes through a mapper that returns no elements.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { addClaim } from '../../../../src/accounts/members/claims.ts';
import { createTestClient } from '../../../support/clients/test-client.ts';
import { type FairnessAccount, type FairnessService, fairnessCase } from '../fairness-case.ts';

const PUSHERS = 12;
const ENDLESS = '($f := function($x){ $f($x + 1) }; $f(0))';
const SETTLE_MS = 1500;

export const mappers = fairnessCase({
  resource: 'mappers',
  roles: ['api', 'ingester'],
  prepare: async (service) => {
    const { accountA, accountB, http } = service;
    const endless = await addMapper(service, accountA, ENDLESS);
    const own = await addMapper(service, accountB, '[]');
    return {
      load: { http, token: accountA.api.token, endless },
      operation: async () => {
        await accountB.api.call('POST', `/api/generic/${own}`, {});
      },
    };
  },
  startLoad: async ({ http, token, endless }, answered) => {
    const api = createTestClient(http, token);
    let isStopped = false;
    const repeat = async () => {
      while (!isStopped) {
        await api.send('POST', `/api/generic/${endless}`, {}).catch(() => {});
        answered();
      }
    };
    const pushers = Array.from({ length: PUSHERS }, repeat);
    await wait(SETTLE_MS);
    return async () => {
      isStopped = true;
      await Promise.all(pushers);
    };
  },
});

/** @returns the GUID of the new mapper. The URL of a push contains this GUID. */
async function addMapper(
  { database }: FairnessService,
  { accountId, userName, api }: FairnessAccount,
  expression: string,
): Promise<string> {
  const { rows } = await database.query<{ id: string }>('select id from app_user where user_name = $1', [userName]);
  await addClaim(database, { accountId, userId: rows[0]?.id ?? '', claimType: 'datapusher.custom' });
  const { id } = await api.call<{ id: string }>('POST', '/account/mappers', { name: 'm', expression });
  return id;
}
