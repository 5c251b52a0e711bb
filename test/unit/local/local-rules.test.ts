import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { announce } from '../../../src/local/announcement.ts';
import { cacheDirectory } from '../../../src/local/paths.ts';
import { databaseRecipe, rRecipe } from '../../../src/local/roots/recipes.ts';
import { readOrMakeSecrets } from '../../../src/local/secrets.ts';
import { isOlder, readExternalServices } from '../../../src/local/services/external.ts';
import { findNamespaceRefusal } from '../../../src/local/services/launcher.ts';
import { tryLock } from '../../../src/local/services/lock.ts';
import { findFreePort } from '../../../src/local/services/ports.ts';
import { withDatabase } from '../../../src/local/services/postgres.ts';
import { awaitService } from '../../../src/local/services/service.ts';
import { type Stack, writeStackFile } from '../../../src/local/stack.ts';

const directory = mkdtempSync(join(tmpdir(), 'tidemark-local-'));
afterAll(() => rmSync(directory, { recursive: true }));

const STACK: Stack = {
  api: 'http://127.0.0.1:8080',
  push: 'http://127.0.0.1:8080',
  auth: 'http://127.0.0.1:8080',
  grpc: '127.0.0.1:50051',
  realm: 'tidemark',
  clientId: 'demo',
  clientSecret: 'client-secret',
  database: 'postgres://tidemark:p@127.0.0.1:5432/tidemark',
  redis: 'redis://:p@127.0.0.1:6379/0',
  users: [{ userName: 'max', password: 'max-password', role: 'MANAGER', account: 'Demo' }],
};

describe('npm start: DATABASE_URL and REDIS_URL', () => {
  it('when both are set, npm start uses these external services; when neither is set, it starts its own (R-K1)', () => {
    const services = { databaseUrl: 'postgres://a/b', redisUrl: 'redis://c' };
    expect(readExternalServices({ DATABASE_URL: 'postgres://a/b', REDIS_URL: 'redis://c' })).toEqual(services);
    expect(readExternalServices({ DATABASE_URL: '', REDIS_URL: '' })).toBeUndefined();
  });

  it.each([
    [{ DATABASE_URL: 'postgres://a/b' }, 'DATABASE_URL is set and REDIS_URL is not'],
    [{ REDIS_URL: 'redis://c' }, 'REDIS_URL is set and DATABASE_URL is not'],
  ])('one setting without the other is refused: %j (R-K1)', (environment, sentence) => {
    expect(() => readExternalServices(environment)).toThrow(sentence);
  });

  it.each([
    ['6.0.16', 'too old'],
    ['6.2.0', 'new enough'],
    ['7.0', 'new enough'],
    ['10.1.2', 'new enough'],
    ['unknown', 'too old'],
  ])('the Redis version %j is %s when 6.2 is required (R-K1)', (version, verdict) => {
    expect(isOlder(version, [6, 2])).toBe(verdict === 'too old');
  });
});

