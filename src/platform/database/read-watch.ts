/**
 * Watches the database connection behind a streamed answer. Closes the connection when a signal ends the answer early
 * (for example because the client has disconnected), when the client reads nothing for too long, or when the database
 * sends nothing for too long. A statement_timeout cannot replace the watch: a statement may stream for hours to a
 * client that keeps reading.
 */

export interface WatchedConnection {
  /** Number of bytes received from the database so far. */
  readonly bytesRead: () => number;
  /** Closes the connection, which ends the statement that runs on it. */
  readonly cut: () => void;
}

export interface ReadLimits {
  /** Maximum time without a byte from the database while rows are awaited. */
  readonly silenceMs: number;
  /** Maximum time the client may take to read the rows handed to it. */
  readonly stallMs: number;
  /**
   * Returns true while other accounts wait for a connection; the stall limit is then at most CONTENDED_STALL_MS.
   * Default: a function that always returns false.
   */
  readonly isContended?: () => boolean;
}

export interface ReadWatch {
  /** Call this when rows are handed to the client: the stall limit applies from then on. */
  handOver(): void;
  /**
   * Call this when the client asks for more rows: the silence limit applies from then on.
   * @throws {Error} the error of `reason`, when the watch has closed the connection.
   */
  takeBack(): void;
  /** Returns the reason for which the watch closed the connection; undefined when the watch has not closed it. */
  reason(): Error | undefined;
  /** Ends the watch; the connection stays open. */
  end(): void;
}

const CHECKS_PER_LIMIT = 8;
/**
 * The stall limit while other accounts wait for a connection. It must be shorter than the time after which a waiting
 * account is refused.
 */
const CONTENDED_STALL_MS = 2000;

/**
 * Starts the watch; the silence limit applies until the first `handOver`.
 * @param signal the signal that aborts when the answer ends early, for example because the client disconnects. The
 * watch then closes the connection immediately.
 */
export function watchRead(
  { bytesRead, cut }: WatchedConnection,
  { silenceMs, stallMs, isContended = () => false }: ReadLimits,
  signal: AbortSignal | undefined,
): ReadWatch {
  let reason: Error | undefined;
  let isHandedOver = false;
  let lastBytes = bytesRead();
  let sinceMs = performance.now();
  const stop = (why: Error): void => {
    if (reason) return;
    reason = why;
    cut();
  };
  const check = (): void => {
    const now = performance.now();
    const bytes = bytesRead();
    if (!isHandedOver && bytes !== lastBytes) sinceMs = now;
    lastBytes = bytes;
    const waitedMs = now - sinceMs;
    if (isHandedOver && (waitedMs > stallMs || (waitedMs > CONTENDED_STALL_MS && isContended())))
      stop(
        new Error(
          `connection terminated: the client did not read the rows within ${Math.min(stallMs, Math.floor(waitedMs))} ms`,
        ),
      );
    if (!isHandedOver && waitedMs > silenceMs)
      stop(new Error(`connection terminated: the database sent nothing for ${silenceMs} ms`));
  };
  const shortestMs = Math.min(silenceMs, stallMs, 4 * CONTENDED_STALL_MS);
  const timer = setInterval(check, Math.ceil(shortestMs / CHECKS_PER_LIMIT));
  const abort = (): void => stop(toError(signal?.reason));
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  const restart = (handedOver: boolean): void => {
    isHandedOver = handedOver;
    sinceMs = performance.now();
  };
  return {
    handOver: () => restart(true),
    takeBack: () => {
      if (reason) throw reason;
      restart(false);
    },
    reason: () => reason,
    end: () => {
      clearInterval(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('the client disconnected', { cause: reason });
}
