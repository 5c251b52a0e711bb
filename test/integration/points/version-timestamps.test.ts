/** Tests when VersionTimestamps are assigned, and which readers and writers wait for each other (R-F1, R-F5). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Transaction, withTransaction } from '../../../src/platform/database/database.ts';
import { encodeTuples } from '../../../src/points/copy-codec.ts';
import { awaitWriters } from '../../../src/points/read/await-writers.ts';
import { writePoints } from '../../../src/points/write/write-points.ts';
import { addAccount } from '../../support/fixtures/accounts.ts';
import { openPointStore, type PointStore } from '../../support/fixtures/point-store.ts';

const HOUR = 3_600_000_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 0, 1) * 1000;

let store: PointStore;
beforeAll(async () => {
  store = await openPointStore();
});
afterAll(() => store?.close());

function encode(variableIds: readonly number[], value: number, dateMicros = START): Buffer {
  return encodeTuples(
    variableIds.map((variableId) => ({ variableId, dateMicros, value, versionTagId: 0, tagSetId: 0 })),
  );
}

async function addVariables(count: number, isVersioned = true): Promise<readonly number[]> {
  const ids: number[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await store.addVariable({ isVersioned }));
  return ids;
}

async function clockMicros(): Promise<number> {
  const { rows } = await store.database.query<{ now: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000000)::int8 as now',
  );
  return rows[0]?.now ?? 0;
}

/** @returns the values of a variable as of an instant. */
const valuesAsOf = async (variableId: number, asOfMicros: number) =>
  (await store.read(variableId, { asOfMicros })).map(({ value }) => value);

/** Writes points and keeps the transaction open until `commit` is called. */
async function writeAndHold(tuples: Buffer): Promise<{ readonly commit: () => Promise<void> }> {
  const gate = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  const hold = async (transaction: Transaction): Promise<void> => {
    await writePoints(transaction, [tuples]);
    written.resolve();
    await gate.promise;
  };
  const committed = withTransaction(store.database, hold, { idleTimeoutMs: 0 });
  await Promise.race([written.promise, committed]);
  return {
    commit: async () => {
      gate.resolve();
      await committed;
    },
  };
}

describe('points: an as-of read', () => {
  it('waits until a write that was open at the as-of instant is committed, and then returns the written value (R-F1, R-F5)', async () => {
    const [variableId = 0] = await addVariables(1);
    await store.write(variableId, [[START, 1]]);
    const writer = await writeAndHold(encode([variableId], 2));
    const asOfMicros = await clockMicros();
    let isRead = false;
    const during = valuesAsOf(variableId, asOfMicros).finally(() => {
      isRead = true;
    });
    // While the writer's transaction is open, a read without an as-of instant returns the committed value; the as-of
    // read still waits.
    expect((await store.read(variableId)).map(({ value }) => value)).toEqual([1]);
    expect(isRead).toBe(false);
    await writer.commit();
    expect(await during).toEqual([2]);
    expect(await valuesAsOf(variableId, asOfMicros)).toEqual([2]);
  });

  it('two reads as of one instant return the same values, even if a write commits between the reads (R-F1, R-F5)', async () => {
    const [variableId = 0] = await addVariables(1);
    const first = await store.write(variableId, [[START, 1]]);
    const beforeMicros = await clockMicros();
    const writer = await writeAndHold(Buffer.concat([encode([variableId], 2), encode([variableId], 3, START + HOUR)]));
    const doneMicros = await clockMicros();
    const instants = [first.versionTimestamp - 1, first.versionTimestamp, beforeMicros, doneMicros, doneMicros + 1];
    // The VersionTimestamp of the second write lies between `beforeMicros` and `doneMicros`.
    const step = (doneMicros - beforeMicros) / 20;
    instants.push(...Array.from({ length: 19 }, (_, index) => Math.floor(beforeMicros + (index + 1) * step)));
    const during = Promise.all(instants.map((asOfMicros) => valuesAsOf(variableId, asOfMicros)));
    await store.database.query('select');
    await writer.commit();
    const given = await during;
    expect(await Promise.all(instants.map((asOfMicros) => valuesAsOf(variableId, asOfMicros)))).toEqual(given);
    await store.write(variableId, [[START, 4]]);
    expect(await Promise.all(instants.map((asOfMicros) => valuesAsOf(variableId, asOfMicros)))).toEqual(given);
    expect(given.slice(0, 5)).toEqual([[], [1], [1], [2, 3], [2, 3]]);
  });

  it('does not wait for an open write that began at least one second after the as-of instant, or for a write of another account (R-F5)', async () => {
    const [variableId = 0] = await addVariables(1);
    await store.write(variableId, [[START, 1]]);
    const other = await addAccount(store.database, 'South');
    // The key of a writer's advisory lock contains only the second in which the writer began, not the microsecond. So
    // `before` must be in an earlier second.
    const before = (Math.floor((await clockMicros()) / 1e6) - 1) * 1e6;
    const writer = await writeAndHold(encode([variableId], 2));
    await awaitWriters(store.database, store.accountId, before, undefined, 0);
    await awaitWriters(store.database, other, await clockMicros(), undefined, 0);
    await writer.commit();
  });

  it('waits for writes that are open when the read begins, but not for writes that begin later (R-F5)', async () => {
    const [first = 0, second = 0] = await addVariables(2);
    const writer = await writeAndHold(encode([first], 1));
    // `asOfMicros` is in the future, so both writers begin before it.
    const asOfMicros = (await clockMicros()) + DAY;
    const reader = await store.database.connect();
    let hasEnded = false;
    const waiting = awaitWriters(reader, store.accountId, asOfMicros).finally(() => {
      reader.release();
      hasEnded = true;
    });
    // A connection runs its queries in order. When `select` ends, the earlier query of `awaitWriters` has ended too.
    await reader.query('select');
    const later = await writeAndHold(encode([second], 1));
    expect(hasEnded).toBe(false);
    await writer.commit();
    await waiting;
    await later.commit();
  });

  it('fails with dependency_unavailable when an open write does not end in time, and with the abort reason when the read is aborted (R-A5, R-G4)', async () => {
    const [variableId = 0] = await addVariables(1);
    const writer = await writeAndHold(encode([variableId], 1));
    const now = await clockMicros();
    const waiting = awaitWriters(store.database, store.accountId, now, undefined, 20);
    await expect(waiting).rejects.toMatchObject({ code: 'dependency_unavailable' });
    const left = AbortSignal.abort(new Error('the client left'));
    await expect(awaitWriters(store.database, store.accountId, now, left)).rejects.toThrow('the client left');
    await writer.commit();
  });
});

