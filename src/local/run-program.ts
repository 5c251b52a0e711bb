import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { CHECKOUT, PINNED_NODE } from './paths.ts';

/**
 * Runs a program of this checkout on the pinned Node. The program uses the terminal of this process.
 * @returns the exit code of the program; 1 when a signal ended the program.
 */
export async function runProgram(
  argv: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<number> {
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', '--', PINNED_NODE, ...argv], {
    cwd: CHECKOUT,
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, 'exit');
  return typeof code === 'number' ? code : 1;
}
