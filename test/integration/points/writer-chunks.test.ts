/** Tests the lengths of chunks. Also tests writes for which the chunks could not be created in advance. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withTransaction } from '../../../src/platform/database/database.ts';
import { CHUNK_MICROS, chunkOf, spanOf } from '../../../src/points/write/chunk-rules.ts';
import { type Chunk, findChunks } from '../../../src/points/write/find-chunks.ts';
import { eventually } from '../../support/eventually.ts';
import { openPointStore, type PointStore, type WrittenPoint } from '../../support/fixtures/point-store.ts';

let store: PointStore;
beforeAll(async () => {
  store = await openPointStore();
}, 60_000);
afterAll(() => store?.close());

/**
 * Writes points whose history chunks do not exist yet. While the test holds a lock, the attempt to create these chunks
 * in advance fails. After the test has released the lock, the write itself creates the chunks.
 */
async function writeWithoutChunks(variableId: number, points: readonly WrittenPoint[]): Promise<void> {
  const attempts = async () => {
    const { rowCount } = await store.database.query(
      `select from pg_stat_activity where datname = current_database() and application_name = 'tidemark-chunks'`,
    );
    return rowCount ?? 0;
  };
  const { writing } = await withTransaction(
    store.database,
    async (other) => {
      await other.query('lock table point_version in share update exclusive mode');
      const begun = store.write(variableId, points);
      await eventually('the attempt to create chunks', async () => (await attempts()) > 0);
      await eventually('the end of the attempt', async () => (await attempts()) === 0);
      return { writing: begun };
    },
    { idleTimeoutMs: 0 },
  );
  await writing;
}

test('points: a point replaces the version with the same date and VersionTag, even if no chunk for history exists before the write (R-F2)', async () => {
  const variableId = await store.addVariable({ isVersioned: true });
  await store.write(variableId, [[0, 1, 'a']]);
  await writeWithoutChunks(variableId, [
    [0, 2, 'a'],
    [0, 3, 'b'],
  ]);
  const versions = (await store.readAll(variableId)).map(({ value, tag }) => [value, tag]);
  expect(versions).toEqual([
    [2, 'a'],
    [3, 'b'],
  ]);
});

test('points: one point a year from 1700 to 2199 takes fewer than 90 chunks per table', async () => {
  const variableId = await store.addVariable({ isVersioned: true });
  const years = Array.from({ length: 500 }, (_, index) => 1700 + index);
  const points = (value: number) => years.map((year): WrittenPoint => [Date.UTC(year, 6, 1) * 1000, year + value]);
  const first = await store.write(variableId, points(0.25));
  await store.write(variableId, points(0.5));
  await store.write(variableId, [[Date.UTC(2026, 9, 1) * 1000, 1]]);
  const { versionTimestamp: asOfMicros } = first;
  expect((await store.read(variableId, { asOfMicros })).map(({ value }) => value)).toEqual(
    years.map((year) => year + 0.25),
  );
  expect(await store.read(variableId)).toHaveLength(501);
  const chunks = await withTransaction(store.database, (transaction) => findChunks(transaction));
  const isWhole = ({ fromMicros, toMicros }: Chunk) => {
    const whole = spanOf(chunkOf(fromMicros));
    return fromMicros === whole.fromMicros && toMicros === whole.toMicros;
  };
  for (const table of ['point', 'point_version']) {
    const made = chunks.filter((chunk) => chunk.table === table);
    expect(made.length).toBeLessThan(90);
    expect(made[0]?.toMicros).toBe(spanOf(chunkOf(Date.UTC(1700, 0, 1) * 1000)).toMicros);
    // The previous test created a short history chunk at 1970. The long history chunk that would contain 1970 was
    // therefore cut to begin after the short one.
    const others = made.filter((chunk) => !isWhole(chunk));
    expect(others.map(({ toMicros }) => toMicros)).toEqual(
      table === 'point' ? [] : [CHUNK_MICROS, spanOf(chunkOf(0)).toMicros],
    );
  }
});
