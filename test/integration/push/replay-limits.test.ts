/** How many rejected elements one replay takes (R-D8). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findReplayable } from '../../../src/push/store/find-rejections.ts';
import { openPointStore, type PointStore } from '../../support/fixtures/point-store.ts';

let store: PointStore;
beforeAll(async () => {
  store = await openPointStore();
});
afterAll(() => store?.close());

test('replay: takes only as many rejected elements as one push may have, but at least one (R-D8)', async () => {
  const data = ['2026-01-01', '2026-01-02', '2026-01-03'].map((date) => ({ date, value: 1 }));
  const element = JSON.stringify({ mappingConfig: 'none', data });
  const { rows } = await store.database.query<{ id: number }>(
    `with operation as (
       insert into push_operation (account_id, user_id, label, request_id, accepted_elements, accepted_readings)
       values ($1, 'someone', 'label', '', 0, 0) returning id
     )
     insert into push_rejection (operation_id, place, code, message, element)
     select id, place, 'target_not_found', '', $2 from operation, generate_series(0, 2) place returning operation_id as id`,
    [store.accountId, element],
  );
  const taken = async (limits: object) => {
    const all = { maxElements: 100, maxReadings: 100, maxBytes: 10_000, ...limits };
    const found = await findReplayable(store.database, [rows[0]?.id ?? 0], all);
    return found.map(({ index }) => index);
  };
  expect(await taken({})).toEqual([0, 1, 2]);
  expect(await taken({ maxElements: 2 })).toEqual([0, 1]);
  expect(await taken({ maxReadings: 8 })).toEqual([0, 1]);
  expect(await taken({ maxReadings: 2 })).toEqual([0]);
  expect(await taken({ maxBytes: 10 })).toEqual([0]);
});
