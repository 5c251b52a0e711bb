/** Runs podman as root, and keeps containers within the resource limits of this process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { isRoot } from '../services/launcher.ts';
import { SetupError } from '../setup-error.ts';

const KEPT_ERROR_LINES = 30;
/** An error quotes this many words after `podman`, as in `run --detach --name NAME`. */
const SHOWN_WORDS = 4;
/**
 * Limits that image:check sets for containers. podman's defaults are higher, and podman fails if a requested limit
 * exceeds the hard limit of this process.
 */
const WANTED_LIMITS = { nofile: ['Max open files', 65_536], nproc: ['Max processes', 4096] } as const;
const SOFT_FILES = 1024;

export interface PodmanOptions {
  /**
   * Variables added to podman's own environment. The option `--env NAME` then passes the variable NAME on to the
   * container, and process lists do not show its value.
   */
  readonly environment?: Readonly<Record<string, string>>;
  /** Text for the standard input of podman. */
  readonly input?: string;
  /** Called for every line of stdout and stderr. */
  readonly onLine?: (line: string) => void;
  /** Exit codes that count as success; default: 0 only. */
  readonly goodCodes?: readonly number[];
}

export interface PodmanResult {
  readonly code: number;
  readonly output: string;
}

/**
 * @returns exit code and trimmed standard output.
 * @throws {SetupError} when podman fails; the message quotes the last lines that podman wrote.
 */
export async function podman(args: readonly string[], options: PodmanOptions = {}): Promise<PodmanResult> {
  const [program = '', ...rest] = [...asRoot(options.environment ?? {}), 'podman', '--runtime', 'runc', ...args];
  const child = spawn(program, rest, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...options.environment },
  });
  child.stdin.on('error', () => undefined).end(options.input ?? '');
  const [stdout, all]: [string[], string[]] = [[], []];
  const keep = (line: string, lists: readonly string[][]): void => {
    for (const list of lists) list.push(line);
    options.onLine?.(line);
  };
  createInterface({ input: child.stdout }).on('line', (line) => keep(line, [stdout, all]));
  createInterface({ input: child.stderr }).on('line', (line) => keep(line, [all]));
  const [code, signal] = await once(child, 'close');
  if (!(options.goodCodes ?? [0]).includes(code)) {
    const what = `podman ${args.slice(0, SHOWN_WORDS).join(' ')} … exited with ${code ?? signal}`;
    throw new SetupError(`${what}; last lines of its output:\n${all.slice(-KEPT_ERROR_LINES).join('\n')}`);
  }
  return { code, output: stdout.join('\n').trim() };
}

function asRoot(environment: Readonly<Record<string, string>>): readonly string[] {
  if (isRoot()) return ['setpriv', '--pdeathsig', 'TERM', '--'];
  return ['sudo', `--preserve-env=PATH,${Object.keys(environment).join(',')}`];
}

/** @returns options for `podman build` and `podman run`; they keep a container within the limits of this process. */
export function limitOptions(limits = readFileSync('/proc/self/limits', 'utf8')): readonly string[] {
  return Object.entries(WANTED_LIMITS).flatMap(([name, [label, wanted]]) => {
    const hard = Number(new RegExp(`^${label}\\s+\\S+\\s+(\\d+)`, 'm').exec(limits)?.[1] ?? wanted);
    const most = Math.min(wanted, hard);
    return ['--ulimit', `${name}=${name === 'nofile' ? Math.min(SOFT_FILES, most) : most}:${most}`];
  });
}
