/**
 * Measures work by the processor time of this thread. Unlike clock time, processor time does not include the time that
 * other processes and threads take, such as workers that run other test files.
 */

/** Interval of the timer of `measureTurns`. A turn is the time between two calls of the timer's function. */
const INTERVAL_MS = 5;

/** @returns the processor time of this thread since `before`, in milliseconds. */
function threadMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/**
 * @returns the result of the work, and the most processor time that this thread used in one turn: the longest time for
 * which the work blocked the event loop.
 */
export async function measureTurns<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly maxTurnMs: number }> {
  let before = process.threadCpuUsage();
  let maxTurnMs = 0;
  const turn = (): void => {
    maxTurnMs = Math.max(maxTurnMs, threadMsSince(before));
    before = process.threadCpuUsage();
  };
  const timer = setInterval(turn, INTERVAL_MS);
  try {
    const result = await work();
    turn();
    return { result, maxTurnMs };
  } finally {
    clearInterval(timer);
  }
}

/** @returns the result of the work, and the processor time that this thread took for it. */
export async function measureThread<Result>(
  work: () => Result | Promise<Result>,
): Promise<{ readonly result: Result; readonly threadMs: number }> {
  const before = process.threadCpuUsage();
  const result = await work();
  return { result, threadMs: threadMsSince(before) };
}
