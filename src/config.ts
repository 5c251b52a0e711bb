/**
 * Every setting of every role: name, type, default and description (R-K1). `main.ts` reads the settings once at
 * start, reports all problems together and passes the values on; the roles do not read the environment themselves.
 * `env-example.ts` generates `.env.example` from the settings.
 */
import { z } from 'zod';
import { INTAKE_SETTINGS } from './intake-settings.ts';
import { findConflicts } from './setting-conflicts.ts';
import {
  addressRanges,
  choice,
  flag,
  identifier,
  integer,
  list,
  numbers,
  origins,
  secret,
  serverUrl,
  setting,
  trustedIssuers,
  vaultKeys,
  webUrl,
} from './setting-types.ts';

export const SETTINGS = {
  DATABASE_URL: secret(
    serverUrl('postgres', 'postgresql'),
    'URL of PostgreSQL 15 or newer with TimescaleDB 2.15 or newer.',
  ),
  DATABASE_POOL_SIZE: setting(
    integer(2, 200).default(12),
    'Maximum number of connections in the main database pool, per process. READ_POOL_SIZE and WATCH_POOL_SIZE add connections. A process may also open short-lived connections outside its pools. The number of authenticated REST requests that hold connections of the main pool at the same time is at most three quarters of this maximum.',
  ),
  DATABASE_MAX_PER_ACCOUNT: setting(
    integer(1, 200).default(6),
    'Maximum number of requests of one account that may hold database connections at the same time, per process. If this is not lower than the maximum for all accounts (see DATABASE_POOL_SIZE), the service uses that maximum minus 1.',
  ),
  READ_POOL_SIZE: setting(
    integer(2, 200).default(10),
    'Maximum number of exports, long listings and reads of points, counted together, that run at the same time, per process. Each of them uses one database connection.',
  ),
  READ_MAX_PER_ACCOUNT: setting(
    integer(1, 200).default(5),
    'Maximum number of exports, long listings and reads of points, counted together, that one account may run at the same time, per process. At least one of the READ_POOL_SIZE connections always remains for other accounts.',
  ),
  READ_AHEAD_BYTES: setting(
    integer(0, 2 ** 34).default(67_108_864),
    'Maximum memory per process, in bytes, for points, listings and exports that were read but that slow clients have not yet received. One account may use at most a quarter.',
  ),
  READ_STALL_SEC: setting(
    integer(1, 3600).default(60),
    'Number of seconds after which the service aborts a streamed answer (points, long listings, exports) or a GET /data/watch if the client reads no data. It also aborts an answer that uses a READ_POOL_SIZE connection if the client needs longer to take the data read ahead (about 2 MiB); while another account waits for such a connection, this limit is at most 2 seconds.',
  ),
  READ_MIN_BYTES_PER_SEC: setting(
    integer(0, 1_000_000_000).default(16_384),
    'Minimum average rate at which a client must receive a streamed answer, in bytes per second. The rate is averaged over READ_STALL_SEC; bytes are counted before compression. 0 means that only READ_STALL_SEC applies.',
  ),
  READ_MAX_SEC: setting(
    integer(1, 86_400).default(3600),
    'Maximum number of seconds that a streamed answer or a GET /data/watch may take.',
  ),
  REDIS_URL: secret(
    serverUrl('redis', 'rediss'),
    'URL of Redis 6.2 or newer, for wake-ups, notifications and rate limits.',
  ),
  QUEUE_PREFIX: setting(identifier.default('tidemark'), 'Prefix of all Redis keys.'),
  HTTP_HOST: setting(z.string().default('127.0.0.1'), 'Address on which the api role listens.'),
  HTTP_PORT: setting(
    integer(0, 65535).default(8080),
    'Port of the api role: REST API, push and token issuer; 0 lets the system choose one.',
  ),
  HTTP_MIN_BODY_BYTES_PER_SEC: setting(
    integer(0, 2 ** 30).default(4096),
    'Minimum rate of request bodies in bytes per second; a request whose body falls 20 s behind this rate gets status 408. 0 means no minimum.',
  ),
  API_URL: setting(webUrl.optional(), 'Public URL of the API. Default: the address on which the api role listens.'),
  PUSH_URL: setting(webUrl.optional(), 'Public URL for pushes. Default: API_URL.'),
  AUTH_URL: setting(webUrl.optional(), 'Public URL of the embedded token issuer, without /realms. Default: API_URL.'),
  CORS_ORIGINS: setting(
    origins.default([]),
    'Comma-separated origins, such as https://app.example.com, whose pages may call the REST API and push from scripts; * means any origin. With HTTP Basic, * allows pages only GET and HEAD; for other requests, such as pushes, list the origin of the page.',
  ),
  CONSOLE_DIRECTORY: setting(
    z.string().optional(),
    'Directory of the built console, served at / and /console. When unset, there is no console.',
  ),
  GRPC_HOST: setting(z.string().default('127.0.0.1'), 'Address on which the grpc role listens.'),
  GRPC_PORT: setting(integer(0, 65535).default(50051), 'Port of the grpc role; 0 lets the system choose one.'),
  WATCH_POOL_SIZE: setting(
    integer(2, 100).default(6),
    'Maximum number of database connections for watches (WatchPoints, GET /data/watch), per process. Watches that read many points use at most half of these connections.',
  ),
  WATCH_MAX_VARIABLES: setting(
    integer(1, 100_000).default(5000),
    'Maximum number of variables in one watch. GET /data/watch accepts at most 250 variables, even when this setting is higher.',
  ),
  WATCH_MAX_PER_USER: setting(integer(1, 100_000).default(100), 'Maximum number of open watches per user and process.'),
  WATCH_MAX: setting(
    integer(2, 1_000_000).default(10_000),
    'Maximum number of open watches per process; one account may have at most half of them, rounded up.',
  ),
  WATCH_POLL_MS: setting(
    integer(100, 600_000).default(5000),
    'Number of milliseconds between polls for changes whose Redis notification was lost.',
  ),
  WATCH_HEARTBEAT_MS: setting(
    integer(100, 3_600_000).default(30_000),
    'A watch sends its cursor when it has sent no message for this many milliseconds. The time is checked once per second.',
  ),
  HEALTH_HOST: setting(z.string().default('127.0.0.1'), 'Address on which HEALTH_PORT is opened.'),
  HEALTH_PORT: setting(
    integer(0, 65535).optional(),
    'Port on which any role serves /health/* and /metrics; it is meant for the operator, not for clients. When unset, this port is not opened.',
  ),
  METRICS_TOKEN: secret(
    z.string().min(16, { error: 'must have at least 16 characters' }).optional(),
    'Bearer token for /metrics. If this is not set, /metrics on HEALTH_PORT needs no token, and /metrics on HTTP_PORT needs the access token of an ADMIN.',
  ),
  REALM: setting(identifier.default('tidemark'), 'Realm of the embedded token issuer.'),
  REALM_ALIASES: setting(
    list.default(['opinum']),
    'Comma-separated alternative realm names of the embedded token issuer.',
  ),
  TRUSTED_ISSUERS: setting(
    trustedIssuers.optional(),
    'JSON array of {issuer, jwksUri, audience} whose tokens are accepted. Default: the embedded token issuer only.',
  ),
  TOKEN_AUDIENCE: setting(
    z.string().min(1).default('tidemark'),
    'Audience of the tokens of the embedded token issuer.',
  ),
  ACCESS_TOKEN_TTL_SEC: setting(
    integer(121, 86_400).default(3600),
    'Lifetime of an access token in seconds. At least 121, because shipped clients would renew a shorter-lived token on every call.',
  ),
  REFRESH_TOKEN_TTL_SEC: setting(
    integer(300, 31_536_000).default(1_209_600),
    'Number of seconds after a sign-in for which its refresh tokens are valid. A refresh does not extend this time.',
  ),
  SIGN_IN_MAX_FAILURES: setting(
    integer(1, 1000).default(5),
    'After this many consecutive wrong passwords from one network, a user cannot sign in from this network for SIGN_IN_LOCK_SEC seconds. For HTTP Basic, a repeated wrong password counts once, and the limit is 20 times as high if the user has signed in from the network in the last 30 days. Whatever the client: after 20 times as many wrong passwords from all networks from which the user has not signed in for 30 days, the user cannot sign in from any of these networks.',
  ),
  SIGN_IN_LOCK_SEC: setting(
    integer(1, 86_400).default(900),
    'Number of seconds for which sign-in stays locked after SIGN_IN_MAX_FAILURES wrong passwords.',
  ),
  ACCESS_CACHE_SEC: setting(integer(0, 30).default(30), 'Maximum age of a cached access decision in seconds.'),
  PASSWORD_MIN_LENGTH: setting(integer(8, 100).default(10), 'Minimum password length.'),
  RETURN_URLS: setting(
    list.default([]),
    'Comma-separated URLs to which the change-password page may return the user; the first is the default. When RETURN_URLS is empty, the page returns the user to a page of the token issuer.',
  ),
  SIGNING_KEY_DAYS: setting(
    integer(1, 3650).default(90),
    'Number of days after which the embedded token issuer rotates its signing key.',
  ),
  USER_DIRECTORY: setting(
    choice(['embedded', 'keycloak']).default('embedded'),
    'Where passwords are managed: embedded (the embedded token issuer) or keycloak (see KEYCLOAK_URL). In both cases, create and change users in this service. The service updates Keycloak.',
  ),
  KEYCLOAK_URL: setting(webUrl.optional(), 'URL of Keycloak, without /realms. Required by USER_DIRECTORY=keycloak.'),
  KEYCLOAK_REALM: setting(z.string().min(1).default('tidemark'), 'Keycloak realm of the users.'),
  KEYCLOAK_CLIENT_ID: setting(
    z.string().min(1).default('tidemark-admin'),
    'Keycloak client whose service account may manage the users of the realm.',
  ),
  KEYCLOAK_CLIENT_SECRET: secret(
    z.string().optional(),
    'Secret of KEYCLOAK_CLIENT_ID. Required by USER_DIRECTORY=keycloak.',
  ),
  KEYCLOAK_ACCOUNT_CLIENT_ID: setting(
    z.string().min(1).default('tidemark-account'),
    'Public Keycloak client of the links with which users change or reset their passwords.',
  ),
  EXTERNAL_USERS: setting(
    choice(['sub', 'email', 'businessId']).default('sub'),
    'How the service finds the user of a token from another issuer if no user matches the sub claim: email (by the verified email address), businessId (by the businessId claim or, if the token has none, by the sub claim as BusinessId) or sub (no search: the token is refused).',
  ),
  API_RATE_PER_MINUTE: setting(
    integer(0, 1_000_000).default(6000),
    'Maximum number of requests of a user per minute, REST and gRPC together. All requests of a minute may be sent in one burst. A push counts as a tenth of a request or less. 0 means unlimited.',
  ),
  TOKEN_RATE_PER_MINUTE: setting(
    integer(0, 1_000_000).default(600),
    'Maximum number of requests that carry a secret, per minute for each client network (an IPv4 address or an IPv6 /64): POSTs to the token issuer, registrations, acceptances of invitations, checks of HTTP Basic passwords. 0 means unlimited.',
  ),
  PROXY_HOPS: setting(
    integer(0, 10).default(0),
    'Number of trusted proxies that append to X-Forwarded-For. 0 means that the client address is the address of the connection.',
  ),
  SMTP_URL: secret(
    serverUrl('smtps', 'smtp').optional(),
    'Mail server: smtps://user:password@host:465, or smtp://user:password@host:587?requireTLS=true. Without requireTLS, emails go unencrypted to a server that offers no TLS. When SMTP_URL is unset, MAIL_DIRECTORY applies.',
  ),
  MAIL_FROM: setting(
    z.email({ error: 'must be an email address' }).default('no-reply@localhost.localdomain'),
    'Sender address of emails.',
  ),
  MAIL_DIRECTORY: setting(
    z.string().optional(),
    'Directory that emails are written to when SMTP_URL is unset. When both settings are unset, emails stay queued.',
  ),
  ...INTAKE_SETTINGS,
  CALC_CONCURRENCY: setting(
    integer(2, 64).default(2),
    'Maximum number of concurrent calculations and previews per calculator. While other accounts wait, one account may use at most half of this number, rounded up.',
  ),
  CALC_WALL_TIME_MS: setting(
    integer(100, 3_600_000).default(30_000),
    'Maximum number of milliseconds that the scripts of a run may take; the times of all formulas of the run are added up.',
  ),
  CALC_CPU_TIME_SEC: setting(
    integer(1, 3600).default(30),
    'Maximum CPU time, in seconds, of all scripts of a run together. For each script, the remaining time is rounded up to a whole second, at least 1.',
  ),
  CALC_MEMORY_BYTES: setting(integer(64 << 20, 64 * 2 ** 30).default(2 ** 30), 'Maximum memory of a script in bytes.'),
  CALC_TMP_BYTES: setting(integer(1 << 20, 2 ** 40).default(64 << 20), "Size of a script's private /tmp in bytes."),
  CALC_MAX_PROCESSES: setting(
    integer(1, 10_000).default(64),
    'Maximum number of processes of a script. Processes and threads together may be up to 8 more.',
  ),
  CALC_MAX_INPUT_POINTS: setting(
    integer(1, 100_000_000).default(5_000_000),
    'Maximum number of input points of a run, over all its inputs.',
  ),
  CALC_MAX_OUTPUT_POINTS: setting(
    integer(1, 100_000_000).default(5_000_000),
    'Maximum number of points a script may return.',
  ),
  CALC_MAX_TEXT_BYTES: setting(
    integer(1024, 16 << 20).default(65_536),
    'Maximum number of bytes captured from each kind of text output of a script. Messages and warnings together are one kind, printed output is another, Errors the third.',
  ),
  CALC_RUN_RETENTION_DAYS: setting(
    integer(1, 36_500).default(90),
    'Number of days for which calculation runs are kept.',
  ),
  WEBHOOK_MAX_PENDING: setting(
    integer(10, 100_000_000).default(100_000),
    "Maximum number of unsent messages per webhook. When it is reached, new messages are dropped until a tenth of it is free. The webhook's history records how many were dropped.",
  ),
  WEBHOOK_CONCURRENCY: setting(
    integer(2, 10_000).default(200),
    'Maximum number of webhooks a deliverer sends to at the same time; for one account, at most a quarter of this number, rounded up.',
  ),
  WEBHOOK_PARALLEL: setting(integer(1, 100).default(8), 'Maximum number of concurrent requests to one webhook.'),
  WEBHOOK_RETRY_SEC: setting(
    numbers(0, 604_800).default([5, 300, 1800, 7200, 18_000, 36_000, 36_000]),
    'Comma-separated list of delays in seconds, one before each retry. The number of delays is the number of retries.',
  ),
  WEBHOOK_PROBE_MS: setting(
    integer(100, 3_600_000).default(60_000),
    'Maximum number of milliseconds between two probes of a webhook receiver that is down. A receiver that answers 429 or 503 with Retry-After can extend this time to a day. Meanwhile, messages to the receiver wait.',
  ),
  WEBHOOK_DISABLE_AFTER_DAYS: setting(
    integer(1, 365).default(5),
    'A webhook is disabled when all its deliveries have failed for this many days.',
  ),
  WEBHOOK_HISTORY_DAYS: setting(
    integer(2, 3650).default(30),
    'Number of days for which the history of webhooks is kept.',
  ),
  R_ROOT: setting(
    z.string().optional(),
    'Directory of the R root file system. Required by the calculator role, unless SANDBOX=oci and SANDBOX_OCI_IMAGE is set.',
  ),
  SANDBOX: setting(
    choice(['bwrap', 'oci', 'none']).default('bwrap'),
    'How R is confined: bwrap, oci (podman or docker), or none (only resource limits and a system-call filter; see SANDBOX_ALLOW_NONE).',
  ),
  SANDBOX_OCI_COMMAND: setting(
    z
      .string()
      .transform((text) => text.split(' ').filter(Boolean))
      .default(['podman']),
    'Space-separated command line of the container engine for SANDBOX=oci.',
  ),
  SANDBOX_OCI_IMAGE: setting(
    z.string().optional(),
    'Image with R for SANDBOX=oci. Default: an image imported from R_ROOT.',
  ),
  SANDBOX_ALLOW_NONE: setting(
    flag.default(false),
    'true allows SANDBOX=none, which runs scripts without a sandbox. Dangerous.',
  ),
  WEBHOOK_KEYS: secret(
    vaultKeys.default([]),
    'Comma-separated keys that encrypt the secrets and headers of webhooks. Each key has the form ID:BASE64, where BASE64 encodes 32 bytes. The first key encrypts, every key decrypts. Set the keys for the roles api and deliverer and for the admin command. After you add a key in front, restart these roles and run `admin rotate-webhook-keys`. Keep the old keys for 24 hours after that. When unset, secrets and headers are stored unencrypted.',
  ),
  WEBHOOK_SECRET_OVERLAP_HOURS: setting(
    integer(0, 720).default(24),
    'After the secret of a webhook is changed, the previous secret also signs deliveries for this many hours.',
  ),
  WEBHOOK_TESTS_PER_MINUTE: setting(
    integer(0, 1_000_000).default(30),
    'Maximum number of webhook tests per minute for each account; bursts up to this number are allowed. 0 means unlimited.',
  ),
  WEBHOOK_ALLOW_HTTP: setting(flag.default(false), 'true allows webhook receivers with http:// URLs. For local use.'),
  WEBHOOK_ALLOWED_RANGES: setting(
    addressRanges.default([]),
    'Comma-separated CIDR ranges (for example, 127.0.0.0/8) of further addresses that webhook receivers may have. Public addresses are always allowed.',
  ),
  WEBHOOK_TIMEOUT_MS: setting(
    integer(100, 60_000).default(15_000),
    'Maximum duration of a webhook request in milliseconds, from name resolution to the end of the response.',
  ),
  LOG_LEVEL: setting(
    choice(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
    'Minimum severity of log lines.',
  ),
  SHUTDOWN_TIMEOUT_MS: setting(
    integer(1000, 30_000).default(25_000),
    'Maximum duration of a graceful shutdown in milliseconds. A process that takes longer exits with code 1.',
  ),
} as const;

type Settings = typeof SETTINGS;
type EnvironmentConfig = { readonly [Name in keyof Settings]: z.output<Settings[Name]['schema']> };

/** The validated settings, keyed by environment variable. */
export type Config = EnvironmentConfig;

/**
 * Thrown when settings are invalid. `problems` has one message per invalid setting or conflict; none shows the value of
 * a secret.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      `These settings are not valid (see .env.example):\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

/**
 * Validates the environment (R-K1). An empty variable counts as unset.
 * @throws {ConfigError} with all invalid settings and all conflicts.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const entries = Object.entries(SETTINGS).map(([name, { schema, ...rest }]) => {
    const result = schema.safeParse(environment[name] || undefined);
    if (result.success) return [name, result.data];
    problems.push(`${name} ${describe(environment[name], result.error, 'isSecret' in rest)}`);
    // Breaks no rule of `findConflicts`: it is present, and its comparisons with numbers are false.
    return [name, {}];
  });
  const config = Object.fromEntries(entries) as Config;
  problems.push(...findConflicts(config));
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** Matches values that an error may show. URLs and JSON do not match, because they may contain credentials. */
const PLAIN_VALUE = /^(?!.*:\/\/)[\w .,:/-]{1,64}$/;

function describe(value: string | undefined, error: z.ZodError, isSecret: boolean): string {
  if (!value) return 'is required';
  const rules = [...new Set(error.issues.map((issue) => issue.message))].join('; ');
  return isSecret || !PLAIN_VALUE.test(value) ? rules : `${rules}, got ${JSON.stringify(value)}`;
}

/** Returns the default of a setting; undefined when it has none. */
export function settingDefault<Name extends keyof Settings>(
  name: Name,
): z.output<Settings[Name]['schema']> | undefined {
  return SETTINGS[name].schema.safeParse(undefined).data as z.output<Settings[Name]['schema']> | undefined;
}
