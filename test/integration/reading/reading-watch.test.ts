/** `GET /data/watch` (R-J1, R-J2, R-A14): points as server-sent events; the limits of gRPC's `WatchPoints` apply. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type EventStream, openEventStream } from '../../support/clients/event-stream.ts';
import { createGrpcReader } from '../../support/clients/grpc-client.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { openUnread } from '../../support/clients/unread-reads.ts';
import { openWatcher } from '../../support/clients/watcher.ts';
import { eventually } from '../../support/eventually.ts';
import { addStoredSeries } from '../../support/fixtures/stored-points.ts';
import { createSite, createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const MAX_VARIABLES = 3;
const MAX_PER_USER = 3;
/** Maximum number of open watches in the process; one account may have at most half of this number. */
const MAX_WATCHES = 8;
const MANY = 200_000;
const MAX_SEC = 6;

let api: TestApi;
let structure: Awaited<ReturnType<typeof createStructure>>;
let theirRequest: string;
/** A watch that ends after MAX_SEC. The last test waits for this end, so the watch is opened first. */
let oldest: EventStream;
const open: { close(): void }[] = [];

beforeAll(async () => {
  // No relay runs here, so no notification arrives. A watch therefore finds new points by polling.
  api = await startTestApi({
    WATCH_POLL_MS: '100',
    WATCH_HEARTBEAT_MS: '1000',
    WATCH_MAX_VARIABLES: String(MAX_VARIABLES),
    WATCH_MAX_PER_USER: String(MAX_PER_USER),
    WATCH_MAX: String(MAX_WATCHES),
    READ_STALL_SEC: '2',
    READ_MAX_SEC: String(MAX_SEC),
  });
  structure = await createStructure(api.manager);
  theirRequest = `variableId=${(await createStructure(api.stranger)).variableId}`;
  oldest = await openEventStream(api.origin, `/data/watch?${theirRequest}`, api.stranger);
});
afterEach(() => {
  for (const it of open.splice(0)) it.close();
});
afterAll(() => api?.close());

async function watch(
  query: string,
  { token }: Pick<TestClient, 'token'> = api.manager,
  lastEventId?: string,
): Promise<EventStream> {
  const stream = await openEventStream(api.origin, `/data/watch?${query}`, { token, lastEventId });
  open.push(stream);
  return stream;
}

/** Opens a watch as soon as watches of earlier tests no longer count towards the limits. */
async function watchSoon(query: string, by: Pick<TestClient, 'token'> = api.manager): Promise<EventStream> {
  const stream = await eventually('a place', async () => {
    const tried = await watch(query, by);
    return tried.status === 429 ? undefined : tried;
  });
  expect(stream.refusal).toBeUndefined();
  await stream.begun();
  return stream;
}

async function push(variableId: number, values: readonly number[], version?: string): Promise<void> {
  const data = values.map((value) => ({
    date: new Date(Date.UTC(2026, 0, 1) + value * 60_000).toISOString(),
    value,
  }));
  expect((await api.manager.post('/api/data', [{ variableId, data, ...(version && { version }) }])).status).toBe(200);
  await api.ingest();
}

async function userIdOf(userName: string): Promise<string> {
  const { rows } = await api.database.query<{ id: string }>('select id from app_user where user_name = $1', [userName]);
  return rows[0]?.id ?? '';
}

describe('watch (server-sent events): delivery', () => {
  it('the stream sends points and their VersionTags in the JSON of `displayLevel=Columns`, and sends heartbeats with the cursor (R-J1)', async () => {
    const variableId = await createVariable(api.manager, structure.sourceId, { isVersioned: true });
    const stream = await watchSoon(`variableId=${variableId}`);
    expect(stream.events()[0]).toMatchObject({ event: 'cursor', data: {} });
    await push(variableId, [1, 2], 'a label\nof two lines');
    expect(await stream.until(2)).toMatchObject([
      { variableId, value: 1, version: 'a label\nof two lines' },
      { value: 2 },
    ]);
    const before = stream.events().length;
    await eventually('a heartbeat', async () =>
      stream
        .events()
        .slice(before)
        .some(({ event, id }) => event === 'cursor' && id === stream.cursor()),
    );
  });

  it('a watch resumes with Last-Event-ID without loss and without duplicates; gRPC resumes with the same cursor (R-J1)', async () => {
    const variableId = await createVariable(api.manager, structure.sourceId);
    const request = `variableId=${variableId}&fromBeginning=true`;
    const first = await watchSoon(request);
    await push(variableId, [1, 2, 3]);
    await first.until(3);
    first.close();
    await push(variableId, [4, 5]);
    // Rewrites a point that the first watch has already received.
    await push(variableId, [2]);
    const second = await watch(request, api.manager, first.cursor());
    expect((await second.until(3)).map(({ value }) => value).sort()).toEqual([2, 4, 5]);
    second.close();
    await push(variableId, [6]);
    const third = await watch(`${request}&cursor=${second.cursor()}`);
    expect((await third.until(1)).map(({ value }) => value)).toEqual([6]);
    const reader = createGrpcReader(api.grpcAddress, api.manager.token);
    open.push(reader);
    const cursor = Buffer.from(first.cursor() ?? '', 'base64url');
    const watcher = openWatcher(reader, { variableIds: [variableId], cursor });
    expect((await watcher.until(4)).map(({ value }) => value).sort()).toEqual([2, 4, 5, 6]);
    watcher.cancel();
  });
});

