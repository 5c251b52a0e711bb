import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { checkExternalServices } from '../../../src/local/services/external.ts';
import { findFreePort } from '../../../src/local/services/ports.ts';
import { createTestDatabase, testRedisUrl } from '../../support/services/stack.ts';

const SCRIPT = new URL('../../support/services/services-process.ts', import.meta.url).pathname;

interface Addresses {
  readonly serverUrl: string;
  readonly redisUrl: string;
}

describe('npm start: TimescaleDB and Redis', { timeout: 120_000 }, () => {
  let directory: string;
  let processes: ChildProcess[];

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'tidemark-services-'));
    processes = [];
  });

  afterEach(async () => {
    for (const child of processes.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    rmSync(directory, { recursive: true, force: true });
  });

  function start(): ChildProcess {
    const child = spawn(process.execPath, [SCRIPT, directory], { stdio: ['ignore', 'pipe', 'pipe'] });
    processes.push(child);
    return child;
  }

  it('both start again after the process that started them was killed, and TimescaleDB keeps its committed rows (R-K3)', async () => {
    const first = start();
    const addresses = await readAddresses(first);
    await withClient(addresses.serverUrl, (client) => client.query('create table kept as select 42 as value'));
    await withRedis(addresses.redisUrl, (redis) => redis.set('kept', 'yes'));

    first.kill('SIGKILL');
    await once(first, 'exit');
    await expect.poll(() => canConnect(addresses.serverUrl), { timeout: 10_000 }).toBe(false);

    const again = await readAddresses(start());
    const { rows } = await withClient(again.serverUrl, (client) => client.query('select value from kept'));
    expect(rows).toEqual([{ value: 42 }]);
    expect(again.serverUrl).toBe(addresses.serverUrl);
    // Redis saves its log to disk once a second, so a key set in the last second may be lost. The test therefore does
    // not read the key; it checks only that Redis answers.
    expect(await withRedis(again.redisUrl, (redis) => redis.ping())).toBe('PONG');
  });

  it('a second start in the same directory is refused, and the database of the first start keeps running (R-K3)', async () => {
    const addresses = await readAddresses(start());
    const second = start();
    const errors = collect(second);
    expect(await once(second, 'exit')).toEqual([1, null]);
    expect(errors.join('')).toContain('is already running');
    expect(await canConnect(addresses.serverUrl)).toBe(true);
  });
});

describe('npm start: external services (DATABASE_URL and REDIS_URL)', () => {
  it('a database server and a Redis server of supported versions are accepted (R-K1)', async () => {
    const services = { databaseUrl: inject('serverUrl'), redisUrl: testRedisUrl() };
    await expect(checkExternalServices(services)).resolves.toBeUndefined();
  });

  it('when a service is unreachable, the error names the setting of its URL but not the password in the URL (R-K1)', async () => {
    const port = await findFreePort();
    const databaseUrl = `postgres://someone:hidden@127.0.0.1:${port}/x`;
    const noDatabase = await failureOf(checkExternalServices({ databaseUrl, redisUrl: testRedisUrl() }));
    expect(noDatabase).toMatch(/^Cannot connect to DATABASE_URL \(127\.0\.0\.1:\d+\): .*ECONNREFUSED/);
    expect(noDatabase).not.toContain('hidden');
    const redisUrl = `redis://:hidden@127.0.0.1:${port}`;
    const noRedis = await failureOf(checkExternalServices({ databaseUrl: inject('serverUrl'), redisUrl }));
    expect(noRedis).toMatch(/^Cannot connect to REDIS_URL \(127\.0\.0\.1:\d+\): .*ECONNREFUSED/);
    expect(noRedis).not.toContain('hidden');
  });

  it('when the database password is wrong, the error says that authentication failed (R-K1)', async () => {
    const url = Object.assign(new URL(inject('serverUrl')), { password: 'wrong' }).toString();
    const sentence = await failureOf(checkExternalServices({ databaseUrl: url, redisUrl: testRedisUrl() }));
    expect(sentence).toContain('password authentication failed');
  });
});

describe('test support: a test database', () => {
  it('a test database is migrated, empty and separate from other test databases', async () => {
    const [one, two] = [await createTestDatabase(), await createTestDatabase()];
    await withClient(one.url, (client) => client.query(`insert into account (name) values ('only here')`));
    const { rows } = await withClient(two.url, (client) => client.query('select count(*)::int as count from account'));
    expect(rows).toEqual([{ count: 0 }]);
    await Promise.all([one.drop(), two.drop()]);
    expect(await canConnect(one.url)).toBe(false);
  });
});

async function readAddresses(child: ChildProcess): Promise<Addresses> {
  const errors = collect(child);
  if (!child.stdout) throw new Error('the process has no output');
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line) as Addresses;
  throw new Error(`the services did not start:\n${errors.join('')}`);
}

function collect(child: ChildProcess): readonly string[] {
  const chunks: string[] = [];
  child.stderr?.on('data', (chunk) => chunks.push(String(chunk)));
  return chunks;
}

async function failureOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'it did not fail',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

async function canConnect(url: string): Promise<boolean> {
  return withClient(url, async () => true).catch(() => false);
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function withRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url);
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
