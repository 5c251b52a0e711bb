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
 * Runs the task immediately, and again after each pause of `intervalMs`. Errors of the task are logged.
 * @param progress reports the sweeper as stalled when a run takes too long; omit `progress` for long tasks.
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
