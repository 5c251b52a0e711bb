/**
 * Provides PostgreSQL's client programs to the admin commands that write files on this machine, such as `backup`. The
 * programs, their dynamic loader and their libraries come from the database root file system. The programs run outside
 * that root, as the user who called the command and without confinement, because they must see the operator's
 * directories.
 */
import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { LOCAL_DIRECTORY } from '../paths.ts';
import { POSTGRES_PROGRAMS } from './postgres.ts';

const PROGRAMS = ['pg_basebackup', 'pg_receivewal', 'pg_verifybackup'];

/**
 * For each of PROGRAMS, writes a script that runs the program under `root`.
 * @param root directory of the database's root file system.
 * @param path the PATH to extend.
 * @returns a PATH whose first directory holds the scripts.
 * @throws {Error} when `root` has no dynamic loader.
 */
export function clientPath(root: string, path: string | undefined): string {
  const [loader] = globSync(join(root, 'usr/lib/*-linux-gnu/ld-linux-*.so.*'));
  if (loader === undefined) {
    throw new Error(
      `${root} has no dynamic loader (ld-linux). Stop every local stack, rename this directory and run the command ` +
        'again: it builds a new directory. If the subdirectory "data" of the renamed directory is not empty, it holds ' +
        'databases: move its contents to the subdirectory "data" of the new directory before you start a stack.',
    );
  }
  const directory = join(LOCAL_DIRECTORY, 'postgres-client');
  mkdirSync(directory, { recursive: true });
  for (const name of PROGRAMS) {
    const program = join(root, POSTGRES_PROGRAMS, name);
    const command = [loader, '--library-path', dirname(loader), '--argv0', name, program].map(quote).join(' ');
    // If the parent process of the program is killed, the kernel ends the program too.
    const script = `#!/bin/sh\nexec setpriv --pdeathsig TERM -- ${command} "$@"\n`;
    writeFileSync(join(directory, name), script, { mode: 0o755 });
  }
  return [directory, path ?? ''].join(delimiter);
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
