/**
 * Services somebody else runs: when DATABASE_URL and REDIS_URL are set they are used, after a look that they will do.
 * Every problem is one sentence that says what to change.
 */
import { Redis } from 'ioredis';
import pg from 'pg';
import { SetupError } from '../setup-error.ts';

const CONNECT_TIMEOUT_MS = 5000;
const OLDEST_POSTGRES = 15;
const OLDEST_TIMESCALE = [2, 15] as const;
const OLDEST_REDIS = [6, 2] as const;

export interface ExternalServices {
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

/** The services the environment names; undefined when it names none. @throws SetupError when it names only one. */
export function readExternalServices(
  environment: Readonly<Record<string, string | undefined>>,
): ExternalServices | undefined {
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = environment;
  if (databaseUrl && redisUrl) return { databaseUrl, redisUrl };
  if (!databaseUrl && !redisUrl) return undefined;
  const [present, absent] = databaseUrl ? ['DATABASE_URL', 'REDIS_URL'] : ['REDIS_URL', 'DATABASE_URL'];
  throw new SetupError(`${present} is set and ${absent} is not; set both to use your own services, or neither.`);
}

/** @throws SetupError when one cannot be reached, is too old, or lacks TimescaleDB. */
export async function checkExternalServices({ databaseUrl, redisUrl }: ExternalServices): Promise<void> {
  await checkPostgres(databaseUrl);
  await checkRedis(redisUrl);
}

async function checkPostgres(url: string): Promise<void> {
  const client = await connectPostgres(url);
  try {
    const { rows: versions } = await client.query<{ version: string }>(
      `select current_setting('server_version') version`,
    );
    const version = versions[0]?.version ?? 'unknown';
    if (Number.parseInt(version, 10) < OLDEST_POSTGRES) {
      throw new SetupError(`DATABASE_URL leads to PostgreSQL ${version}; ${OLDEST_POSTGRES} or newer is needed.`);
    }
    const { rows: extensions } = await client.query<{ version: string }>(
      `select coalesce(installed_version, default_version) as version
       from pg_available_extensions where name = 'timescaledb'`,
    );
    assertTimescale(extensions[0]?.version);
  } finally {
    await client.end();
  }
}

async function connectPostgres(url: string): Promise<pg.Client> {
  try {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  } catch (error) {
    throw new SetupError(`DATABASE_URL leads to ${addressOf(url)}, which cannot be used: ${reasonOf(error)}.`);
  }
}

function assertTimescale(version: string | undefined): void {
  const wanted = OLDEST_TIMESCALE.join('.');
  if (version === undefined) {
    throw new SetupError(
      `The PostgreSQL at DATABASE_URL has no TimescaleDB; install ${wanted} or newer on its server.`,
    );
  }
  if (isOlder(version, OLDEST_TIMESCALE)) {
    throw new SetupError(`The PostgreSQL at DATABASE_URL has TimescaleDB ${version}; ${wanted} or newer is needed.`);
  }
}

async function checkRedis(url: string): Promise<void> {
  const info = await readRedisInfo(url);
  const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown';
  if (isOlder(version, OLDEST_REDIS)) {
    throw new SetupError(`REDIS_URL leads to Redis ${version}; ${OLDEST_REDIS.join('.')} or newer is needed.`);
  }
}

async function readRedisInfo(url: string): Promise<string> {
  let client: Redis | undefined;
  // ioredis tells the caller only that the connection was closed; why comes as an event.
  const seen: { error?: unknown } = {};
  try {
    client = new Redis(url, {
      lazyConnect: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
    });
    client.on('error', (error) => {
      seen.error ??= error;
    });
    await client.connect();
    return await client.info('server');
  } catch (error) {
    throw new SetupError(
      `REDIS_URL leads to ${addressOf(url)}, which cannot be used: ${reasonOf(seen.error ?? error)}.`,
    );
  } finally {
    client?.disconnect();
  }
}

/** Whether `version` ("7.0.15") is before `oldest` by its first two numbers; what is no version counts as old. */
export function isOlder(version: string, oldest: readonly [number, number]): boolean {
  const [major = Number.NaN, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  if (Number.isNaN(major)) return true;
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
}

/** Host and port, never the password. */
function addressOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'something that is not an address';
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
