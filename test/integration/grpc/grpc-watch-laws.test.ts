/**
 * Property of `WatchPoints` (R-J1): a reader that is interrupted at any time and resumes with the cursor of its last
 * message gets every stored point once, even while writers are active. The points of each variable arrive in the order
 * of their VersionTimestamps.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withTransaction } from '../../../src/platform/database/database.ts';
import { announcePoints } from '../../../src/points/announce-points.ts';
import { encodeTuples } from '../../../src/points/copy-codec.ts';
import type { PointEntry } from '../../../src/points/point.ts';
import { writePoints } from '../../../src/points/write/write-points.ts';
import { createGrpcReader, type GrpcReader } from '../../support/clients/grpc-client.ts';
import { openWatcher, type WatchedPoint } from '../../support/clients/watcher.ts';
import { eventually } from '../../support/eventually.ts';
import { createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const WRITERS = 3;
const WRITES = 20;
const MINUTE = 60_000_000;
const START = Date.UTC(2026, 0, 1) * 1000;
const RECENT_MINUTES = 40;
/** A number of points that is too large for one message. */
const MANY = 12_000;

let api: TestApi;
let reader: GrpcReader;
let sourceId: number;
let versionTagIds: readonly number[];

beforeAll(async () => {
  api = await startTestApi({ WATCH_POLL_MS: '500' });
  reader = createGrpcReader(api.grpcAddress, api.manager.token);
  ({ sourceId } = await createStructure(api.manager));
  const ids = await api.parts.dictionary.versionTagIds(api.accountId, ['A', 'B']);
  versionTagIds = [0, ...ids.values()];
});
afterAll(async () => {
  reader?.close();
  await api?.close();
});

/** @returns a deterministic random generator: a function that returns an integer from 0 to `below` - 1. */
function generator(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * Counters that the writers of one call of `checkLaw` share. `minute` counts the new dates: each new date is one minute
 * after the previous new date. `value` is the value of the last point; no two points have the same value.
 */
interface Counters {
  minute: number;
  value: number;
}

/**
 * Makes the entries of a random push, with new dates, dates written before, or both. A date may occur several times.
 * Occasionally the push has `MANY` entries of one variable.
 */
function makeEntries(
  variableIds: readonly number[],
  random: (below: number) => number,
  counters: Counters,
): PointEntry[] {
  const isLarge = random(25) === 0;
  return variableIds
    .filter((_, index) => (isLarge ? index === 0 : random(2) === 0))
    .flatMap((variableId) => {
      const kind = random(3);
      return Array.from({ length: isLarge ? MANY : 1 + random(4) }, (_, index) => {
        const isNew = kind === 0 || (kind === 1 && random(2) === 0);
        if (isNew) counters.minute += 1;
        const minute = isNew || counters.minute === 0 ? counters.minute : minuteAgain(counters, random);
        counters.value += 1;
        const dateMicros = START + (isLarge ? index : minute) * MINUTE;
        const versionTagId = versionTagIds[random(versionTagIds.length)] ?? 0;
        return { variableId, dateMicros, value: counters.value, versionTagId, tagSetId: 0 };
      });
    });
}

const minuteAgain = ({ minute }: Counters, random: (below: number) => number) =>
  Math.max(0, minute - random(random(3) === 0 ? minute + 1 : RECENT_MINUTES));

async function write(entries: readonly PointEntry[], random: (below: number) => number): Promise<void> {
  await withTransaction(api.database, async (transaction) => {
    const { ranges } = await writePoints(transaction, [encodeTuples(entries)]);
    await announcePoints(transaction, api.accountId, ranges);
    // During this pause, a transaction with a later VersionTimestamp may commit.
    if (random(3) === 0) await transaction.query('select pg_sleep(0.05)');
  });
  await api.parts.outbox.relay();
}

/** Calls `WatchPoints` again and again until `isDone()` returns true. Cancels each call after a few messages. */
async function readInterrupted(request: object, random: (below: number) => number, isDone: () => boolean) {
  const taken: WatchedPoint[] = [];
  let cursor: Buffer = Buffer.alloc(0);
  let calls = 0;
  while (!isDone()) {
    const watcher = openWatcher(reader, { ...request, cursor });
    const messages = 1 + random(4);
    calls += 1;
    await eventually('messages', async () => watcher.messageCount() >= messages || isDone());
    watcher.cancel();
    taken.push(...watcher.points());
    cursor = watcher.cursor().length > 0 ? watcher.cursor() : cursor;
  }
  return { taken, cursor, calls };
}

const KEPT = `
  select variable_id || ' ' || (extract(epoch from date) * 1000000)::int8 || ' '
         || (extract(epoch from version_timestamp) * 1000000)::int8 || ' ' || value as key
  from (select * from point union all select * from point_version) version where variable_id = any($1::int[])`;

const keyOf = ({ variableId, date, versionTimestamp, value }: WatchedPoint) =>
  `${variableId} ${date} ${versionTimestamp} ${value}`;

async function checkLaw(seed: number): Promise<void> {
  const random = generator(seed);
  const variableIds: number[] = [];
  for (const isVersioned of [true, true, false, false]) {
    variableIds.push(await createVariable(api.manager, sourceId, { isVersioned }));
  }
  let isWritten = false;
  const request = { variableIds, fromBeginning: true };
  const reading = readInterrupted(request, generator(seed + 1), () => isWritten);
  const counters: Counters = { minute: 0, value: 0 };
  await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      for (let index = 0; index < WRITES; index += 1) await write(makeEntries(variableIds, random, counters), random);
    }),
  );
  isWritten = true;
  const { taken, cursor, calls } = await reading;
  const { rows: kept } = await api.database.query<{ key: string }>(KEPT, [variableIds]);
  const last = openWatcher(reader, { ...request, cursor });
  const all = () => [...taken, ...last.points()];
  const missing = () => {
    const got = new Set(all().map(keyOf));
    return kept.map(({ key }) => key).filter((key) => !got.has(key));
  };
  await eventually('all that is kept', async () => last.messageCount() > 0 && missing().length === 0).finally(() =>
    last.cancel(),
  );
  expect(calls).toBeGreaterThan(2);
  const points = all();
  expect(points.length - new Set(points.map(keyOf)).size).toBe(0);
  for (const variableId of variableIds) {
    const own = points.filter((point) => point.variableId === variableId);
    const isAfter = (a: WatchedPoint, b: WatchedPoint) => a.versionTimestamp - b.versionTimestamp || a.date - b.date;
    expect(own).toEqual([...own].sort(isAfter));
  }
}

test('watch: an interrupted watch misses no stored point and repeats none (R-J1)', async () => {
  await fc.assert(fc.asyncProperty(fc.nat(), checkLaw), { numRuns: 4, endOnFailure: true });
}, 180_000);
