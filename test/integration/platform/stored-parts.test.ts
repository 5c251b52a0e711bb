/** Stored parts: when storing one part fails, `storeContent` waits for the other parts and then fails (R-A14, R-E5). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PART_BYTES, storeContent } from '../../../src/platform/database/stored-parts.ts';
import { openPointStore, type PointStore } from '../../support/fixtures/point-store.ts';

let store: PointStore;
beforeAll(async () => {
  store = await openPointStore();
});
afterAll(() => store.close());

async function* threeParts(): AsyncGenerator<Uint8Array> {
  for (let part = 0; part < 3; part += 1) yield new Uint8Array(PART_BYTES).fill(part);
}

test('stored parts: when storing one part fails, `storeContent` throws only when no other part is still being stored (R-A14)', async () => {
  const { rows } = await store.database.query<{ id: string }>(
    `insert into stored_file (account_id, user_id, filename, format, state) values ($1, 'u', 'f', 'csv', 'Queued') returning id`,
    [store.accountId],
  );
  let running = 0;
  let begun = 0;
  const inTurn = async (storePart: () => Promise<void>): Promise<void> => {
    begun += 1;
    if (begun === 1) throw new Error('the first part fails');
    running += 1;
    await storePart();
    running -= 1;
  };
  const table = { name: 'stored_file_part', owner: 'file_id' } as const;
  const target = { table, ownerId: rows[0]?.id ?? '', charge: () => {}, inTurn, onStart: () => {} };
  await expect(storeContent(store.database, target, threeParts())).rejects.toThrow('the first part fails');
  expect({ begun, running }).toEqual({ begun: 3, running: 0 });
});
