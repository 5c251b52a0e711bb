/**
 * Enforces `PaceLimits` on the client of a streamed REST or gRPC answer (R-A14). While no bytes wait for the client,
 * only the time for `maxMs` runs.
 */

export interface PaceLimits {
  /**
   * Maximum time, in milliseconds, for which the client may leave the offered bytes unread. The rate of the client
   * (`minBytesPerSec`) is measured over periods of at least this length.
   */
  readonly stallMs: number;
  readonly minBytesPerSec: number;
  /** Maximum time in milliseconds for sending an answer. */
  readonly maxMs: number;
}

export interface ClientPace {
  /**
   * Records that bytes wait for the client.
   * @param bytes number of bytes, or undefined when it is unknown. An unknown number does not count towards the rate.
   */
  offer(bytes: number | undefined): void;
  /** Records that the client has taken all bytes that were offered. */
  taken(): void;
  /** Stops enforcing the limits. */
  end(): void;
}

const CHECKS_PER_LIMIT = 8;
const MIN_CHECK_MS = 10;

/**
 * Starts enforcing the limits.
 * @param onTooSlow called when a limit is broken, at most once. `reason` is a sentence that names the limit, for a log
 * or an error.
 */
export function watchPace(
  { stallMs, minBytesPerSec, maxMs }: PaceLimits,
  onTooSlow: (reason: string) => void,
): ClientPace {
  const startMs = performance.now();
  let offeredMs: number | undefined;
  let offeredBytes: number | undefined = 0;
  /**
   * Totals since the last check of the rate: for how many milliseconds data waited until the client took it, and how
   * many bytes this was. Data of unknown size is left out.
   */
  let waitedMs = 0;
  let takenBytes = 0;
  const findBrokenLimit = (now: number): string | undefined => {
    if (now - startMs > maxMs) return `the answer took longer than ${maxMs / 1000} s`;
    if (offeredMs !== undefined && now - offeredMs > stallMs) return `the client read nothing for ${stallMs / 1000} s`;
    if (waitedMs <= stallMs) return undefined;
    const rate = Math.floor((takenBytes * 1000) / waitedMs);
    if (rate < minBytesPerSec)
      return `the client must read at least ${minBytesPerSec} bytes per second, but read ${rate} bytes per second over ${Math.round(waitedMs / 1000)} s`;
    [waitedMs, takenBytes] = [0, 0];
    return undefined;
  };
  const check = (): void => {
    const reason = findBrokenLimit(performance.now());
    if (reason === undefined) return;
    clearInterval(timer);
    onTooSlow(reason);
  };
  const timer = setInterval(check, Math.max(MIN_CHECK_MS, Math.min(stallMs, maxMs) / CHECKS_PER_LIMIT));
  timer.unref();
  return {
    offer: (bytes) => {
      offeredMs = performance.now();
      offeredBytes = bytes;
    },
    taken: () => {
      if (offeredMs !== undefined && offeredBytes !== undefined) {
        waitedMs += performance.now() - offeredMs;
        takenBytes += offeredBytes;
      }
      offeredMs = undefined;
    },
    end: () => clearInterval(timer),
  };
}
