/** Tests what ends a watch, when a watch is refused, and which outages a watch survives (R-B5, R-J2, R-K2, R-K3). */
import type { Socket } from 'node:net';
import { status as GrpcStatus } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startGrpcServer } from '../../../src/grpc/start-grpc-server.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { POINT_LAYOUT } from '../../../src/points/read/read-points.ts';
import { AT_BEGINNING } from '../../../src/watching/cursor.ts';
import { coalesceRuns } from '../../../src/watching/semaphore.ts';
import { Watch, type WatchMessage, type WatchOptions } from '../../../src/watching/watch.ts';
import { createGrpcReader, type GrpcReader } from '../../support/clients/grpc-client.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { openWatcher, type Watcher } from '../../support/clients/watcher.ts';
import { eventually } from '../../support/eventually.ts';
import { addStoredSeries } from '../../support/fixtures/stored-points.ts';
import { createSite, createSource, createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { BEGIN_HOLDING } from '../../support/services/stack.ts';
import { type GatedTestApi, startGatedTestApi } from '../../support/services/start-api.ts';

const MANY = 300_000;
const MANY_SINCE = '2020-01-01T00:00:00Z';
const MANY_VERSION = '2026-01-01T00:00:00Z';
/** The position of a watch that has received the first MANY / 2 points. */
const HALF_WAY = {
  versionTimestamp: Date.parse(MANY_VERSION) * 1000,
  dateMicros: (Date.parse(MANY_SINCE) + (MANY / 2) * 60_000) * 1000,
};
const STALL_MS = 300;
const MAX_VARIABLES = 3;
const MAX_WATCHES = 5;

let api: GatedTestApi;
let reader: GrpcReader;
let structure: Awaited<ReturnType<typeof createStructure>>;
const open: { close(): void }[] = [];

beforeAll(async () => {
  // No relay runs here, so no notification arrives: a watch finds new points by polling.
  api = await startGatedTestApi({
    WATCH_POLL_MS: '200',
    WATCH_HEARTBEAT_MS: '1000',
    WATCH_MAX_VARIABLES: String(MAX_VARIABLES),
    WATCH_MAX_PER_USER: String(MAX_WATCHES),
    READ_STALL_SEC: '1',
  });
  reader = createGrpcReader(api.grpcAddress, api.manager.token);
  structure = await createStructure(api.manager);
});
afterEach(async () => {
  for (const it of open.splice(0)) it.close();
  await noneIsOpen();
});
afterAll(async () => {
  reader?.close();
  await api?.close();
});

interface OpenRead {
  readonly pid: number;
  /** True when the session waits for a lock on a table. */
  readonly waitsForTable: boolean;
}

/** @returns the database sessions in which a watch is reading points. */
async function openReads(): Promise<readonly OpenRead[]> {
  const { rows } = await api.database.query<OpenRead>(
    `select pid, wait_event is not distinct from 'relation' as "waitsForTable" from pg_stat_activity
     where datname = current_database() and application_name = 'tidemark-watch' and state <> 'idle'`,
  );
  return rows;
}

const noneIsOpen = () => eventually('no open read', async () => (await openReads()).length === 0);

/**
 * @returns the number of sessions that ended because of a lost connection or a fatal error. When a connection is lost
 * while rows are sent, PostgreSQL counts a fatal error.
 */
async function countCut(): Promise<number> {
  const { rows } = await api.database.query<{ cut: number }>(
    `select sessions_abandoned + sessions_fatal as cut from pg_stat_database where datname = current_database()`,
  );
  return rows[0]?.cut ?? 0;
}

function watch(request: object, by: GrpcReader = reader): Watcher {
  const watcher = openWatcher(by, request);
  open.push({ close: watcher.cancel });
  return watcher;
}

function readerOf({ token }: TestClient): GrpcReader {
  const made = createGrpcReader(api.grpcAddress, token);
  open.push(made);
  return made;
}

async function push(variableId: number, value: number): Promise<void> {
  const reading = { date: new Date(Date.UTC(2026, 0, 1) + value * 60_000).toISOString(), value };
  expect((await api.manager.post('/api/data', [{ variableId, data: [reading] }])).status).toBe(200);
  await api.ingest();
}

async function userIdOf(userName: string): Promise<string> {
  const { rows } = await api.database.query<{ id: string }>('select id from app_user where user_name = $1', [userName]);
  return rows[0]?.id ?? '';
}

/** @returns the id of the variable with MANY points. */
async function findMany(): Promise<number> {
  const { rows } = await api.database.query<{ id: number }>('select max(variable_id) as id from point');
  return rows[0]?.id ?? 0;
}

/** Watches the variable with MANY points; the watch starts at the position `from`. `write` receives the messages. */
async function watchMany(write: (message: WatchMessage, onTaken: () => void) => unknown, from = AT_BEGINNING) {
  const variableId = await findMany();
  const { config, dictionary, log } = api.parts;
  const options = { url: config.DATABASE_URL, poolSize: 2, applicationName: 'tidemark-watch', log };
  const database = openDatabase({ ...options, readLimits: { stallMs: STALL_MS } });
  let snapshots = 0;
  database.on('acquire', () => {
    snapshots += 1;
  });
  const streams: Socket[] = [];
  database.on('connect', (client) => streams.push(client.connection.stream as Socket));
  const leaving = new AbortController();
  const caller = { userId: '', userName: '', accountId: 0, role: 'USER', sites: [] } as const;
  const reading = { database, dictionary, long: { enter: async () => () => {} }, patienceMs: () => STALL_MS };
  const watch = new Watch(
    { ...reading, short: coalesceRuns(reading.long) },
    {
      ...{ authorization: undefined, scales: undefined, leaving: leaving.signal },
      caller: { ...caller, permissions: new Set(), scopes: new Set() },
      variables: new Map([[variableId, { unitId: null, aggregate: 'SUM' }]]),
      positions: new Map([[variableId, from]]),
      sink: { write } as unknown as WatchOptions['sink'],
    },
  );
  return {
    running: watch.run(),
    snapshots: () => snapshots,
    bytesRead: () => streams.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    stop: async () => {
      leaving.abort();
      await noneIsOpen();
      await database.end();
    },
  };
}

describe('watch: a watch ends', () => {
  it('when its user is locked (R-B5)', async () => {
    const user = await api.signIn('locked', 'USER', { sites: [structure.siteId] });
    const watcher = watch({ variableIds: [structure.variableId] }, readerOf(user));
    await watcher.begun();
    await api.manager.post(`/account/user/${await userIdOf('locked')}/lock`, { isLocked: true });
    expect(await watcher.ended()).toMatchObject({ code: GrpcStatus.UNAUTHENTICATED, reason: 'invalid_token' });
  });

  it('when its user is removed from the account (R-B5)', async () => {
    const user = await api.signIn('removed', 'USER', { sites: [structure.siteId] });
    const watcher = watch({ variableIds: [structure.variableId] }, readerOf(user));
    await watcher.begun();
    const userIds = [await userIdOf('removed')];
    await api.database.query('delete from account_member where user_id = any($1)', [userIds]);
    expect(await watcher.ended()).toMatchObject({ code: GrpcStatus.PERMISSION_DENIED, reason: 'permission_denied' });
  });

  it('with NOT_FOUND when its user loses access to the site (R-B5, R-B9)', async () => {
    const user = await api.signIn('ungranted', 'USER', { sites: [structure.siteId] });
    const watcher = watch({ variableIds: [structure.variableId] }, readerOf(user));
    await watcher.begun();
    const id = await userIdOf('ungranted');
    expect((await api.manager.send('DELETE', `/account/user/${id}/sites`, [structure.siteId])).status).toBe(200);
    expect(await watcher.ended()).toMatchObject({
      ...{ code: GrpcStatus.NOT_FOUND, reason: 'not_found' },
      message: `variable ${structure.variableId} does not exist`,
    });
  });

  it('when the watched variable is deleted or its source moves to a site that the user may not see (R-B9, R-C7)', async () => {
    const siteId = await createSite(api.manager);
    const sourceId = await createSource(api.manager, siteId);
    const [moved, deleted] = [await createVariable(api.manager, sourceId), await createVariable(api.manager, sourceId)];
    const user = await api.signIn('left behind', 'USER', { sites: [siteId] });
    const watchers = [
      watch({ variableIds: [deleted] }, readerOf(user)),
      watch({ variableIds: [moved] }, readerOf(user)),
    ];
    for (const watcher of watchers) await watcher.begun();
    expect((await api.manager.delete(`/sources/${sourceId}/variables/${deleted}`)).status).toBe(204);
    expect(await watchers[0]?.ended()).toMatchObject({ code: GrpcStatus.NOT_FOUND });
    expect((await api.manager.put(`/sources/${sourceId}`, { siteId: structure.siteId })).status).toBe(204);
    expect(await watchers[1]?.ended()).toMatchObject({ code: GrpcStatus.NOT_FOUND });
  });

  it('with UNAVAILABLE within 10 s when the server stops; a new watch with the cursor of the ended watch continues on another server (R-J2, R-K2)', async () => {
    const other = await startGrpcServer(api.parts, '127.0.0.1', 0);
    const otherReader = createGrpcReader(other.address, api.manager.token);
    open.push(otherReader);
    const request = { variableIds: [structure.variableId] };
    const watcher = watch(request, otherReader);
    await watcher.begun();
    const startMs = performance.now();
    await other.stop(20_000);
    expect(performance.now() - startMs).toBeLessThan(10_000);
    expect(await watcher.ended()).toMatchObject({ code: GrpcStatus.UNAVAILABLE, reason: 'dependency_unavailable' });
    await push(structure.variableId, 1);
    const again = watch({ ...request, cursor: watcher.cursor() });
    expect(await again.until(1)).toMatchObject([{ value: 1 }]);
  });
});

describe('watch: a watch is refused', () => {
  it('above the maximum number of variables (R-J3)', async () => {
    const sourceId = await createSource(api.manager, structure.siteId);
    for (let count = 0; count <= MAX_VARIABLES; count += 1) await createVariable(api.manager, sourceId);
    expect(await watch({ sourceId }).ended()).toMatchObject({
      ...{ code: GrpcStatus.INVALID_ARGUMENT, reason: 'invalid_input' },
      message: `variable_ids must select at most ${MAX_VARIABLES} variables, got ${MAX_VARIABLES + 1}`,
    });
  });

  it('while its user has the maximum number of open watches (R-J3)', async () => {
    const request = { variableIds: [structure.variableId] };
    for (let count = 0; count < MAX_WATCHES; count += 1) await watch(request).begun();
    const refusal = await watch(request).ended();
    expect(refusal).toMatchObject({ code: GrpcStatus.RESOURCE_EXHAUSTED, reason: 'rate_limited' });
    await watch(request, readerOf(await api.signIn('another', 'MANAGER'))).begun();
    open.shift()?.close();
    await eventually('a watch instead of the one that left', async () => {
      const instead = watch(request);
      await instead.begun();
      return true;
    });
  });
});

describe('watch: an open watch', () => {
  it('finds points whose notification was lost (R-J1, R-K3)', async () => {
    const watcher = watch({ variableIds: [structure.variableId] });
    await watcher.begun();
    await push(structure.variableId, 2);
    expect(await watcher.until(1)).toMatchObject([{ value: 2 }]);
  });

  it('sends its cursor as a heartbeat while there are no new points (R-J1)', async () => {
    const watcher = watch({ variableIds: [structure.variableId] });
    await eventually('heartbeats', async () => watcher.messageCount() >= 3);
    expect(watcher.points()).toEqual([]);
    expect(watcher.cursor().length).toBeGreaterThan(0);
  });

  it('releases the database connection while its reader stalls, and sends every point once (R-J2)', async () => {
    const variableId = await createVariable(api.manager, structure.sourceId);
    await addStoredSeries(api.database, variableId, MANY, { since: MANY_SINCE, versionTimestamp: MANY_VERSION });
    const cutBefore = await countCut();
    const watcher = watch({ variableIds: [variableId], fromBeginning: true });
    watcher.pause();
    // The first, short read is cut because there are too many points. The second, long read is cut because the reader
    // stalls.
    await eventually('both reads to be cut', async () => (await countCut()) >= cutBefore + 2);
    await noneIsOpen();
    watcher.resume();
    const points = await watcher.until(MANY);
    expect(points.length).toBe(MANY);
    expect(points.findIndex(({ value }, index) => value !== index + 1)).toBe(-1);
  });

  it('builds no message before the reader has taken the previous one, and applies back-pressure to the database meanwhile (R-J2)', async () => {
    const taken: (() => void)[] = [];
    const { running, stop, bytesRead } = await watchMany((_message, onTaken) => taken.push(onTaken));
    for (const messages of [2, 3]) {
      taken.at(-1)?.();
      await eventually('the next message', async () => taken.length === messages);
      await noneIsOpen();
      expect(taken.length).toBe(messages);
    }
    // `bytesRead` counts only the bytes that the service has read. PostgreSQL may have sent the whole answer, because
    // the socket buffers of the kernel grow to tens of megabytes.
    expect(bytesRead()).toBeLessThan((MANY * POINT_LAYOUT.rowBytes) / 2);
    await stop();
    await running;
  });

  it('uses several snapshots while its reader is slow, and sends every point once (R-J2)', async () => {
    const dates: number[] = [];
    let cursorCount = 0;
    const { running, stop, snapshots } = await watchMany(({ points }, onTaken) => {
      cursorCount += 1;
      for (const chunk of points?.chunks ?? []) dates.push(...chunk.dates);
      // The reader takes each message after a pause that is shorter than the limit for a stall.
      setTimeout(onTaken, STALL_MS / 6);
    }, HALF_WAY);
    await eventually('all points', async () => dates.length >= MANY / 2);
    await stop();
    await running;
    expect(dates).toEqual([...new Set(dates)].sort((a, b) => a - b));
    expect(dates.length).toBe(MANY / 2);
    expect(snapshots()).toBeGreaterThan(4);
    expect(snapshots()).toBeLessThan(cursorCount);
  });

  it('cancels its database query when the client cancels the watch (R-J2)', async () => {
    const variableId = await findMany();
    const holder = await api.database.connect();
    try {
      // While the table `point` is locked, every query of points waits until it is cancelled.
      await holder.query(`${BEGIN_HOLDING}; lock table point in access exclusive mode`);
      const watcher = watch({ variableIds: [variableId], fromBeginning: true });
      const findWaiting = async () => (await openReads()).find(({ waitsForTable }) => waitsForTable)?.pid;
      const short = await eventually('the short read to wait', findWaiting);
      await eventually('the long read to wait', async () => ![short, undefined].includes(await findWaiting()));
      watcher.cancel();
      await noneIsOpen();
    } finally {
      holder.release(true);
    }
  });

  it('survives a database outage while it waits (R-K3)', async () => {
    const watcher = watch({ variableIds: [structure.variableId] });
    await watcher.begun();
    await push(structure.variableId, 3);
    await watcher.until(1);
    await api.databaseGate.shut();
    await api.databaseGate.open();
    await eventually('the way to the database', () => api.parts.database.query('select 1').then(() => true));
    await push(structure.variableId, 4);
    expect(await watcher.until(2)).toMatchObject([{ value: 3 }, { value: 4 }]);
  });
});
