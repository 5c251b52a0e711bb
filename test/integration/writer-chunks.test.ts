/** A write whose chunks could not be made beforehand makes them itself, and follows the same rules. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withTransaction } from '../../src/platform/database.ts';
import { eventually } from '../support/eventually.ts';
import { openPointStore, type PointStore, type WrittenPoint } from '../support/point-store.ts';

let store: PointStore;
beforeAll(async () => {
  store = await openPointStore();
}, 60_000);
afterAll(() => store?.close());

/** Writes while nobody can make chunks of history, until the attempt to make them beforehand was given up. */
async function writeWithoutChunks(variableId: number, points: readonly WrittenPoint[]): Promise<void> {
  const attempts = async () => {
    const { rowCount } = await store.database.query(
      `select from pg_stat_activity where datname = current_database() and application_name = 'tidemark-chunks'`,
    );
    return rowCount ?? 0;
  };
  const { writing } = await withTransaction(store.database, async (other) => {
    await other.query('lock table point_version in share update exclusive mode');
    const begun = store.write(variableId, points);
    await eventually('the attempt to make chunks', async () => (await attempts()) > 0);
    await eventually('the end of the attempt', async () => (await attempts()) === 0);
    return { writing: begun };
  });
  await writing;
}

test('a VersionTag replaces its own former version in a chunk of history that the write makes (R-F2)', async () => {
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
