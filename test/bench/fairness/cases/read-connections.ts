/**
 * Account A sends more read requests than there are database connections for reads, and leaves every answer unread.
 * Meanwhile, account B reads 96 points.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { openUnread, openUnreadCall } from '../../../support/clients/unread-reads.ts';
import { addStoredSource, addStoredVariables } from '../../../support/fixtures/stored-structure.ts';
import { type FairnessAccount, type FairnessService, fairnessCase } from '../fairness-case.ts';

/** Number of read requests of account A per protocol: twice the default of READ_POOL_SIZE. */
const READS = 20;
/** Number of points per request of account A: too many for the socket buffers of client and server. */
const POINTS_OF_A = 1_000_000;
const POINTS_OF_B = 96;
/** Pause after which each read request of account A either holds a database connection or waits for one. */
const SETTLE_MS = 1000;

export const readConnections = fairnessCase({
  resource: 'read connections',
  roles: ['api', 'grpc'],
  prepare: async (service) => {
    const { accountA, accountB, http, grpc } = service;
    const wanted = await storePoints(service, accountA, POINTS_OF_A);
    const own = await storePoints(service, accountB, POINTS_OF_B);
    return {
      load: { http, grpc, token: accountA.api.token, wanted },
      operation: async () => {
        const rows = await accountB.api.call<readonly unknown[]>('GET', `/data?variableId=${own}`);
        if (rows.length !== POINTS_OF_B) throw new Error(`expected ${POINTS_OF_B} points, got ${rows.length}`);
      },
    };
  },
  startLoad: async ({ http, grpc, token, wanted }) => {
    const sockets = await Promise.all(
      Array.from({ length: READS }, () => openUnread(http, `/data?variableId=${wanted}`, token)),
    );
    const sessions = Array.from({ length: READS }, () => openUnreadCall(grpc, { variableIds: [wanted] }, token));
    await wait(SETTLE_MS);
    return async () => {
      for (const socket of sockets) socket.destroy();
      for (const session of sessions) session.destroy();
      await wait(SETTLE_MS);
    };
  },
});

/** @returns the id of a new variable that has `count` points, one for each minute. */
async function storePoints({ database }: FairnessService, { accountId }: FairnessAccount, count: number) {
  const sourceId = await addStoredSource(database, accountId);
  const [variableId = 0] = await addStoredVariables(database, { accountId, sourceId });
  await database.query(
    `insert into point select timestamptz '2024-01-01' + n * interval '1 minute', n, now(), $1, 0, 0
     from generate_series(1, $2::int) n`,
    [variableId, count],
  );
  return variableId;
}