describe('npm start: state of a checkout', () => {
  it('secrets are generated once and readable by the owner only', () => {
    const path = join(directory, 'secrets.json');
    const secrets = readOrMakeSecrets(path);
    expect(readOrMakeSecrets(path)).toEqual(secrets);
    expect(new Set(Object.values(secrets)).size).toBe(Object.values(secrets).length);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('stack.json has the addresses of the stack and is readable by the owner only', () => {
    const path = join(directory, 'stack.json');
    writeStackFile(STACK, path);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(STACK);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(existsSync(`${path}.new`)).toBe(false);
  });

  it('a lock has one holder, and is free after its holder releases it (R-K3)', () => {
    const path = join(directory, 'lock');
    const first = tryLock(path);
    expect(first).toBeDefined();
    expect(tryLock(path)).toBeUndefined();
    first?.[Symbol.dispose]();
    const second = tryLock(path);
    expect(second).toBeDefined();
    second?.[Symbol.dispose]();
  });

  it('a requested port is used if it is free; otherwise, another port below the ephemeral ports of Linux is used', async () => {
    const port = await findFreePort();
    expect(await findFreePort(port)).toBe(port);
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    const other = await findFreePort(port);
    expect(other).not.toBe(port);
    expect(other).toBeLessThan(32_768);
    await new Promise((resolve) => taken.close(resolve));
  });

  it('root file systems are cached below XDG_CACHE_HOME, or below ~/.cache when it is not set', () => {
    expect(cacheDirectory({ XDG_CACHE_HOME: '/somewhere' })).toBe('/somewhere/tidemark');
    expect(cacheDirectory({})).toMatch(/\/\.cache\/tidemark$/);
  });
});

describe('npm start: a service that cannot start', () => {
  const start = (command: readonly [string, ...string[]], failure?: string) => {
    const child = spawn(command[0], command.slice(1));
    const pid: Promise<number> =
      failure === undefined ? Promise.resolve(Number(child.pid)) : Promise.reject(new Error(failure));
    pid.catch(() => undefined);
    return awaitService({
      ...{ name: 'Redis', url: 'redis://127.0.0.1', program: { child, pid }, logFile: join(directory, 'redis.log') },
      ...{ stopSignal: 'SIGTERM', stopTimeoutMs: 5000, readyTimeoutMs: failure === undefined ? 10 : 60_000 },
      probe: async () => {
        throw new Error('no answer');
      },
    });
  };

  it('when the process of the service ends, the error gives the reason', async () => {
    const sentence = `Redis ended before it was ready (no namespaces):\n(full log: ${directory}/redis.log)`;
    await expect(start(['true'], 'no namespaces')).rejects.toThrow(sentence);
  });

  it('the time-out error gives the waiting time and the last error of the readiness check', async () => {
    await expect(start(['sleep', '60'])).rejects.toThrow('Redis is not ready after 0.01 s: no answer');
  });
});

it('npm start: when the program that creates namespaces is missing, the message says that this program is not installed', () => {
  vi.stubEnv('PATH', directory);
  try {
    expect(findNamespaceRefusal({})).toMatch(/^(bwrap|unshare) is not installed$/);
  } finally {
    vi.unstubAllEnvs();
  }
});

describe('npm start: recipes of the root file systems', () => {
  it('recipes with the same content have the same hash, and different recipes have different hashes', () => {
    expect(databaseRecipe({}).hash).toMatch(/^[0-9a-f]{12}$/);
    expect(databaseRecipe({}).hash).toBe(databaseRecipe({}).hash);
    expect(rRecipe().hash).not.toBe(databaseRecipe().hash);
  });

  it('TIMESCALEDB_BUILD must name a build of TimescaleDB, and the hash of the database recipe changes with the files of the build', () => {
    const build = mkdtempSync(join(tmpdir(), 'timescaledb-'));
    const recipe = () => databaseRecipe({ TIMESCALEDB_BUILD: build });
    try {
      expect(recipe).toThrow(
        `TIMESCALEDB_BUILD must name a build of TimescaleDB: ${build}/lib has no timescaledb files.`,
      );
      for (const part of ['lib', 'extension']) {
        mkdirSync(join(build, part));
        writeFileSync(join(build, part, 'timescaledb.any'), 'first');
      }
      const { hash, hooks, stagedFiles } = recipe();
      expect(Object.keys(stagedFiles)).toEqual([
        'timescaledb/lib/timescaledb.any',
        'timescaledb/extension/timescaledb.any',
      ]);
      expect(hooks.length).toBe(databaseRecipe({}).hooks.length + 2);
      expect(hash).not.toBe(databaseRecipe({}).hash);
      writeFileSync(join(build, 'lib', 'timescaledb.any'), 'second');
      expect(recipe().hash).not.toBe(hash);
    } finally {
      rmSync(build, { recursive: true });
    }
  });

  it('the packages of the recipes include TimescaleDB, Redis and R; comments in the package lists are not read as package names', () => {
    expect(databaseRecipe().packages).toEqual(expect.arrayContaining(['postgresql-17-timescaledb', 'redis-server']));
    expect(rRecipe().packages).toContain('r-base-core');
    const scripts = ['dplyr', 'lubridate', 'zoo', 'xts', 'data.table', 'purrr', 'jsonlite'];
    expect(rRecipe().packages).toEqual(expect.arrayContaining(scripts.map((name) => `r-cran-${name}`)));
    for (const name of [...databaseRecipe().packages, ...rRecipe().packages]) expect(name).toMatch(/^[a-z0-9.+-]+$/);
  });
});

describe('npm start: the closing text', () => {
  it('lists the addresses of the API and gRPC, the client secret, the password of the user and three curl commands, and ends with "Tidemark is ready"', () => {
    const text = announce(STACK);
    for (const part of [STACK.api, STACK.grpc, STACK.clientSecret, 'max-password']) expect(text).toContain(part);
    expect(text.match(/curl/g)).toHaveLength(3);
    expect(text).toMatch(/\nTidemark is ready\n$/);
  });
});

it('npm start: replacing the database in a URL keeps user, password, host and port', () => {
  expect(withDatabase('postgres://u:p%2F@127.0.0.1:5433/postgres', 'x')).toBe('postgres://u:p%2F@127.0.0.1:5433/x');
});
