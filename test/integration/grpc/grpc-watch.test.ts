/** `WatchPoints`: streams the points after a cursor, in the order of their VersionTimestamps (R-J1, R-J2). */
import { status as GrpcStatus } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createGrpcReader, type GrpcReader } from '../../support/clients/grpc-client.ts';
import { openWatcher, type WatchedPoint, type Watcher } from '../../support/clients/watcher.ts';
import { createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const KWH = 8;
const WH = 7;

let api: TestApi;
let reader: GrpcReader;
let sourceId: number;
const watchers: Watcher[] = [];

beforeAll(async () => {
  // The poll for lost notifications runs only every 600 s, so every point arrives by its notification.
  api = await startTestApi({ WATCH_POLL_MS: '600000' });
  reader = createGrpcReader(api.grpcAddress, api.manager.token);
  ({ sourceId } = await createStructure(api.manager));
});
afterEach(() => {
  for (const watcher of watchers.splice(0)) watcher.cancel();
});
afterAll(async () => {
  reader?.close();
  await api?.close();
});

function watch(request: object, by: GrpcReader = reader): Watcher {
  const watcher = openWatcher(by, request);
  watchers.push(watcher);
  return watcher;
}

const at = (minute: number) => Date.UTC(2026, 2, 1, 0, minute) * 1000;

interface Reading {
  readonly minute: number;
  readonly value: number;
  readonly version?: string;
}

/**
 * Writes readings in one transaction, then relays the outbox. The relay notifies the watches that follow the variable.
 */
async function push(variableId: number, readings: readonly Reading[], version?: string): Promise<void> {
  const data = readings.map(({ minute, ...reading }) => ({
    date: new Date(at(minute) / 1000).toISOString(),
    ...reading,
  }));
  const answer = await api.manager.post('/api/data', [{ variableId, data, ...(version !== undefined && { version }) }]);
  expect(answer.status).toBe(200);
  await api.ingest();
  await api.parts.outbox.relay();
}

const addVariable = (members: object = {}) => createVariable(api.manager, sourceId, { ...members });

const valuesOf = (points: readonly WatchedPoint[]) => points.map(({ value }) => value);

describe('watch: a watch', () => {
  it('that is opened without a cursor sends the cursor of the current position first, then the points of later commits (R-J1)', async () => {
    const variableId = await addVariable();
    await push(variableId, [{ minute: 0, value: 1 }]);
    const watcher = watch({ variableIds: [variableId] });
    await watcher.begun();
    const cursor = watcher.cursor();
    await push(variableId, [{ minute: 1, value: 2 }]);
    const [point] = await watcher.until(1);
    expect(point).toMatchObject({ variableId, date: at(1), value: 2, version: null });
    expect(valuesOf(await watch({ variableIds: [variableId], cursor }).until(1))).toEqual([2]);
  });

  it('that starts from the beginning sends every stored version first (R-J1)', async () => {
    const variableId = await addVariable({ isVersioned: true });
    await push(
      variableId,
      [
        { minute: 0, value: 1 },
        { minute: 1, value: 2 },
      ],
      'A',
    );
    await push(variableId, [{ minute: 0, value: 3 }], 'B');
    const watcher = watch({ variableIds: [variableId], fromBeginning: true });
    await watcher.until(3);
    await push(variableId, [{ minute: 0, value: 4 }]);
    const points = await watcher.until(4);
    expect(points.map(({ value, version }) => [value, version])).toEqual([
      [1, 'A'],
      [2, 'A'],
      [3, 'B'],
      [4, null],
    ]);
    const timestamps = points.map(({ versionTimestamp }) => versionTimestamp);
    expect(timestamps).toEqual([...timestamps].sort((a, b) => a - b));
  });

  it('a resumed watch sends every version written after its cursor, in order, even versions that are no longer the latest (R-J1)', async () => {
    const variableId = await addVariable({ isVersioned: true });
    await push(variableId, [
      { minute: 0, value: 0 },
      { minute: 9, value: 0 },
    ]);
    const watcher = watch({ variableIds: [variableId] });
    await watcher.begun();
    watcher.cancel();
    for (const value of [1, 2, 3])
      await push(variableId, [
        { minute: 0, value },
        { minute: 9 + value, value },
      ]);
    const again = watch({ variableIds: [variableId], cursor: watcher.cursor() });
    expect((await again.until(6)).map(({ date, value }) => [date, value])).toEqual(
      [1, 2, 3].flatMap((value) => [
        [at(0), value],
        [at(9 + value), value],
      ]),
    );
    const third = watch({ variableIds: [variableId], cursor: again.cursor() });
    await push(variableId, [{ minute: 0, value: 4 }]);
    expect(valuesOf(await third.until(1))).toEqual([4]);
  });

  it('sends stored values only: without versioning, the last value of each date; with versioning, the last value of each date and VersionTag (R-F2, R-F4, R-J1)', async () => {
    const plain = await addVariable();
    const tagged = await addVariable({ isVersioned: true });
    const watcher = watch({ variableIds: [plain, tagged] });
    await watcher.begun();
    watcher.cancel();
    for (const value of [1, 2]) {
      await push(plain, [{ minute: 0, value }]);
      await push(tagged, [{ minute: 0, value }], 'A');
    }
    await push(tagged, [{ minute: 0, value: 3 }], 'B');
    const points = await watch({ variableIds: [plain, tagged], cursor: watcher.cursor() }).until(3);
    expect(points.map(({ variableId, value }) => [variableId, value])).toEqual([
      [plain, 2],
      [tagged, 2],
      [tagged, 3],
    ]);
  });

  it('sends each version once when a push has several versions of a date (R-J1)', async () => {
    const variableId = await addVariable({ isVersioned: true });
    const watcher = watch({ variableIds: [variableId] });
    await watcher.begun();
    const readings = [0, 1, 2].flatMap((minute) =>
      ['A', 'B'].map((version, index) => ({ minute, value: minute + 10 * index, version })),
    );
    await push(variableId, [...readings, { minute: 3, value: 3, version: 'A' }]);
    expect(valuesOf(await watcher.until(7))).toEqual([0, 1, 2, 3, 10, 11, 12]);
  });

  it('expands a source to its variables and converts units (R-C8, R-J1)', async () => {
    const { sourceId: ownSource, variableId } = await createStructure(api.manager, { unitId: KWH });
    const watcher = watch({ sourceId: ownSource, unitId: WH });
    await watcher.begun();
    await push(variableId, [{ minute: 0, value: 2 }]);
    expect(valuesOf(await watcher.until(1))).toEqual([2000]);
  });

  it('the stored points of a variable that is not in the cursor are sent only when `fromBeginning` is set (R-J1)', async () => {
    const [first, second] = [await addVariable(), await addVariable()];
    const watcher = watch({ variableIds: [first] });
    await watcher.begun();
    watcher.cancel();
    await push(first, [{ minute: 0, value: 1 }]);
    await push(second, [{ minute: 0, value: 2 }]);
    const request = { variableIds: [first, second], cursor: watcher.cursor() };
    expect(valuesOf(await watch({ ...request, fromBeginning: true }).until(2))).toEqual([1, 2]);
    const fromNow = watch(request);
    await fromNow.until(1);
    await push(second, [{ minute: 1, value: 3 }]);
    expect(valuesOf(await fromNow.until(2))).toEqual([1, 3]);
  });

  it('continues after points are removed, and does not report the removal (R-G5, R-J1)', async () => {
    const variableId = await addVariable();
    const watcher = watch({ variableIds: [variableId] });
    await watcher.begun();
    await push(variableId, [
      { minute: 0, value: 1 },
      { minute: 5, value: 2 },
    ]);
    await watcher.until(2);
    const removed = await api.manager.send('DELETE', '/data', { variableIds: [variableId] });
    expect(removed.status).toBe(200);
    await push(variableId, [{ minute: 3, value: 3 }]);
    expect(valuesOf(await watcher.until(3))).toEqual([1, 2, 3]);
  });
});

describe('watch: a watch is refused', () => {
  it.each([
    [{}, 'variable_ids'],
    [{ sourceId: 0 }, 'source_id'],
    [{ variableIds: [1], unitId: -1 }, 'unit_id'],
  ])('for the invalid request %j (R-J3)', async (request, field) => {
    const refusal = await watch(request).ended();
    expect(refusal).toMatchObject({ code: GrpcStatus.INVALID_ARGUMENT, reason: 'invalid_input', fields: [{ field }] });
  });

  it('for bytes that are not a cursor (R-J3)', async () => {
    const variableId = await addVariable();
    const watcher = watch({ variableIds: [variableId] });
    await watcher.begun();
    const broken = Buffer.from(watcher.cursor());
    broken[1] = (broken[1] ?? 0) ^ 1;
    for (const cursor of [broken, Buffer.from([7]), watcher.cursor().subarray(1)]) {
      const refusal = await watch({ variableIds: [variableId], cursor }).ended();
      expect(refusal).toMatchObject({ reason: 'invalid_input', fields: [{ field: 'cursor' }] });
    }
  });

  it('with NOT_FOUND for a variable of another account, or of a site that the caller may not see (R-B9, R-J2)', async () => {
    const variableId = await addVariable();
    const user = await api.signIn('outsider', 'USER', { sites: [(await createStructure(api.manager)).siteId] });
    for (const { token } of [api.stranger, user]) {
      const other = createGrpcReader(api.grpcAddress, token);
      expect(await watch({ variableIds: [variableId] }, other).ended()).toMatchObject({
        ...{ code: GrpcStatus.NOT_FOUND, reason: 'not_found', requestId: 'grpc-test' },
        message: `variable ${variableId} does not exist`,
      });
      other.close();
    }
  });

  it('when the token is missing or lacks the scope `datahub-api` (R-B6, R-J2)', async () => {
    const scopeless = await api.signIn('scopeless', 'MANAGER', { scopes: ['push-data'] });
    for (const [token, code] of [
      [undefined, GrpcStatus.UNAUTHENTICATED],
      [scopeless.token, GrpcStatus.PERMISSION_DENIED],
    ] as const) {
      const other = createGrpcReader(api.grpcAddress, token);
      expect(await watch({ variableIds: [1] }, other).ended()).toMatchObject({ code });
      other.close();
    }
  });
});
