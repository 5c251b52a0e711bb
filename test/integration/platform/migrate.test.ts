import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createTestDatabase, type TestDatabase } from '../../support/services/stack.ts';

const LOG = createLog('silent', 'test');

let test: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  test = await createTestDatabase();
  client = new pg.Client({ connectionString: test.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await test.drop();
});

const history = async () => (await client.query('select name, hash from schema_migration order by name')).rows;

describe('migrate: schema history', () => {
  it('an applied migration does not run again (architecture, SQL)', async () => {
    const before = await history();
    expect(before.length).toBeGreaterThan(5);
    await migrate(test.url, LOG);
    expect(await history()).toEqual(before);
  });

  it.each([
    ['was edited after it was applied', `update schema_migration set hash = 'x' where name like '0004%'`],
    ['belongs to a newer version', `insert into schema_migration (name, hash) values ('9999_future.sql', 'x')`],
  ])('an applied migration that %s is an error, and the schema stays unchanged', async (_what, forgery) => {
    await client.query('begin; create table kept as select * from schema_migration; commit');
    await client.query(forgery);
    const forged = await history();
    await expect(migrate(test.url, LOG)).rejects.toThrow(/must not change after it was applied|does not know/);
    expect(await history()).toEqual(forged);
    await client.query('truncate schema_migration; insert into schema_migration select * from kept; drop table kept');
    await expect(migrate(test.url, LOG)).resolves.toBeUndefined();
  });

  it('concurrent processes apply each migration once, and functions whenever they change', async () => {
    const name = `${test.database}_empty`;
    const url = new URL(test.url);
    url.pathname = `/${name}`;
    await client.query(`create database ${client.escapeIdentifier(name)} template template0`);
    try {
      await Promise.all([migrate(url.href, LOG), migrate(url.href, LOG), migrate(url.href, LOG)]);
      const other = new pg.Client({ connectionString: url.href });
      await other.connect();
      const { rows } = await other.query('select name, hash from schema_migration order by name');
      expect(rows).toEqual(await history());
      await other.query(`drop view series_setting; update schema_migration set hash = 'old' where name = 'functions'`);
      await migrate(url.href, LOG);
      expect((await other.query('select count(*) from series_setting')).rowCount).toBe(1);
      await other.end();
    } finally {
      await client.query(`drop database ${client.escapeIdentifier(name)} with (force)`);
    }
  });
});
