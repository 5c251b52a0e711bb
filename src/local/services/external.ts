/** Reads DATABASE_URL and REDIS_URL, and checks the external database and Redis that these settings name. */
import { Redis } from 'ioredis';
import pg from 'pg';
import { SetupError } from '../setup-error.ts';

const CONNECT_TIMEOUT_MS = 5000;
const MIN_POSTGRES = 15;
const MIN_TIMESCALE = [2, 15] as const;
const MIN_REDIS = [6, 2] as const;

export interface ExternalServices {
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

/**
 * Reads the external services from DATABASE_URL and REDIS_URL of `environment`.
 * @returns undefined when neither URL is set.
 * @throws {SetupError} when only one URL is set.
 */
export function readExternalServices(
  environment: Readonly<Record<string, string | undefined>>,
): ExternalServices | undefined {
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = environment;
  if (databaseUrl && redisUrl) return { databaseUrl, redisUrl };
  if (!databaseUrl && !redisUrl) return undefined;
  const [present, absent] = databaseUrl ? ['DATABASE_URL', 'REDIS_URL'] : ['REDIS_URL', 'DATABASE_URL'];
  throw new SetupError(`${present} is set and ${absent} is not; set both to use your own services, or neither.`);
}

/**
 * Checks the database and Redis that the environment names (R-K1).
 * @throws {SetupError} when a service is unreachable or too old, or the database lacks TimescaleDB.
 */
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
    if (Number.parseInt(version, 10) < MIN_POSTGRES) {
      throw new SetupError(`The PostgreSQL at DATABASE_URL must be version ${MIN_POSTGRES} or newer, got ${version}.`);
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
    throw new SetupError(`Cannot connect to DATABASE_URL (${addressOf(url)}): ${reasonOf(error)}.`);
  }
}

function assertTimescale(version: string | undefined): void {
  const wanted = MIN_TIMESCALE.join('.');
  if (version === undefined) {
    throw new SetupError(
      `The PostgreSQL server at DATABASE_URL has no TimescaleDB; install TimescaleDB ${wanted} or newer on it.`,
    );
  }
  if (isOlder(version, MIN_TIMESCALE)) {
    throw new SetupError(
      `The TimescaleDB at DATABASE_URL must be version ${wanted} or newer, got ${version}. ` +
        'Install a newer version on the server; if the database already has the extension, also run ' +
        '`alter extension timescaledb update` in the database.',
    );
  }
}

async function checkRedis(url: string): Promise<void> {
  const info = await readRedisInfo(url);
  const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown';
  if (isOlder(version, MIN_REDIS)) {
    throw new SetupError(`The Redis at REDIS_URL must be version ${MIN_REDIS.join('.')} or newer, got ${version}.`);
  }
}

async function readRedisInfo(url: string): Promise<string> {
  let client: Redis | undefined;
  // ioredis rejects with "Connection is closed"; only the `error` event before the rejection contains the reason.
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
    throw new SetupError(`Cannot connect to REDIS_URL (${addressOf(url)}): ${reasonOf(seen.error ?? error)}.`);
  } finally {
    client?.disconnect();
  }
}

/**
 * Compares the major and minor number of `version` ("7.0.15") with `oldest`.
 * @returns true when `version` is older, and also when `version` does not begin with a number.
 */
export function isOlder(version: string, oldest: readonly [number, number]): boolean {
  const [major = Number.NaN, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  if (Number.isNaN(major)) return true;
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
}

/** @returns only the host and port of a URL, so that no message shows its password; `not a URL` for any other text. */
function addressOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'not a URL';
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
