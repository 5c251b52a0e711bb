/** Waiting for what is to come: a condition with a deadline, never a pause of a length that happens to do. */

const DEFAULT_TIMEOUT_MS = 20_000;
const INTERVAL_MS = 10;

/**
 * Asks again and again until `check` returns something other than undefined or false.
 * @throws Error naming what was waited for, with the last error `check` threw.
 */
export async function eventually<Result>(
  what: string,
  check: () => Promise<Result | undefined | false>,
  timeoutMs = DEFAULT_TIMEOUT_MS,
): Promise<Result> {
  const deadline = performance.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const result = await check();
      if (result !== undefined && result !== false) return result;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() > deadline)
      throw new Error(`${what} did not come within ${timeoutMs} ms`, { cause: lastError });
    await new Promise((resolve) => {
      setTimeout(resolve, INTERVAL_MS);
    });
  }
}
