/**
 * Every setting of every role: name, type, default, unit, one sentence (R-K1). Read once at start, all problems
 * reported at once, passed on as a value; nothing else reads the environment. `.env.example` is generated from it.
 */
import { z } from 'zod';
import { parseRange } from './webhooks/sending/address-rules.ts';

interface Setting<T extends z.ZodType> {
  readonly schema: T;
  readonly doc: string;
  readonly isSecret?: true;
}

const setting = <T extends z.ZodType>(schema: T, doc: string): Setting<T> => ({ schema, doc });
const secret = <T extends z.ZodType>(schema: T, doc: string): Setting<T> => ({ schema, doc, isSecret: true });

const integer = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
const list = z.string().transform((text) => text.split(',').flatMap((part) => part.trim() || []));
const numbers = (min: number, max: number) =>
  list
    .refine((texts) => texts.every((text) => Number(text) >= min && Number(text) <= max), {
      error: `must be numbers from ${min} to ${max}, separated by commas`,
    })
    .transform((texts) => texts.map(Number));
const url = (protocols: RegExp) =>
  z.url({ protocol: protocols, error: 'must be an address such as scheme://host:port/…' });

/** Ranges of addresses, as a list of `address/bits`. */
const addressRanges = list.transform((texts, context) =>
  texts.flatMap((text) => {
    const range = parseRange(text);
    if (!range) context.addIssue({ code: 'custom', message: `must be ranges such as 127.0.0.0/8, got ${text}` });
    return range ?? [];
  }),
);

const trustedIssuers = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue({ code: 'custom', message: 'must be a JSON array' });
      return z.NEVER;
    }
  })
  .pipe(z.array(z.strictObject({ issuer: z.url(), jwksUri: z.url(), audience: z.string().min(1) })));

