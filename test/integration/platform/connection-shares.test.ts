/** Tests how accounts share the connections of the general pool (R-A14). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, withTransaction } from '../../../src/platform/database/database.ts';
import { createLog } from '../../../src/platform/log.ts';
import { runForAccount, shareConnections } from '../../../src/platform/shares/connection-shares.ts';
import { createGrpcReader } from '../../support/clients/grpc-client.ts';
import { eventually } from '../../support/eventually.ts';
import { createSite, createStructure } from '../../support/fixtures/structure.ts';
import { BEGIN_HOLDING } from '../../support/services/stack.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const POOL = 12;
const PER_ACCOUNT = 6;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ DATABASE_POOL_SIZE: String(POOL), DATABASE_MAX_PER_ACCOUNT: String(PER_ACCOUNT) });
}, 60_000);
afterAll(() => api?.close());

const countWaiting = async (): Promise<number> => {
  const { rowCount } = await api.database.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rowCount ?? 0;
};

describe('shares of the database connections', () => {
  test('reads, structure changes and pushes of one account are answered while slow requests use up the share of another account (R-A14)', async () => {
    const siteId = await createSite(api.manager);
    const holder = await api.database.connect();
    await holder.query(BEGIN_HOLDING);
    await holder.query('select from site where id = $1 for update', [siteId]);
    const slow = Array.from({ length: 3 * POOL }, (_, index) =>
      api.manager.send('PUT', `/sites/${siteId}`, { name: `slow ${index}` }),
    );
    try {
      await eventually('the share of the account to be used up', async () => (await countWaiting()) === PER_ACCOUNT);
      for (let round = 0; round < 5; round += 1) {
        const own = await createStructure(api.stranger);
        expect((await api.stranger.get(`/sites/${own.siteId}`)).status).toBe(200);
        const data = [{ date: '2026-01-01T00:00:00Z', value: round }];
        expect((await api.stranger.post('/api/data', [{ variableId: own.variableId, data }])).status).toBe(200);
      }
      expect(await countWaiting()).toBe(PER_ACCOUNT);
    } finally {
      await holder.query('commit');
      holder.release();
    }
    const statuses = (await Promise.all(slow)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([204]));
  }, 30_000);

  test('gRPC calls of one account hold at most the share of the account, also while they look up variables (R-A14)', async () => {
    const { variableId } = await createStructure(api.manager);
    const reader = createGrpcReader(api.grpcAddress, api.manager.token);
    const holder = await api.database.connect();
    await holder.query(BEGIN_HOLDING);
    await holder.query('lock table variable in access exclusive mode');
    const calls = Array.from({ length: POOL }, () => reader.listVersions({ variableId }));
    try {
      await eventually('the share of the account to be used up', async () => (await countWaiting()) >= PER_ACCOUNT);
      expect((await api.stranger.get('/account/user/accounts')).status).toBe(200);
      expect(await countWaiting()).toBe(PER_ACCOUNT);
    } finally {
      await holder.query('commit');
      holder.release();
    }
    expect(await Promise.all(calls)).toHaveLength(POOL);
    reader.close();
  }, 30_000);

  test('requests that hold a connection and need a second one do not deadlock (R-A14)', async () => {
    const log = createLog('silent', 'test');
    const database = openDatabase({ url: api.parts.config.DATABASE_URL, poolSize: 4, applicationName: 'test', log });
    shareConnections(database, { permits: 3, permitsPerAccount: 2 });
    const request = (accountId: number) =>
      runForAccount(accountId, () =>
        withTransaction(database, async (transaction) => {
          await transaction.query('select pg_sleep(0.05)');
          return (await database.query<{ one: number }>('select 1 as one')).rows[0]?.one;
        }),
      );
    const answers = await Promise.all([1, 1, 1, 1, 2, 2].map(request));
    expect(answers).toEqual([1, 1, 1, 1, 1, 1]);
    expect(database.waitingCount).toBe(0);
    await database.end();
  });

  test('a request keeps its permit until it has released its last connection (R-A14)', async () => {
    const log = createLog('silent', 'test');
    const database = openDatabase({ url: api.parts.config.DATABASE_URL, poolSize: 4, applicationName: 'test', log });
    shareConnections(database, { permits: 1, permitsPerAccount: 1 });
    const ended: string[] = [];
    const { promise: isFirstReleased, resolve } = Promise.withResolvers<void>();
    const first = runForAccount(1, async () => {
      const one = await database.connect();
      const two = await database.connect();
      one.release();
      resolve();
      await two.query('select pg_sleep(0.2)');
      ended.push('first');
      two.release();
    });
    await isFirstReleased;
    const second = runForAccount(1, () => database.query('select 1').then(() => ended.push('second')));
    await Promise.all([first, second]);
    expect(ended).toEqual(['first', 'second']);
    await database.end();
  });

  test('a failed connection gives its permit back (R-A14)', async () => {
    const log = createLog('silent', 'test');
    const url = 'postgres://nobody@127.0.0.1:1/nothing';
    const database = openDatabase({ url, poolSize: 4, applicationName: 'test', log });
    shareConnections(database, { permits: 2, permitsPerAccount: 1 });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(runForAccount(1, () => database.query('select 1'))).rejects.toThrow('ECONNREFUSED');
    }
    await database.end();
  });
});
