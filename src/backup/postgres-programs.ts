/**
 * Runs PostgreSQL's own client programs, found on PATH. The programs get the address and password of DATABASE_URL in
 * their environment, not in their arguments, because other users of the machine can read arguments.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { DomainError } from '../platform/errors.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/**
 * Advice for a missing program. PATH must name the folder, because the package puts no link to pg_verifybackup into
 * /usr/bin.
 */
const ADVICE = 'install the Debian package postgresql-client-17, and add /usr/lib/postgresql/17/bin to PATH';
/** Maps a parameter of DATABASE_URL to the environment variable of libpq that gets the parameter's value. */
const PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['sslmode', 'PGSSLMODE'],
  ['sslrootcert', 'PGSSLROOTCERT'],
]);

type Environment = Readonly<Record<string, string | undefined>>;
type ProgramName = 'pg_basebackup' | 'pg_receivewal' | 'pg_verifybackup';

export interface PostgresPrograms {
  /**
   * Runs a program until it ends. @throws {DomainError} conflict when the program is absent, or when it fails; the
   * message of a failure holds the output of the program.
   */
  run(name: ProgramName, argv: readonly string[]): Promise<void>;
  /**
   * Runs a program until this process receives SIGINT, SIGTERM or SIGHUP; then stops the program with SIGINT and waits
   * for its end. The program writes to the output of this process.
   * @throws {DomainError} conflict when the program is absent, or ends before a stop signal.
   */
  runUntilSignal(name: ProgramName, argv: readonly string[]): Promise<void>;
}

/**
 * @param url address of the database; undefined when the programs only read files and need no database.
 * @param environment environment of this process.
 */
export function postgresPrograms(url: string | undefined, environment: Environment): PostgresPrograms {
  const env = { ...environment, ...(url !== undefined && connectionEnvironment(url)) };
  const start = (name: ProgramName, argv: readonly string[], output: 'pipe' | 'inherit') => {
    const child = spawn(name, argv, { env, stdio: ['ignore', output, output] });
    const ended = once(child, 'close').catch((error: unknown) => {
      const { message } = error as Error;
      throw new DomainError('conflict', `${name} cannot run (${message}); ${ADVICE}`);
    });
    return { child, ended };
  };
  return {
    run: async (name, argv) => {
      const { child, ended } = start(name, argv, 'pipe');
      const streams = [child.stdout, child.stderr].flatMap((stream) => (stream ? [text(stream)] : []));
      const [output, [code, signal]] = await Promise.all([Promise.all(streams), ended]);
      if (code === 0) return;
      throw new DomainError('conflict', `${name} ended ${describeEnd(code, signal)}:\n${output.join('').trim()}`);
    },
    runUntilSignal: async (name, argv) => {
      const { child, ended } = start(name, argv, 'inherit');
      let isStopping = false;
      const stop = (): void => {
        isStopping = true;
        child.kill('SIGINT');
      };
      for (const signal of STOP_SIGNALS) process.on(signal, stop);
      try {
        const [code, signal] = await ended;
        if (isStopping) return;
        const end = describeEnd(code, signal);
        throw new DomainError('conflict', `${name} must run until it is stopped, but ended ${end}`);
      } finally {
        for (const signal of STOP_SIGNALS) process.off(signal, stop);
      }
    },
  };
}

function describeEnd(code: number | null, signal: string | null): string {
  return code === null ? `by ${signal}` : `with exit code ${code}`;
}

function connectionEnvironment(address: string): Readonly<Record<string, string>> {
  const url = new URL(address);
  const parameters = [...url.searchParams].flatMap(([parameter, value]) => {
    const name = PARAMETERS.get(parameter);
    return name === undefined ? [] : [[name, value] as const];
  });
  return {
    PGHOST: url.hostname.replace(/^\[|\]$/g, ''),
    PGPORT: url.port || '5432',
    PGUSER: decodeURIComponent(url.username),
    PGPASSWORD: decodeURIComponent(url.password),
    // PGDATABASE is left out, because a connection for physical replication uses no database.
    PGAPPNAME: 'tidemark-backup',
    ...Object.fromEntries(parameters),
  };
}