const SETTINGS = {
  DATABASE_URL: secret(url(/^postgres(ql)?$/), 'PostgreSQL 15 or newer with TimescaleDB 2.15 or newer.'),
  DATABASE_POOL_SIZE: setting(integer(2, 200).default(12), 'Connections a process may open to the database.'),
  READ_POOL_SIZE: setting(
    integer(1, 200).default(10),
    'Answers of points a process may stream at the same time, a connection each.',
  ),
  READ_STALL_SEC: setting(
    integer(1, 3600).default(60),
    'Seconds a reader of points may take nothing before its connection to the database is taken away.',
  ),
  REDIS_URL: secret(url(/^rediss?$/), 'Redis 6.2 or newer, for BullMQ job ids.'),
  QUEUE_PREFIX: setting(
    z
      .string()
      .regex(/^[\w-]+$/)
      .default('tidemark'),
    'Prefix of every key in Redis.',
  ),
  HTTP_HOST: setting(z.string().default('127.0.0.1'), 'Address the HTTP role listens on.'),
  HTTP_PORT: setting(integer(0, 65535).default(8080), 'Port of API, push and token issuer; 0 picks a free one.'),
  API_URL: setting(z.url().optional(), 'Public address of the API; default: the listening address.'),
  PUSH_URL: setting(z.url().optional(), 'Public address of push; default: that of the API.'),
  AUTH_URL: setting(z.url().optional(), 'Public address of the token issuer; default: that of the API.'),
  GRPC_HOST: setting(z.string().default('127.0.0.1'), 'Address the gRPC role listens on.'),
  GRPC_PORT: setting(integer(0, 65535).default(50051), 'Port of the gRPC role; 0 picks a free one.'),
  WATCH_POOL_SIZE: setting(
    integer(2, 100).default(6),
    'Watches of points (WatchPoints) the gRPC role may read for at the same time, a connection each.',
  ),
  WATCH_MAX_VARIABLES: setting(integer(1, 100_000).default(5000), 'Most variables of a watch.'),
  WATCH_MAX_PER_USER: setting(integer(1, 100_000).default(100), 'Watches a user may have open in a process.'),
  WATCH_POLL_MS: setting(
    integer(100, 600_000).default(5000),
    'Milliseconds between looks for news of watched variables that Redis lost.',
  ),
  WATCH_HEARTBEAT_MS: setting(
    integer(100, 3_600_000).default(30_000),
    'Milliseconds without news after which a watch sends its cursor.',
  ),
  HEALTH_HOST: setting(z.string().default('127.0.0.1'), 'Address of the health port of roles without HTTP.'),
  HEALTH_PORT: setting(
    integer(0, 65535).optional(),
    "Port of /health/* and /metrics for whichever roles; it is the operator's, not for clients. Unset: none.",
  ),
  METRICS_TOKEN: secret(
    z.string().min(16).optional(),
    'Bearer token of whoever scrapes /metrics; unset: open on HEALTH_PORT, for an ADMIN alone on HTTP_PORT.',
  ),
  REALM: setting(
    z
      .string()
      .regex(/^[\w-]+$/)
      .default('tidemark'),
    'Realm of the embedded issuer.',
  ),
  REALM_ALIASES: setting(list.default(['opinum']), 'Further realm names that reach the same issuer.'),
  TRUSTED_ISSUERS: setting(
    trustedIssuers.optional(),
    'JSON array of {issuer, jwksUri, audience} whose tokens are accepted; default: the embedded issuer alone.',
  ),
  TOKEN_AUDIENCE: setting(z.string().min(1).default('tidemark'), 'Audience of the tokens of the embedded issuer.'),
  ACCESS_TOKEN_TTL_SEC: setting(
    integer(121, 86_400).default(3600),
    'Life of an access token in seconds; shipped clients renew on every call at 120 or less.',
  ),
  REFRESH_TOKEN_TTL_SEC: setting(integer(300, 31_536_000).default(1_209_600), 'Life of a refresh token in seconds.'),
  SIGN_IN_MAX_FAILURES: setting(
    integer(1, 1000).default(5),
    'Wrong passwords in a row after which a user may not sign in for a while.',
  ),
  SIGN_IN_LOCK_SEC: setting(integer(1, 86_400).default(900), 'Length of that while in seconds.'),
  ACCESS_CACHE_SEC: setting(integer(0, 30).default(30), 'Seconds a decision on what a user may do may be reused.'),
  PASSWORD_MIN_LENGTH: setting(integer(8, 100).default(10), 'Fewest characters of a password a user chooses.'),
  RETURN_URLS: setting(
    list.default([]),
    'Addresses the page that changes a password may return to, the first by default; none: a page of the issuer.',
  ),
  SIGNING_KEY_DAYS: setting(integer(1, 3650).default(90), 'Days after which the issuer signs with a new key.'),
  USER_DIRECTORY: setting(
    z.enum(['embedded', 'keycloak']).default('embedded'),
    'Where passwords are administered: the embedded issuer, or Keycloak (see KEYCLOAK_URL).',
  ),
  KEYCLOAK_URL: setting(
    z.url().optional(),
    'Address of Keycloak, without /realms; needed for USER_DIRECTORY=keycloak.',
  ),
  KEYCLOAK_REALM: setting(z.string().min(1).default('tidemark'), 'Realm of the users in Keycloak.'),
  KEYCLOAK_CLIENT_ID: setting(
    z.string().min(1).default('tidemark-admin'),
    'Client with a service account that may manage the users of the realm.',
  ),
  KEYCLOAK_CLIENT_SECRET: secret(z.string().optional(), 'Secret of that client.'),
  KEYCLOAK_ACCOUNT_CLIENT_ID: setting(
    z.string().min(1).default('tidemark-account'),
    'Public client of the realm whose pages users are led to.',
  ),
  EXTERNAL_USERS: setting(
    z.enum(['sub', 'email', 'businessId']).default('sub'),
    'How users of other issuers are known: by sub alone, else also by verified mail address or by BusinessId.',
  ),
  API_RATE_PER_MINUTE: setting(
    integer(0, 1_000_000).default(6000),
    'Requests a user may make to the API in a minute, evenly or in one go; 0: any number.',
  ),
  TOKEN_RATE_PER_MINUTE: setting(
    integer(0, 1_000_000).default(600),
    'Requests an address may make to the token issuer in a minute; 0: any number.',
  ),
  PROXY_HOPS: setting(
    integer(0, 10).default(0),
    'Proxies in front that append to X-Forwarded-For; 0 takes the address of the connection.',
  ),
  SMTP_URL: secret(
    url(/^smtps?$/).optional(),
    'Mail server: smtps://user:password@host:465, or smtp://user:password@host:587?requireTLS=true; without that a server that offers no TLS is sent mails in the clear. Unset: see MAIL_DIRECTORY.',
  ),
  MAIL_FROM: setting(z.email().default('no-reply@localhost.localdomain'), 'Address of the sender of mails.'),
  MAIL_DIRECTORY: setting(
    z.string().optional(),
    'Directory mails are written to when there is no server; unset too: mails wait.',
  ),
  PUSH_MAX_BODY_BYTES: setting(integer(1024, 2 ** 30).default(52_428_800), 'Largest inflated push body in bytes.'),
  PUSH_MAX_READINGS: setting(integer(1, 10_000_000).default(1_000_000), 'Most readings in one push.'),
  PUSH_MAX_ELEMENTS: setting(integer(1, 1_000_000).default(10_000), 'Most elements in one push.'),
  PUSH_MAX_QUEUE_BYTES: setting(
    integer(1 << 20, 2 ** 46).default(2 ** 31),
    'Bytes of accepted readings that may wait to be written; past them pushes are answered 503.',
  ),
  PUSH_MAX_MEMORY_BYTES: setting(
    integer(1 << 20, 2 ** 40).default(134_217_728),
    'Bytes of push bodies a process may hold at the same time; past them pushes are answered 503.',
  ),
  PUSH_BASIC_TOKEN_URL: setting(
    z.url().optional(),
    'Token endpoint where name and password of HTTP Basic on push are exchanged; default: the embedded issuer itself.',
  ),
  PUSH_BASIC_CLIENT_ID: setting(z.string().optional(), 'Client that asks there, with the grant "password".'),
  PUSH_BASIC_CLIENT_SECRET: secret(z.string().optional(), 'Secret of that client.'),
  PUSH_THREADS: setting(integer(1, 64).default(2), 'Threads of a process that read large pushes.'),
  MAPPER_TIMEOUT_MS: setting(
    integer(100, 60_000).default(8000),
    'Longest run of the mapper of a custom format in milliseconds.',
  ),
  MAPPER_MEMORY_MEBIBYTES: setting(integer(64, 65_536).default(512), 'Most memory a mapper may use, in MiB.'),
  MAPPER_PROCESSES: setting(integer(1, 64).default(2), 'Mappers a process runs at the same time.'),
  PUSH_DIRECT_WRITES: setting(
    integer(0, 64).default(2),
    'Large pushes of new dates a process may write at once as it accepts them, a connection each; 0: none.',
  ),
  PUSH_OPERATION_RETENTION_DAYS: setting(
    integer(1, 3650).default(30),
    'Days an operation and the elements it rejected are kept.',
  ),
  FILE_MAX_BYTES: setting(integer(1024, 2 ** 40).default(209_715_200), 'Largest Standard File in bytes, inflated.'),
  FILE_MAX_ROWS: setting(integer(1, 1_000_000_000).default(10_000_000), 'Most rows in one Standard File.'),
  FILE_MAX_INFLATED_BYTES: setting(
    integer(1024, 2 ** 40).default(2 ** 31),
    'Largest inflated content of a workbook in bytes.',
  ),
  FILE_MAX_RATIO: setting(
    integer(1, 10_000).default(100),
    'Most inflated bytes of a workbook for each byte it is sent in.',
  ),
  FILE_RETENTION_DAYS: setting(integer(1, 3650).default(30), 'Days a Standard File is kept with its row errors.'),
  FILE_CONCURRENCY: setting(integer(1, 64).default(2), 'Standard Files an ingester processes at the same time.'),
  INGEST_CONCURRENCY: setting(integer(1, 64).default(2), 'Accounts an ingester works on at the same time.'),
  INGEST_MAX_ROWS: setting(
    integer(1, 5_000_000).default(250_000),
    'Readings drained in one transaction, at least one batch.',
  ),
  SWEEP_INTERVAL_MS: setting(
    integer(100, 600_000).default(2000),
    'Milliseconds between looks for work that Redis lost.',
  ),
  CALC_CONCURRENCY: setting(integer(1, 64).default(2), 'Calculations a calculator runs at the same time.'),
  CALC_WALL_TIME_MS: setting(integer(100, 3_600_000).default(30_000), 'Longest run of a script in milliseconds.'),
  CALC_CPU_TIME_SEC: setting(integer(1, 3600).default(30), 'Most CPU seconds a script may use.'),
  CALC_MEMORY_BYTES: setting(
    integer(64 << 20, 64 * 2 ** 30).default(2 ** 30),
    'Most memory a script may map, in bytes.',
  ),
  CALC_TMP_BYTES: setting(
    integer(1 << 20, 2 ** 40).default(64 << 20),
    'Size of the private /tmp of a script in bytes.',
  ),
  CALC_MAX_PROCESSES: setting(integer(1, 10_000).default(64), 'Most processes and threads a script may have.'),
  CALC_MAX_INPUT_POINTS: setting(
    integer(1, 100_000_000).default(5_000_000),
    'Most points a run may read, over all its inputs.',
  ),
  CALC_MAX_OUTPUT_POINTS: setting(integer(1, 100_000_000).default(5_000_000), 'Most points a script may return.'),
  CALC_MAX_TEXT_BYTES: setting(integer(1024, 16 << 20).default(65_536), 'Most captured output text in bytes.'),
  CALC_RUN_RETENTION_DAYS: setting(integer(1, 36_500).default(90), 'Days the record of a run is kept.'),
  WEBHOOK_MAX_PENDING: setting(
    integer(10, 100_000_000).default(100_000),
    'Messages that may wait to be sent to one webhook; past them the newest are not kept, and its history says so.',
  ),
  WEBHOOK_CONCURRENCY: setting(
    integer(1, 10_000).default(200),
    'Webhooks a deliverer works on at the same time; one account gets at most a quarter of it.',
  ),
  WEBHOOK_PARALLEL: setting(integer(1, 100).default(8), 'Requests under way to one webhook at the same time.'),
  WEBHOOK_RETRY_SEC: setting(
    numbers(0, 604_800).default([5, 300, 1800, 7200, 18_000, 36_000, 36_000]),
    'Seconds from a failed try to the next one, separated by commas, as many as there are retries.',
  ),
  WEBHOOK_DISABLE_AFTER_DAYS: setting(
    integer(1, 365).default(5),
    'Days of nothing but failures after which a webhook is disabled.',
  ),
  WEBHOOK_HISTORY_DAYS: setting(integer(2, 3650).default(30), 'Days the history of webhooks is kept.'),
  R_ROOT: setting(z.string().optional(), 'Directory of the R root file system; needed by the calculator.'),
  SANDBOX: setting(
    z.enum(['bwrap', 'oci', 'none']).default('bwrap'),
    'How R is contained: bwrap, oci (podman or docker), or none (a separate uid with rlimits only, see SANDBOX_ALLOW_NONE).',
  ),
  SANDBOX_OCI_COMMAND: setting(
    z
      .string()
      .transform((text) => text.split(' ').filter(Boolean))
      .default(['podman']),
    'Container engine of SANDBOX=oci with options of its own, separated by blanks.',
  ),
  SANDBOX_OCI_IMAGE: setting(
    z.string().optional(),
    'Image with R for SANDBOX=oci; without it R_ROOT is imported as one.',
  ),
  SANDBOX_ALLOW_NONE: setting(
    flag.default(false),
    'true lets the calculator run scripts without a sandbox. Dangerous.',
  ),
  WEBHOOK_SECRET_OVERLAP_HOURS: setting(
    integer(0, 720).default(24),
    'Hours the former secret of a webhook signs deliveries beside the one that replaced it.',
  ),
  WEBHOOK_TESTS_PER_MINUTE: setting(
    integer(0, 1_000_000).default(30),
    'Tests of webhooks an account may ask for in a minute, evenly or in one go; 0: any number.',
  ),
  WEBHOOK_ALLOW_HTTP: setting(flag.default(false), 'true lets receivers of webhooks be http:// too. For local use.'),
  WEBHOOK_ALLOWED_RANGES: setting(
    addressRanges.default([]),
    'Ranges of addresses such as 127.0.0.0/8 where receivers of webhooks may be besides the public internet.',
  ),
  WEBHOOK_TIMEOUT_MS: setting(
    integer(100, 60_000).default(15_000),
    'Milliseconds a receiver of webhooks has for everything, from its name to the end of its answer.',
  ),
  LOG_LEVEL: setting(
    z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
    'Least severe log line.',
  ),
  SHUTDOWN_TIMEOUT_MS: setting(integer(1000, 30_000).default(25_000), 'Milliseconds a process may take to stop.'),
} as const;

