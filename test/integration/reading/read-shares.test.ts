/** How accounts share the database connections and the memory for reads, and the limits for slow clients (R-A14). */
import { once } from 'node:events';
import type { ClientHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { status as GrpcStatus } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createGrpcReader } from '../../support/clients/grpc-client.ts';
import { openUnread, openUnreadCall } from '../../support/clients/unread-reads.ts';
import { eventually } from '../../support/eventually.ts';
import { addStoredSource, addStoredVariables } from '../../support/fixtures/stored-structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const PER_ACCOUNT = 2;
const WAITERS = 100;
/** Number of points in a large answer: their data exceed the read-ahead memory plus the socket buffers. */
const MANY = 400_000;
/** Number of points in a small answer: their data exceed the socket buffers, but fit into the read-ahead memory. */
const FEW = 60_000;

let api: TestApi;
/** Variables: `many` (MANY points) and `few` (FEW points) of one account, `others` (MANY points) of another account. */
let many: number;
let few: number;
let others: number;

async function addPoints(accountId: number, counts: readonly number[]): Promise<readonly number[]> {
  const sourceId = await addStoredSource(api.database, accountId);
  const variableIds = await addStoredVariables(api.database, { accountId, sourceId }, { count: counts.length });
  await api.database.query(
    `insert into point select timestamptz '2020-01-01' + n * interval '1 minute', n, now(), variable_id, 0, 0
     from unnest($1::int[], $2::int[]) wanted (variable_id, points), generate_series(1, points) n`,
    [variableIds, counts],
  );
  return variableIds;
}

const opened: (Socket | ClientHttp2Session)[] = [];
const leave = async (): Promise<void> => {
  for (const connection of opened.splice(0)) connection.destroy();
  await eventually('the end of every read', async () => (await openReads()) === 0);
};

const openReads = async (): Promise<number> => {
  const { rowCount } = await api.database.query(
    `select from pg_stat_activity
     where datname = current_database() and application_name = 'tidemark' and state <> 'idle' and query like 'copy (%'`,
  );
  return rowCount ?? 0;
};

async function readUnread(variableId: number, token = api.manager.token): Promise<Socket> {
  const socket = await openUnread(api.origin, `/data?variableId=${variableId}`, token);
  opened.push(socket);
  return socket;
}

const callUnread = (): void => {
  opened.push(openUnreadCall(api.grpcAddress, { variableIds: [many] }, api.manager.token));
};

const times = (count: number, work: () => unknown): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, () => work()));

describe('read shares: connections', () => {
  beforeAll(async () => {
    api = await startTestApi({
      READ_POOL_SIZE: String(2 * PER_ACCOUNT - 1),
      READ_MAX_PER_ACCOUNT: String(PER_ACCOUNT),
    });
    [many = 0, few = 0] = await addPoints(api.accountId, [MANY, FEW]);
    [others = 0] = await addPoints(api.otherAccountId, [MANY]);
  });
  afterEach(leave);
  afterAll(() => api?.close());

  test.each([
    ['REST', () => readUnread(many)],
    ['gRPC', callUnread],
  ])(
    'when the clients of one account do not read their answers (sent over %s), another account can still read points (R-A14)',
    async (_, open) => {
      await times(4 * PER_ACCOUNT, open);
      await eventually('the share of the account to be used up', async () => (await openReads()) === PER_ACCOUNT);
      for (let read = 0; read < 5; read += 1) {
        const { status } = await api.stranger.get(`/data?variableId=${others}&itemsPerPage=10&pageNumber=0`);
        expect(status).toBe(200);
      }
      expect(await openReads()).toBe(PER_ACCOUNT);
    },
  );

  test('an account that already has the maximum number of waiting reads gets 429 with Retry-After over REST and RESOURCE_EXHAUSTED over gRPC; another account can still read (R-A14)', async () => {
    await times(PER_ACCOUNT + WAITERS, () => readUnread(many));
    await eventually('the waiting reads', async () => api.parts.reads.waiting() === WAITERS);
    const refused = await api.manager.get<{ code: string }>(`/data?variableId=${few}`);
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(refused.headers.get('retry-after')).toBe('2');
    const reader = createGrpcReader(api.grpcAddress, api.manager.token);
    const failure = await reader.refusalOf({ variableIds: [few] }).finally(() => reader.close());
    expect(failure).toMatchObject({ code: GrpcStatus.RESOURCE_EXHAUSTED, reason: 'rate_limited' });
    expect((await api.stranger.get(`/data?variableId=${others}&itemsPerPage=1&pageNumber=0`)).status).toBe(200);
  });

  test('an unread answer releases its database connection if the answer fits in the read-ahead memory; a later read then succeeds (R-A14)', async () => {
    await times(3 * PER_ACCOUNT, () => readUnread(few));
    await eventually('the end of their statements', async () => (await openReads()) === 0);
    const { status, body } = await api.manager.get<readonly unknown[]>(`/data?variableId=${few}`);
    expect({ status, points: body.length }).toEqual({ status: 200, points: FEW });
  });

  test('a stalled read loses its database connection while another account waits for one (R-A14)', async () => {
    await times(PER_ACCOUNT, () => readUnread(many));
    await times(PER_ACCOUNT - 1, () => readUnread(others, api.stranger.token));
    await eventually('every connection to be used', async () => (await openReads()) === 2 * PER_ACCOUNT - 1);
    const { status } = await api.stranger.get(`/data?variableId=${others}&itemsPerPage=10&pageNumber=0`);
    expect(status).toBe(200);
  });
});

describe('read shares: slow clients', () => {
  beforeAll(async () => {
    api = await startTestApi({ READ_STALL_SEC: '1' });
    [many = 0, few = 0] = await addPoints(api.accountId, [MANY, FEW]);
  });
  afterEach(leave);
  afterAll(() => api?.close());

  const openAnswers = async (): Promise<number> => {
    const [, count] = /^tidemark_read_open_streams (\d+)$/m.exec(await api.parts.metrics.text()) ?? [];
    return Number(count);
  };

  test('the answer to a client that reads nothing is aborted after READ_STALL_SEC, even when the answer is already in memory (R-A14)', async () => {
    const sockets = [await readUnread(many), await readUnread(few)];
    await eventually('the answers to begin', async () => (await openAnswers()) === 2);
    await eventually('the answers to end', async () => (await openAnswers()) === 0, 5000);
    for (const socket of sockets) {
      socket.resume();
      if (!socket.destroyed) await once(socket, 'close');
      expect(socket.bytesRead).toBeLessThan(FEW * 100);
    }
  });
});
