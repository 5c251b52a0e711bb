/**
 * Runs the local stack: starts the services, updates the schema, creates the users, starts the roles and loads the
 * demo. Runs until a stop signal arrives, or until a service or the roles end by themselves. Then stops the roles and
 * the services. Used by `npm start`, `npm run dev` and `npm run reset`.
 */
import { join } from 'node:path';
import pg from 'pg';
import { settingDefault } from '../config.ts';
import { migrate } from '../platform/database/migrate.ts';
import { createLog } from '../platform/log.ts';
import { announce } from './announcement.ts';
import { type CalculatorSetup, prepareCalculator } from './calculator-setup.ts';
import { awaitStopSignal } from './commands/cli.ts';
import { prepareConsole } from './console-setup.ts';
import { loadDemo } from './demo/load-demo.ts';
import { CHECKOUT, LOCAL_DIRECTORY, LOG_DIRECTORY, STACK_DIRECTORY } from './paths.ts';
import { createProgress, type Progress } from './progress.ts';
import { keepRolesCurrent } from './restart-on-change.ts';
import { planRolePorts, type RolePorts, rememberRolePorts } from './role-ports.ts';
import { type RolesOptions, type RunningRoles, startRoles } from './roles.ts';
import { localWebhookKeys, readOrMakeSecrets, type Secrets } from './secrets.ts';
import { DEMO_CLIENT_ID, demoUsers, seedIdentity } from './seed.ts';
import { takeLock } from './services/services.ts';
import { findServices, type StackServices } from './services/stack-services.ts';
import { removeStackFile, type Stack, writeStackFile } from './stack.ts';

const SOURCE_DIRECTORY = join(CHECKOUT, 'src');
/** Exit code of a program that Ctrl-C interrupted. */
const INTERRUPTED = 130;
const ROLE_LOG = join(LOG_DIRECTORY, 'tidemark.log');

export interface RunOptions {
  readonly restartsOnChange: boolean;
}

/** Settings that this program computes. The roles get these values instead of the values in the environment. */
type OwnSettings = RolePorts & { readonly CONSOLE_DIRECTORY: string };

interface Running {
  readonly services: StackServices;
  readonly roles: { readonly ended: Promise<void> };
}

/**
 * Runs the stack until a stop signal.
 * @returns the exit code: 1 when a service, or the process that runs the roles, ended by itself; 130 after a signal
 * during the start; else 0.
 */
export async function runStack(options: RunOptions): Promise<number> {
  const stopSignal = awaitStopSignal();
  const progress = createProgress(process.stdout);
  await using parts = new AsyncDisposableStack();
  // After a signal during the start, this process exits, and the kernel then kills its remaining child processes.
  const running = await Promise.race([bringUp(options, parts, progress), stopSignal.then(() => undefined)]);
  return running ? await awaitEnd(stopSignal, running, progress) : INTERRUPTED;
}

async function bringUp(options: RunOptions, parts: AsyncDisposableStack, progress: Progress): Promise<Running> {
  const secrets = readOrMakeSecrets();
  const lock = takeLock(STACK_DIRECTORY);
  parts.use(lock);
  const ports = await planRolePorts(process.env, progress.say);
  const services = await findServices(secrets, lock, progress);
  parts.defer(() => services.stop());
  const calculator = await prepareCalculator(progress);
  const consoleDirectory = await prepareConsole(progress);
  await prepareDatabase(services.databaseUrl, secrets, progress);
  const roleOptions = planRoles(services, secrets, calculator, { ...ports, CONSOLE_DIRECTORY: consoleDirectory });
  const first = await progress.phase('Starting the roles', () => startRoles(roleOptions));
  const roles = options.restartsOnChange ? keepRolesCurrent(first, roleOptions, SOURCE_DIRECTORY) : first;
  parts.defer(() => progress.phase('Stopping the roles', () => roles.stop()));
  rememberRolePorts(first);
  const stack = describeStack(services, first, secrets);
  writeStackFile(stack);
  parts.defer(async () => removeStackFile());
  const taylorCsv = calculator.rRoot && join(calculator.rRoot, 'opt/tidemark/demo/taylor.csv');
  const closingLines = await loadDemo(stack, { progress, taylorCsv });
  const notice = await findEditionNotice(services.databaseUrl);
  for (const warning of [...calculator.warnings, ...notice]) progress.say(`\n${warning}`);
  progress.say(announce(stack));
  for (const line of closingLines) progress.say(line);
  return { services, roles };
}

async function prepareDatabase(databaseUrl: string, secrets: Secrets, progress: Progress): Promise<void> {
  await progress.phase('Updating the database schema', () => migrate(databaseUrl, createLog('error', 'local')));
  await progress.phase('Creating the demo account and users', () => seedIdentity(databaseUrl, secrets));
}

const APACHE_NOTICE =
  'This TimescaleDB is the Apache edition, which cannot compress points: they take at least ten times the disk space. ' +
  'src/local/README.md says how to use the Community edition.';

async function findEditionNotice(databaseUrl: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ license: string | null }>(
      `select current_setting('timescaledb.license', true) as license`,
    );
    return rows[0]?.license === 'timescale' ? [] : [APACHE_NOTICE];
  } finally {
    await client.end();
  }
}

function planRoles(
  services: StackServices,
  secrets: Secrets,
  calculator: CalculatorSetup,
  own: OwnSettings,
): RolesOptions {
  return {
    roles: ['api', 'grpc', 'ingester', 'deliverer', ...(calculator.environment ? (['calculator'] as const) : [])],
    environment: {
      DATABASE_URL: services.databaseUrl,
      REDIS_URL: services.redisUrl,
      // Without SMTP_URL, emails are written as files into this directory.
      MAIL_DIRECTORY: process.env.MAIL_DIRECTORY || join(LOCAL_DIRECTORY, 'mail'),
      WEBHOOK_KEYS: process.env.WEBHOOK_KEYS || localWebhookKeys(secrets),
      // Allows webhook receivers on this machine.
      WEBHOOK_ALLOW_HTTP: process.env.WEBHOOK_ALLOW_HTTP || 'true',
      WEBHOOK_ALLOWED_RANGES: process.env.WEBHOOK_ALLOWED_RANGES || '127.0.0.0/8,::1',
      ...own,
      ...calculator.environment,
    },
    logFile: ROLE_LOG,
  };
}

function describeStack(services: StackServices, roles: RunningRoles, secrets: Secrets): Stack {
  return {
    api: process.env.API_URL || roles.http,
    push: process.env.PUSH_URL || roles.http,
    auth: process.env.AUTH_URL || roles.http,
    grpc: roles.grpc,
    realm: process.env.REALM || (settingDefault('REALM') ?? ''),
    clientId: DEMO_CLIENT_ID,
    clientSecret: secrets.clientSecret,
    database: services.databaseUrl,
    redis: services.redisUrl,
    users: demoUsers(secrets),
  };
}

async function awaitEnd(
  stopSignal: Promise<NodeJS.Signals>,
  { services, roles }: Running,
  progress: Progress,
): Promise<number> {
  const ended = await Promise.race([
    stopSignal.then(() => undefined),
    services.firstEnded.then((name) => `${name} (its log is in ${LOG_DIRECTORY})`),
    roles.ended.then(() => `The process that runs the roles (log: ${ROLE_LOG})`),
  ]);
  if (ended === undefined) return 0;
  progress.say(`\n${ended} ended unexpectedly. Stopping everything.`);
  return 1;
}
