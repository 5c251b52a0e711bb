/** Waits until a condition is met, or fails after a time-out. Tests use this instead of fixed pauses. */

const DEFAULT_TIMEOUT_MS = 20_000;
const MIN_INTERVAL_MS = 10;
/** The pause between polls grows up to this maximum, because other processes need the CPU time during a long wait. */
const MAX_INTERVAL_MS = 50;

/**
 * Polls `check` until it returns a value other than undefined and false. @returns that value.
 * @throws {Error} after `timeoutMs`. The message begins with `what`; the cause is the last error that `check` threw.
 */
export async function eventually<Result>(
  what: string,
  check: () => Promise<Result | undefined | false>,
  timeoutMs = DEFAULT_TIMEOUT_MS,
): Promise<Result> {
  const start = performance.now();
  const deadline = start + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const result = await check();
      if (result !== undefined && result !== false) return result;
    } catch (error) {
      lastError = error;
    }
    const now = performance.now();
    if (now > deadline)
      throw new Error(`${what}: the condition was not met within ${timeoutMs} ms`, { cause: lastError });
    await new Promise((resolve) => {
      setTimeout(resolve, Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, (now - start) / 20)));
    });
  }
}