describe('watch (server-sent events): refusals', () => {
  it('a watch of a variable gets 404 when the caller has no access to the variable (R-B9, R-J2)', async () => {
    const elsewhere = await api.signIn('elsewhere', 'USER', { sites: [await createSite(api.manager)] });
    for (const client of [api.stranger, elsewhere]) {
      const refused = await watch(`variableId=${structure.variableId}`, client);
      expect([refused.status, refused.refusal?.message]).toEqual([
        404,
        `variable ${structure.variableId} does not exist`,
      ]);
    }
  });

  it('a watch gets 400 when the client altered the cursor or selects too many variables, and 401 without a token or with HTTP Basic (R-A5, R-B7)', async () => {
    const request = `variableId=${structure.variableId}`;
    const changed = await watch(request, api.manager, 'AQEA');
    expect([changed.status, changed.refusal?.message]).toEqual([
      400,
      'header Last-Event-ID must be the cursor of a watch message, unchanged',
    ]);
    const ids = await Promise.all(Array.from({ length: 4 }, () => createVariable(api.manager, structure.sourceId)));
    const many = await watch(`variableIds=${ids.join(',')}`);
    expect([many.status, many.refusal?.message]).toEqual([
      400,
      `query variableIds must select at most ${MAX_VARIABLES} variables, got 4`,
    ]);
    expect((await watch(request, { token: undefined })).status).toBe(401);
    const basic = { authorization: `Basic ${Buffer.from('max:password').toString('base64')}` };
    expect((await fetch(`${api.origin}/data/watch?${request}`, { headers: basic })).status).toBe(401);
  });

  it('a watch gets 429 when the user or the account already has the maximum number of watches (R-A14, R-J3)', async () => {
    const request = `variableId=${structure.variableId}`;
    const reader = createGrpcReader(api.grpcAddress, api.manager.token);
    open.push(reader);
    await eventually('a watch by gRPC', async () => {
      const watcher = openWatcher(reader, { variableIds: [structure.variableId] });
      return watcher.begun().then(
        () => true,
        () => false,
      );
    });
    for (let count = 1; count < MAX_PER_USER; count += 1) await watchSoon(request);
    const ofUser = await watch(request);
    expect([ofUser.status, ofUser.refusal?.code]).toEqual([429, 'rate_limited']);
    const second = await api.signIn('second', 'MANAGER');
    await watchSoon(request, second);
    const ofAccount = await watch(request, second);
    expect([ofAccount.status, ofAccount.refusal?.message]).toEqual([
      429,
      `an account may have at most ${MAX_WATCHES / 2} open watches on this server, and account ${api.accountId} has ` +
        `${MAX_WATCHES / 2}; close one of them, or retry later`,
    ]);
    const stream = await watch(theirRequest, api.stranger);
    await stream.begun();
    expect(stream.status).toBe(200);
  });
});

describe('watch (server-sent events): end of a stream', () => {
  it('a stream ends with the event `end` when site access is withdrawn or the user is locked (R-B5)', async () => {
    const request = `variableId=${structure.variableId}`;
    const [ungranted, locked] = [
      await api.signIn('ungranted', 'USER', { sites: [structure.siteId] }),
      await api.signIn('locked', 'USER', { sites: [structure.siteId] }),
    ];
    const streams = [await watchSoon(request, ungranted), await watchSoon(request, locked)];
    const id = await userIdOf('ungranted');
    expect((await api.manager.send('DELETE', `/account/user/${id}/sites`, [structure.siteId])).status).toBe(200);
    await api.manager.post(`/account/user/${await userIdOf('locked')}/lock`, { isLocked: true });
    expect((await streams[0]?.ended())?.data).toMatchObject({
      ...{ code: 'not_found', message: `variable ${structure.variableId} does not exist` },
      requestId: expect.any(String),
    });
    expect((await streams[1]?.ended())?.data).toMatchObject({ code: 'invalid_token' });
    for (const stream of streams) await stream.closed();
  });

  it('a stream ends when the client reads nothing for READ_STALL_SEC; then another watch can be opened, and no read of the database stays open (R-A14)', async () => {
    const variableId = await createVariable(api.manager, structure.sourceId);
    await addStoredSeries(api.database, variableId, MANY, { since: '2020-01-01Z', versionTimestamp: '2026-01-01Z' });
    const reader = await api.signIn('unread', 'MANAGER');
    const request = `variableId=${variableId}&fromBeginning=true`;
    for (let count = 0; count < MAX_PER_USER; count += 1) {
      const socket = await openUnread(api.origin, `/data/watch?${request}`, reader.token);
      open.push({ close: () => socket.destroy() });
    }
    await eventually(
      'the maximum number of watches',
      async () => (await watch(`variableId=${structure.variableId}`, reader)).status === 429,
    );
    let points: readonly unknown[] = [];
    let cursor: string | undefined;
    while (points.length < MANY) {
      const stream = await watchSoon(cursor === undefined ? request : `${request}&cursor=${cursor}`, reader);
      await eventually('points', async () => stream.points().length + points.length >= MANY || stream.isClosed());
      points = points.concat(stream.points().map(({ value }) => value));
      cursor = stream.cursor();
      stream.close();
    }
    expect(points.findIndex((value, index) => value !== index + 1)).toBe(-1);
    await eventually('no open read', async () => {
      const { rows } = await api.database.query(
        `select from pg_stat_activity where datname = current_database() and application_name = 'tidemark-watch' and state <> 'idle'`,
      );
      return rows.length === 0;
    });
  });

  it('a stream ends after READ_MAX_SEC, and another watch can resume with the last cursor of the stream (R-A14)', async () => {
    expect((await oldest.ended()).data).toMatchObject({
      ...{
        code: 'dependency_unavailable',
        message: `a watch may last at most ${MAX_SEC} s; call again with the last cursor`,
      },
    });
    const again = await watch(theirRequest, api.stranger, oldest.cursor());
    await again.begun();
    expect(again.status).toBe(200);
  });
});
