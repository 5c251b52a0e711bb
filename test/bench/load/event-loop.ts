/** Reads the event-loop delays that `watch-event-loop.ts` measures in a role process. */
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { RoleProcess } from '../../support/services/role-process.ts';

export interface Delays {
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface EventLoopWatch {
  /** Environment variables with which the role process must be started, so that it measures its delays. */
  readonly environment: Readonly<Record<string, string>>;
  /** @returns the delays since the last call, or, for the first call, since the start of the role process. */
  read(process: Pick<RoleProcess, 'pid'>): Promise<Delays>;
}

const WATCH = fileURLToPath(new URL('./watch-event-loop.ts', import.meta.url));
const WAIT_MS = 5000;
const LOOK_MS = 5;

export function watchEventLoop(): EventLoopWatch {
  const file = join(tmpdir(), `tidemark-event-loop-${process.pid}`);
  return {
    environment: { NODE_OPTIONS: `--import=${WATCH}`, EVENT_LOOP_FILE: file },
    read: async ({ pid }) => {
      process.kill(pid, 'SIGUSR2');
      for (let waitedMs = 0; waitedMs < WAIT_MS; waitedMs += LOOK_MS) {
        await wait(LOOK_MS);
        const found = readIfThere(file);
        if (found === undefined) continue;
        rmSync(file);
        return JSON.parse(found) as Delays;
      }
      throw new Error('the process does not report the delays of its event loop');
    },
  };
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
