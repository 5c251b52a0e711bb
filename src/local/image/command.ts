import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { SetupError } from '../setup-error.ts';

const KEPT_ERROR_LINES = 15;

/**
 * Runs a program that the kernel ends when this process dies. `onLine` receives each line of stdout and stderr.
 * @throws {SetupError} with its last lines when the exit code is not 0.
 */
export async function runTied(argv: readonly string[], onLine: (line: string) => void): Promise<void> {
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', '--', ...argv], { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      onLine(line);
    });
  }
  const [code] = await once(child, 'close');
  if (code !== 0) throw new SetupError(`${argv[0]} failed:\n${lines.slice(-KEPT_ERROR_LINES).join('\n')}`);
}
