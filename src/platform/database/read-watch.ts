/**
 * Watches one connection that an answer is streamed from, and cuts it when nobody gains from it any more: the reader has
 * left (a signal), takes nothing for too long, or the database sends nothing for too long. A statement that streams for
 * hours to a reader who takes it is left alone, which a statement_timeout would not do.
 */

/** What is watched; `cut` must end whatever runs on the connection. */
export interface WatchedConnection {
  /** Grows while the database sends. */
  readonly bytesRead: () => number;
  readonly cut: () => void;
}

export interface ReadLimits {
  /** Longest time without a byte while rows are waited for. */
  readonly silenceMs: number;
  /** Longest time a reader may take for what it was given. */
  readonly stallMs: number;
}

export interface ReadWatch {
  /** From now on the reader has something to take. */
  handOver(): void;
  /** The reader asks for more. @throws the reason, when the connection was cut meanwhile. */
  takeBack(): void;
  /** Why the connection was cut; undefined while it was not. */
  reason(): Error | undefined;
  end(): void;
}

const LOOKS_PER_LIMIT = 8;

/** Begins to watch, as waiting for rows. An aborted signal cuts at once. */
export function watchRead(
  { bytesRead, cut }: WatchedConnection,
  { silenceMs, stallMs }: ReadLimits,
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
  const look = (): void => {
    const now = performance.now();
    const bytes = bytesRead();
    if (!isHandedOver && bytes !== lastBytes) sinceMs = now;
    lastBytes = bytes;
    if (isHandedOver && now - sinceMs > stallMs) stop(new Error(`connection terminated: not read for ${stallMs} ms`));
    if (!isHandedOver && now - sinceMs > silenceMs)
      stop(new Error(`connection terminated: no row for ${silenceMs} ms`));
  };
  const timer = setInterval(look, Math.ceil(Math.min(silenceMs, stallMs) / LOOKS_PER_LIMIT));
  const abort = (): void => stop(toError(signal?.reason));
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  const turn = (toReader: boolean): void => {
    isHandedOver = toReader;
    sinceMs = performance.now();
  };
  return {
    handOver: () => turn(true),
    takeBack: () => {
      if (reason) throw reason;
      turn(false);
    },
    reason: () => reason,
    end: () => {
      clearInterval(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('the reader has left', { cause: reason });
}