type Settings = typeof SETTINGS;
type EnvironmentConfig = { readonly [Name in keyof Settings]: z.output<Settings[Name]['schema']> };

/** The validated settings, by the names of the environment. */
export type Config = EnvironmentConfig;

/** The environment does not satisfy the settings; `problems` names each, without printing values of secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`settings are not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * Reads all settings. An empty variable counts as absent.
 * @throws ConfigError naming every problem found.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const entries = Object.entries(SETTINGS).map(([name, { schema }]) => {
    const result = schema.safeParse(environment[name] || undefined);
    if (!result.success) problems.push(`${name} ${describe(environment[name], result.error)}`);
    return [name, result.data];
  });
  if (problems.length > 0) throw new ConfigError(problems);
  const config = Object.fromEntries(entries) as Config;
  assertKeycloak(config);
  assertBasic(config);
  const needed = poolNeeded(config);
  if (config.DATABASE_POOL_SIZE >= needed) return config;
  throw new ConfigError([
    `DATABASE_POOL_SIZE must be at least ${needed} for this CALC_CONCURRENCY, INGEST_CONCURRENCY, FILE_CONCURRENCY and PUSH_DIRECT_WRITES`,
  ]);
}

function assertKeycloak(config: Config): void {
  if (config.USER_DIRECTORY !== 'keycloak' || (config.KEYCLOAK_URL && config.KEYCLOAK_CLIENT_SECRET)) return;
  throw new ConfigError(['KEYCLOAK_URL and KEYCLOAK_CLIENT_SECRET are required for USER_DIRECTORY=keycloak']);
}

function assertBasic({ PUSH_BASIC_TOKEN_URL, PUSH_BASIC_CLIENT_ID }: Config): void {
  if (PUSH_BASIC_TOKEN_URL === undefined || PUSH_BASIC_CLIENT_ID !== undefined) return;
  throw new ConfigError(['PUSH_BASIC_CLIENT_ID is required for PUSH_BASIC_TOKEN_URL']);
}

/** A calculation holds a connection while it runs and asks for another now and then; an ingest, a file, a direct write hold one. */
function poolNeeded(config: Config): number {
  const { CALC_CONCURRENCY, INGEST_CONCURRENCY, FILE_CONCURRENCY, PUSH_DIRECT_WRITES } = config;
  return 2 * CALC_CONCURRENCY + INGEST_CONCURRENCY + FILE_CONCURRENCY + PUSH_DIRECT_WRITES + 2;
}

function describe(value: string | undefined, error: z.ZodError): string {
  return value ? error.issues.map((issue) => issue.message).join('; ') : 'is required';
}

/** The text of `.env.example`: every setting with its sentence and default. */
export function envExample(): string {
  return Object.entries(SETTINGS)
    .map(([name, { schema, doc, ...rest }]) => {
      const isOptional = schema.safeParse(undefined).success;
      const mark = 'isSecret' in rest ? ' (secret)' : '';
      return `# ${doc}${mark}\n${isOptional ? '# ' : ''}${name}=${defaultText(schema)}\n`;
    })
    .join('\n');
}

function defaultText(schema: z.ZodType): string {
  const value = schema.safeParse(undefined).data;
  return value === undefined ? '' : String(value);
}
