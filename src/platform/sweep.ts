/**
 * Runs a task at an interval, never twice at the same time, until stopped. A typical task looks in the database
 * for work whose wake-up was lost.
 */
import type { Log } from './log.ts';
import type { Progress } from './progress.ts';

/** A run of the task that takes longer than this is reported as stalled. */
const STALL_MS = 60_000;

export interface Sweeper {
  /** Prevents further runs, and waits until the run in progress has ended. */
  stop(): Promise<void>;
}

/**
 * Starts a sweeper, which runs the task immediately, and again after each pause of `intervalMs`. An error of the task
 * is logged.
 * @param intervalMs pause between the end of a run and the start of the next.
 * @param progress register that reports the sweeper as stalled when a run takes too long; omit it for tasks that may
 * take long.
 */
export function startSweeper(
  name: string,
  intervalMs: number,
  task: () => Promise<void>,
  log: Log,
  progress?: Progress,
): Sweeper {
  const track = progress?.track(name, intervalMs + STALL_MS);
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  const run = (): void => {
    running = task()
      .catch((error: unknown) =>
        log.error({ err: error, sweeper: name }, 'a sweep failed; a later sweep repeats its work'),
      )
      .then(() => {
        track?.beat();
        if (!isStopped) timer = setTimeout(run, intervalMs);
      });
  };
  run();
  return {
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await running;
      track?.end();
    },
  };
}
