/**
 * `npm run db [-- psql arguments]`: runs psql on the database of the running local stack. The psql program comes from
 * the root file system of the database service.
 */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { STACK_FILE } from '../paths.ts';
import { createProgress } from '../progress.ts';
import { ensureRoot } from '../roots/ensure-root.ts';
import { databaseRecipe } from '../roots/recipes.ts';
import { chooseLauncher, launch, prepareState } from '../services/launcher.ts';
import { POSTGRES_PROGRAMS } from '../services/postgres.ts';
import { SetupError } from '../setup-error.ts';
import type { Stack } from '../stack.ts';
import { runCommand } from './cli.ts';

await runCommand(async () => {
  if (!existsSync(STACK_FILE)) throw new SetupError('The stack is not running; `npm start` starts it.');
  const { database } = JSON.parse(readFileSync(STACK_FILE, 'utf8')) as Stack;
  const launcher = chooseLauncher(process.env);
  const root = await ensureRoot(databaseRecipe(), createProgress(process.stdout));
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-psql-'));
  const state = prepareState(launcher, root, directory);
  try {
    // This process ignores Ctrl-C, because psql handles Ctrl-C itself and cancels the statement.
    process.on('SIGINT', () => undefined);
    const { child } = launch(launcher, {
      root,
      state,
      output: 'inherit',
      argv: [`${POSTGRES_PROGRAMS}/psql`, ...process.argv.slice(2)],
      environment: psqlEnvironment(database),
    });
    const [code] = await once(child, 'exit');
    return typeof code === 'number' ? code : 1;
  } finally {
    rmSync(directory, { recursive: true, force: true });
    rmSync(state.hostPath, { recursive: true, force: true });
  }
});

/** Splits the address into environment variables, because other users could read a password on a command line. */
function psqlEnvironment(address: string): Readonly<Record<string, string>> {
  const url = new URL(address);
  return {
    PGHOST: url.hostname,
    PGPORT: url.port || '5432',
    PGDATABASE: decodeURIComponent(url.pathname.slice(1)),
    PGUSER: decodeURIComponent(url.username),
    PGPASSWORD: decodeURIComponent(url.password),
    TERM: process.env.TERM ?? 'dumb',
    PAGER: 'cat',
  };
}
