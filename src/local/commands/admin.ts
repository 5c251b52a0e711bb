/**
 * `npm run admin -- <command> …`: the operator's commands (src/accounts/operator/admin-commands.ts), on the running local stack, or
 * on the database and Redis of the environment.
 */
import { existsSync, readFileSync } from 'node:fs';
import { ADMIN_USAGE } from '../../accounts/operator/admin-commands.ts';
import { STACK_FILE } from '../paths.ts';
import { runProgram } from '../run-program.ts';
import { SetupError } from '../setup-error.ts';
import type { Stack } from '../stack.ts';
import { runCommand } from './cli.ts';

await runCommand(async () => {
  const argv = process.argv.slice(2);
  // The usage needs no running stack.
  if (argv.length === 0 || argv.includes('help') || argv.includes('--help')) {
    process.stdout.write(ADMIN_USAGE);
    return 0;
  }
  return runProgram(['src/main.ts', 'admin', ...argv], readEnvironment());
});

function readEnvironment(): Readonly<Record<string, string>> {
  if (process.env.DATABASE_URL) return {};
  if (!existsSync(STACK_FILE)) {
    throw new SetupError('The stack is not running and DATABASE_URL is not set; `npm start` starts it.');
  }
  const { database, redis, auth, realm } = JSON.parse(readFileSync(STACK_FILE, 'utf8')) as Stack;
  return { DATABASE_URL: database, REDIS_URL: redis, AUTH_URL: auth, REALM: realm };
}
