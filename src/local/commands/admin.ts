/**
 * `npm run admin -- <command> …`: the operator's commands (src/accounts/operator/admin-commands.ts). When DATABASE_URL
 * is set, they work on the services of DATABASE_URL and REDIS_URL, otherwise on the running local stack. Only `restore`
 * uses no services: it writes a cluster directory, by default the one of the stopped local stack. `backup`, `archive`
 * and `restore` use the PostgreSQL programs in the database root file system.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ADMIN_USAGE } from '../../accounts/operator/admin-commands.ts';
import { STACK_DIRECTORY, STACK_FILE } from '../paths.ts';
import { createProgress } from '../progress.ts';
import { ensureRoot } from '../roots/ensure-root.ts';
import { databaseRecipe } from '../roots/recipes.ts';
import { runProgram } from '../run-program.ts';
import { localWebhookKeys, readOrMakeSecrets } from '../secrets.ts';
import { chooseLauncher, prepareState } from '../services/launcher.ts';
import { clientPath } from '../services/postgres-client.ts';
import { takeLock } from '../services/services.ts';
import { SetupError } from '../setup-error.ts';
import type { Stack } from '../stack.ts';
import { runCommand } from './cli.ts';

await runCommand(async () => {
  const argv = process.argv.slice(2);
  // Printing the usage needs no running stack.
  if (argv.length === 0 || argv.includes('help') || argv.includes('--help')) {
    process.stdout.write(ADMIN_USAGE);
    return 0;
  }
  const [name] = argv;
  if (name === 'restore') return restore(argv);
  const programs = name === 'backup' || name === 'archive' ? programsOf(await databaseRoot()) : {};
  return runProgram(['src/main.ts', 'admin', ...argv], { ...readEnvironment(), ...programs });
});

/**
 * Restores a backup to the directory TARGET. Without the argument TARGET, restores it to the cluster directory of the
 * local stack; the local stack must then be stopped. @returns the exit code.
 */
async function restore(argv: readonly string[]): Promise<number> {
  const root = await databaseRoot();
  const { positionals } = parseArgs({
    args: [...argv],
    options: { to: { type: 'string' } },
    strict: false,
    allowPositionals: true,
  });
  // `restore` connects neither to the database nor to Redis, but main.ts requires DATABASE_URL and REDIS_URL.
  const unused = { DATABASE_URL: 'postgres://127.0.0.1/unused', REDIS_URL: 'redis://127.0.0.1' };
  const environment = { ...programsOf(root), ...unused };
  if (positionals.length !== 2) return runProgram(['src/main.ts', 'admin', ...argv], environment);
  using _lock = takeLock(STACK_DIRECTORY);
  const { hostPath } = prepareState(chooseLauncher(process.env), root, join(STACK_DIRECTORY, 'postgres'));
  return await runProgram(['src/main.ts', 'admin', ...argv, join(hostPath, 'cluster')], environment);
}

async function databaseRoot(): Promise<string> {
  return ensureRoot(databaseRecipe(), createProgress(process.stderr));
}

function programsOf(root: string): Readonly<Record<string, string>> {
  return { PATH: clientPath(root, process.env.PATH) };
}

function readEnvironment(): Readonly<Record<string, string>> {
  if (process.env.DATABASE_URL) return {};
  if (!existsSync(STACK_FILE)) {
    throw new SetupError(
      'The stack is not running and DATABASE_URL is not set; start the stack with `npm start`, or set DATABASE_URL and REDIS_URL.',
    );
  }
  const { database, redis, auth, realm } = JSON.parse(readFileSync(STACK_FILE, 'utf8')) as Stack;
  const WEBHOOK_KEYS = process.env.WEBHOOK_KEYS || localWebhookKeys(readOrMakeSecrets());
  return { DATABASE_URL: database, REDIS_URL: redis, AUTH_URL: auth, REALM: realm, WEBHOOK_KEYS };
}
