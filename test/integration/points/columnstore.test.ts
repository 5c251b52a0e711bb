/** Old chunks are stored in columns where the edition of TimescaleDB supports it (architecture 7). */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { createLog } from '../../../src/platform/log.ts';
import { openPointStore, type PointStore } from '../../support/fixtures/point-store.ts';
import { createTestDatabase, type TestDatabase } from '../../support/services/stack.ts';

let store: PointStore;
let other: TestDatabase;
beforeAll(async () => {
  [store, other] = await Promise.all([openPointStore(), createTestDatabase()]);
});
afterAll(async () => {
  await store?.close();
  await other?.drop();
});

const findCompressed = async () => {
  const { rows } = await store.database.query<{ name: string }>(
    `select hypertable_name as name from timescaledb_information.hypertables
     where compression_enabled and hypertable_name in ('point', 'point_version')`,
  );
  return rows.map(({ name }) => name);
};

it('points: enable_columnstore does nothing on the Apache edition, however often it is called (architecture 7)', async () => {
  const { rows: edition } = await store.database.query<{ license: string }>(
    `select current_setting('timescaledb.license') as license`,
  );
  expect(edition).toEqual([{ license: 'apache' }]);
  for (let call = 0; call < 2; call += 1) {
    const { rows } = await store.database.query('select enable_columnstore() as "isEnabled"');
    expect(rows).toEqual([{ isEnabled: false }]);
  }
  expect(await findCompressed()).toEqual([]);
});

it('points: a failure of enable_columnstore does not fail the migration (architecture 7)', async () => {
  const warnings: unknown[] = [];
  const log = Object.assign(createLog('silent', 'test'), {
    warn: (_details: unknown, message: string) => warnings.push(message),
  });
  const client = new pg.Client({ connectionString: other.url });
  await client.connect();
  await client.query(
    `create or replace function enable_columnstore() returns boolean language plpgsql as
     $$ begin raise exception 'not here'; end $$`,
  );
  await client.end();
  await migrate(other.url, log);
  expect(warnings).toEqual(['the columnstore could not be enabled; old points stay uncompressed']);
});
