/**
 * `npm run admin -- <command> …`: the operator's commands (src/accounts/admin-commands.ts), on the running local stack, or
 * on the database and Redis of the environment.
 */
import { existsSync, readFileSync } from 'node:fs';
import { runCommand } from './cli.ts';
import { STACK_FILE } from './paths.ts';
import { runProgram } from './run-program.ts';
import { SetupError } from './setup-error.ts';
import type { Stack } from './stack.ts';

await runCommand(() => runProgram(['src/main.ts', 'admin', ...process.argv.slice(2)], readEnvironment()));

function readEnvironment(): Readonly<Record<string, string>> {
  if (process.env.DATABASE_URL) return {};
  if (!existsSync(STACK_FILE)) {
    throw new SetupError('The stack is not running and DATABASE_URL is not set; `npm start` starts it.');
  }
  const { database, redis, auth, realm } = JSON.parse(readFileSync(STACK_FILE, 'utf8')) as Stack;
  return { DATABASE_URL: database, REDIS_URL: redis, AUTH_URL: auth, REALM: realm };
}
