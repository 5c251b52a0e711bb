/**
 * Starts Node programs of this checkout that read hostile input (mappers, files, documents to import). The
 * programs have no environment variables, cannot generate code from strings, and can read only their own code and
 * packages. V8 and the kernel limit their memory.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface ConfinedProgram {
  /** Path of the program to run. */
  readonly program: string;
  /** Files and folders that the program reads besides its packages, relative to the checkout; a folder ends in `/`. */
  readonly readable: readonly string[];
  /** Maximum size of V8's heap in the process. */
  readonly heapMebibytes: number;
  /** Maximum memory for texts and buffers outside the heap, not counting the memory of Node itself. */
  readonly bufferMebibytes: number;
  /** Further command-line options of Node. */
  readonly options?: readonly string[];
  /** A file descriptor that the program inherits as number 4. */
  readonly descriptor?: number;
}

const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));
const MODULES = `${CHECKOUT}node_modules`;
/** Memory of Node itself: its threads, native heap and program. */
const BASE_MEBIBYTES = 96;
/** Program of util-linux that sets the resource limits of a process. */
const PRLIMIT = '/usr/bin/prlimit';

/** Starts the program. When it reaches its memory limit, an allocation fails or the process aborts. */
export function forkConfined(confined: ConfinedProgram): ChildProcess {
  const { program, readable, heapMebibytes, bufferMebibytes, options = [], descriptor } = confined;
  const dataBytes = (heapMebibytes + bufferMebibytes + BASE_MEBIBYTES) * 2 ** 20 + codeRangeBytes();
  const paths = [...readable.map((path) => CHECKOUT + path), `${CHECKOUT}package.json`, MODULES, realpathSync(MODULES)];
  return fork(program, [], {
    env: {},
    // V8's own limit does not cover large texts and buffers (a process used 1.5 GiB at a limit of 512 MiB); the
    // kernel's limit does.
    execPath: PRLIMIT,
    execArgv: [
      ...[`--data=${dataBytes}`, '--', process.execPath],
      ...[`--max-old-space-size=${heapMebibytes}`, '--disallow-code-generation-from-strings', ...options],
      ...['--permission', ...paths.map((path) => `--allow-fs-read=${path}`), '--no-warnings'],
    ],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', ...(descriptor === undefined ? [] : [descriptor])],
  });
}

/**
 * Returns the size of the address space that V8 reserves for machine code: the kernel counts it as data,
 * although V8 hardly uses it.
 */
function codeRangeBytes(): number {
  const ranges = readFileSync('/proc/self/maps', 'utf8').matchAll(/^([0-9a-f]+)-([0-9a-f]+) rwxp/gm);
  return [...ranges].reduce(
    (sum, [, from = '', to = '']) => sum + Number.parseInt(to, 16) - Number.parseInt(from, 16),
    0,
  );
}
