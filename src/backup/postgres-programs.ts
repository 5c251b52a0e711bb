/**
 * Runs PostgreSQL's own client programs, found on PATH, with the address and password of DATABASE_URL in their environment:
 * other users of the machine can read a command line.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { DomainError } from '../platform/errors.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Environment variables of libpq by the parameter of DATABASE_URL that each replaces. */
const PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['sslmode', 'PGSSLMODE'],
  ['sslrootcert', 'PGSSLROOTCERT'],
]);

type Environment = Readonly<Record<string, string | undefined>>;
type ProgramName = 'pg_basebackup' | 'pg_receivewal' | 'pg_verifybackup';

export interface PostgresPrograms {
  /**
   * Runs a program until it ends. @throws {DomainError} conflict when the program is absent or fails;
   * the message has its output.
   */
  run(name: ProgramName, argv: readonly string[]): Promise<void>;
  /**
   * Runs a program until this process receives a stop signal, and passes the signal on. The program writes to
   * the output of this process.
   * @throws {DomainError} conflict when the program is absent, or ends before a stop signal.
   */
  runUntilSignal(name: ProgramName, argv: readonly string[]): Promise<void>;
}

/** @param url of the database; undefined for programs that use files only. @param environment of this process. */
export function postgresPrograms(url: string | undefined, environment: Environment): PostgresPrograms {
  const env = { ...environment, ...(url !== undefined && connectionEnvironment(url)) };
  const start = (name: ProgramName, argv: readonly string[], output: 'pipe' | 'inherit') => {
    const child = spawn(name, argv, { env, stdio: ['ignore', output, output] });
    const ended = once(child, 'close').catch((error: unknown) => {
      const { message } = error as Error;
      throw new DomainError('conflict', `${name} cannot run (${message}); install postgresql-client-17 of Debian`);
    });
    return { child, ended };
  };
  return {
    run: async (name, argv) => {
      const { child, ended } = start(name, argv, 'pipe');
      const streams = [child.stdout, child.stderr].flatMap((stream) => (stream ? [text(stream)] : []));
      const [output, [code]] = await Promise.all([Promise.all(streams), ended]);
      if (code !== 0) throw new DomainError('conflict', `${name} failed:\n${output.join('').trim()}`);
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
        if (!isStopping) throw new DomainError('conflict', `${name} ended with ${code ?? signal}`);
      } finally {
        for (const signal of STOP_SIGNALS) process.off(signal, stop);
      }
    },
  };
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
    // pg_receivewal has no option for a database; the other programs ignore the database when they replicate.
    PGAPPNAME: 'tidemark-backup',
    ...Object.fromEntries(parameters),
  };
}
