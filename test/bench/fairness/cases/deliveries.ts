/**
 * Deliveries of webhooks: the receivers of account A never answer, and each push of account A causes 60 messages.
 * Account B pushes a reading and waits until its receiver has the message.
 */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../../../src/platform/database/database.ts';
import { createTestClient } from '../../../support/clients/test-client.ts';
import { addStoredSource, addStoredVariables } from '../../../support/fixtures/stored-structure.ts';
import { type FairnessAccount, fairnessCase } from '../fairness-case.ts';

const WEBHOOKS = 60;
const PUSH_PAUSE_MS = 100;
const SETTLE_MS = 3000;
const MAX_WAIT_MS = 60_000;

export const deliveries = fairnessCase({
  resource: 'deliveries',
  roles: ['api', 'ingester', 'deliverer'],
  prepare: async ({ database, accountA, accountB, http }) => {
    let received = Promise.withResolvers<void>();
    const answering = await listen((_request, response) => {
      response.end();
      received.resolve();
    });
    const silent = await listen(() => {});
    await addWebhooks(database, accountA, silent, WEBHOOKS);
    await addWebhooks(database, accountB, answering, 1);
    const own = await addVariable(database, accountB);
    let minute = 0;
    return {
      load: { http, token: accountA.api.token, variableId: await addVariable(database, accountA) },
      operation: async () => {
        minute += 1;
        received = Promise.withResolvers<void>();
        await accountB.api.call('POST', '/api/data', [reading(own, minute)]);
        const timer = setTimeout(() => received.reject(new Error('no delivery within a minute')), MAX_WAIT_MS);
        await received.promise.finally(() => clearTimeout(timer));
      },
      settle: async () => {
        await database.query(
          `delete from webhook_attempt where webhook_id in (select id from webhook where account_id = $1)`,
          [accountA.accountId],
        );
      },
    };
  },
  startLoad: async ({ http, token, variableId }, answered) => {
    const client = createTestClient(http, token);
    let isStopped = false;
    const repeat = async () => {
      for (let minute = 0; !isStopped; minute += 1) {
        await client.post('/api/data', [reading(variableId, minute)]).catch(() => {});
        answered();
        await wait(PUSH_PAUSE_MS);
      }
    };
    const work = repeat();
    await wait(SETTLE_MS);
    return async () => {
      isStopped = true;
      await work;
    };
  },
});

function reading(variableId: number, minute: number) {
  return {
    variableId,
    data: [{ date: new Date(Date.UTC(2026, 0, 1) + 60_000 * minute).toISOString(), value: minute }],
  };
}

/** Starts a receiver, which does not keep the process of the bench alive. @returns the URL of the receiver. */
async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

async function addWebhooks(database: Database, { accountId }: FairnessAccount, url: string, count: number) {
  await database.query(
    `insert into webhook (account_id, name, url, event_type, secret)
     select $1, 'fair ' || n, $2, 'DataPointsWritten', $3 from generate_series(1, $4::int) n`,
    [accountId, url, `whsec_${Buffer.alloc(32, 7).toString('base64')}`, count],
  );
}

async function addVariable(database: Database, { accountId }: FairnessAccount): Promise<number> {
  const sourceId = await addStoredSource(database, accountId);
  const [variableId = 0] = await addStoredVariables(database, { accountId, sourceId });
  return variableId;
}
