import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { createLog } from '../../../src/platform/log.ts';
import { eventually } from '../../support/eventually.ts';
import { BEGIN_HOLDING, createTestDatabase, type TestDatabase } from '../../support/services/stack.ts';

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

/** Waits until the migration of this database waits for a lock. @returns the process id of the migration's session. */
const waitUntilLocked = () =>
  eventually('the migration to wait for a lock', async () => {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity
       where datname = current_database() and application_name = 'tidemark-migrate' and wait_event_type = 'Lock'`,
    );
    return rows[0]?.pid;
  });

const history = async () => (await client.query('select name, hash from schema_migration order by name')).rows;

describe('migrate: schema history', () => {
  it('an applied migration does not run again', async () => {
    const before = await history();
    expect(before.length).toBeGreaterThan(5);
    await migrate(test.url, LOG);
    expect(await history()).toEqual(before);
  });

  it.each([
    [
      'was edited after it was applied',
      `update schema_migration set hash = 'x' where name like '0004%'`,
      /sql\/migrations\/0004_.* differs from the migration that was applied; restore the file/,
    ],
    [
      'belongs to a newer version',
      `insert into schema_migration (name, hash) values ('9999_future.sql', 'x')`,
      /has migration 9999_future.sql, which this version does not know/,
    ],
  ])('fails when an applied migration %s, and leaves the history unchanged', async (_what, forgery, message) => {
    await client.query('begin; create table kept as select * from schema_migration; commit');
    await client.query(forgery);
    const forged = await history();
    await expect(migrate(test.url, LOG)).rejects.toThrow(message);
    expect(await history()).toEqual(forged);
    await client.query('truncate schema_migration; insert into schema_migration select * from kept; drop table kept');
    await expect(migrate(test.url, LOG)).resolves.toBeUndefined();
  });

  it('when a migration loses its connection, the migration fails and the process keeps running (R-K3)', async () => {
    const holder = new pg.Client({ connectionString: test.url });
    await holder.connect();
    await holder.query(`${BEGIN_HOLDING}; lock table schema_migration in access exclusive mode`);
    const migrating = migrate(test.url, LOG).catch((error: unknown) => error);
    await client.query('select pg_terminate_backend($1)', [await waitUntilLocked()]);
    expect(await migrating).toMatchObject({ message: expect.stringMatching(/terminat/) });
    await holder.end();
  });

  describe('during a long read transaction', () => {
    let reader: pg.Client;
    beforeEach(async () => {
      reader = new pg.Client({ connectionString: test.url });
      await reader.connect();
      await reader.query(`${BEGIN_HOLDING}; select count(*) from series_setting`);
      // The changed hash makes the next migration replace the view `series_setting`, which needs an exclusive lock.
      await client.query(`update schema_migration set hash = 'old' where name = 'functions'`);
    });
    afterEach(() => reader.end());

    it('a migration does not block later reads, and runs when the transaction ends (R-A14)', async () => {
      const migrating = migrate(test.url, LOG, { lockTimeoutMs: 100, pauseMs: 100, tries: 1000 });
      await waitUntilLocked();
      await client.query('set statement_timeout = 5000');
      await client.query('select count(*) from series_setting');
      await client.query('set statement_timeout = 0');
      await reader.query('commit');
      await migrating;
      expect((await history()).find(({ name }) => name === 'functions')?.hash).not.toBe('old');
    });

    it('a migration that does not get its locks fails with an error that says what to do, and is not recorded as applied (R-A14)', async () => {
      const migrating = migrate(test.url, LOG, { lockTimeoutMs: 50, pauseMs: 10, tries: 2 });
      await expect(migrating).rejects.toThrow(/migration functions did not get its locks.* end the long transactions/);
      expect((await history()).find(({ name }) => name === 'functions')?.hash).toBe('old');
      await reader.query('commit');
      await migrate(test.url, LOG);
    });
  });

  it('concurrent migrations leave the same history as a single migration', async () => {
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