describe('points: VersionTimestamps', () => {
  it('when the VersionTimestamps of one variable are ahead of the clock, another variable in the same write still gets the time of the clock (R-F1)', async () => {
    const [ahead = 0, other = 0] = await addVariables(2);
    await store.write(ahead, [[START, 1]]);
    const future = (await clockMicros()) + DAY;
    for (const table of ['point', 'series'] as const) {
      const column = table === 'point' ? 'version_timestamp' : 'last_version_timestamp';
      await store.database.query(
        `update ${table} set ${column} = to_timestamp(0) + $2::int8 * interval '1 microsecond' where variable_id = $1`,
        [ahead, future],
      );
    }
    const before = await clockMicros();
    await withTransaction(store.database, (transaction) => writePoints(transaction, [encode([ahead, other], 2)]));
    const after = await clockMicros();
    expect((await store.readAll(ahead)).map(({ versionTimestamp }) => versionTimestamp)).toEqual([future, future + 1]);
    const [given] = await store.readAll(other);
    expect(given?.versionTimestamp).toBeGreaterThanOrEqual(before);
    expect(given?.versionTimestamp).toBeLessThanOrEqual(after);
    // Each write of a variable gets a later VersionTimestamp than the variable's previous write.
    await withTransaction(store.database, (transaction) => writePoints(transaction, [encode([ahead, other], 3)]));
    expect((await store.readAll(ahead)).at(-1)?.versionTimestamp).toBe(future + 2);
    expect((await store.readAll(other)).at(-1)?.versionTimestamp).toBeLessThan(before + HOUR);
  });
});

describe('points: writers', () => {
  /** Writes points; fails when a statement does not get a lock within one second. */
  const writeWithoutWaiting = (tuples: Buffer) =>
    withTransaction(store.database, async (transaction) => {
      await transaction.query(`set local lock_timeout = '1s'`);
      await writePoints(transaction, [tuples]);
    });

  it.each([
    ['append to an existing chunk', START, START],
    ['need a new chunk each', START + 10_000 * DAY, START + 20_000 * DAY],
    ['need the same new chunk', START + 30_000 * DAY, START + 30_000 * DAY],
  ])('writers of different variables do not wait for each other when they %s', async (_case, firstDate, secondDate) => {
    const [first = 0, second = 0] = await addVariables(2);
    const writer = await writeAndHold(encode([first], 1, firstDate));
    await writeWithoutWaiting(encode([second], 1, secondDate));
    await writer.commit();
  });

  it('writers of different variables do not wait for each other when they write new values for stored dates', async () => {
    const dates = [START, START + 40_000 * DAY];
    const variableIds = await addVariables(2);
    for (const date of dates) for (const id of variableIds) await store.write(id, [[date, 1]]);
    const [first = 0, second = 0] = variableIds;
    const writer = await writeAndHold(Buffer.concat(dates.map((date) => encode([first], 2, date))));
    await writeWithoutWaiting(Buffer.concat(dates.map((date) => encode([second], 2, date))));
    await writer.commit();
  });

  it('concurrent writers of overlapping sets of new variables do not deadlock, and a variable in all sets gets a version from each writer', async () => {
    const write = (ids: readonly number[]) =>
      withTransaction(store.database, (transaction: Transaction) => writePoints(transaction, [encode(ids, 1)]));
    for (let round = 0; round < 8; round += 1) {
      const ids = await addVariables(12);
      const some = (step: number) => ids.filter((_, index) => index % step === 0).reverse();
      await Promise.all([some(1), some(2), some(3), some(5)].map(write));
      expect((await store.readAll(ids[0] ?? 0)).length).toBe(4);
    }
  });
});
