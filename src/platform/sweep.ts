/** Runs a look-around at an interval, one at a time, until stopped. What it finds was lost by Redis or by a crash. */
import type { Log } from './log.ts';

export interface Sweeper {
  /** Waits for the look under way and ends. */
  stop(): Promise<void>;
}

/** @param intervalMs pause between the end of one look and the begin of the next; the first is made at once. */
export function startSweeper(name: string, intervalMs: number, look: () => Promise<void>, log: Log): Sweeper {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  const turn = (): void => {
    running = look()
      .catch((error: unknown) => log.error({ err: error, sweeper: name }, 'sweep failed'))
      .then(() => {
        if (!isStopped) timer = setTimeout(turn, intervalMs);
      });
  };
  turn();
  return {
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
