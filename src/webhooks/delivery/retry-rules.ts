/** What becomes of a message after a try (R-I3). */

/** How a try ended, as far as it matters here. */
export interface TryEnd {
  readonly state: 'Succeeded' | 'Failed';
  /** Status of the response; absent: there was none. */
  readonly status?: number | undefined;
  /** What the receiver asked for by Retry-After. */
  readonly retryAfterMs?: number | undefined;
}

export interface RetryPolicy {
  /** Seconds from a failed try to the next one: as many as there are retries. */
  readonly delaysSec: readonly number[];
}

export type NextStep =
  /** Nothing more to do: told, or given up. */
  | { readonly kind: 'end' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  /** The receiver wants nothing of this webhook ever again. */
  | { readonly kind: 'disable' };

const GONE = 410;
const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;

/** Longer than this nobody may put us off: what waits would outlive the history. */
const MAX_RETRY_AFTER_MS = 86_400_000;
/** From this delay on, up to a twentieth is added by chance, so that what failed together does not come back together. */
const MIN_SPREAD_MS = 60_000;
const SPREAD = 0.05;

/**
 * @param attempt number of the try, from 1 on.
 * @param isReplay it was asked for by a manager, and is tried once.
 * @param chance from 0 to 1, 1 exclusive.
 */
export function planNextStep(
  end: TryEnd,
  attempt: number,
  isReplay: boolean,
  { delaysSec }: RetryPolicy,
  chance: number,
): NextStep {
  if (end.status === GONE) return { kind: 'disable' };
  const delaySec = delaysSec[attempt - 1];
  if (end.state === 'Succeeded' || isReplay || delaySec === undefined) return { kind: 'end' };
  const delayMs = delaySec * 1000;
  const spreadMs = delayMs >= MIN_SPREAD_MS ? delayMs * SPREAD * chance : 0;
  return { kind: 'retry', delayMs: Math.max(delayMs + spreadMs, boundRetryAfter(end.retryAfterMs)) };
}

/**
 * For how long nothing at all is sent to a receiver: one that is overloaded and says until when means every message, not
 * the one it refused. 0: it may be sent the next one at once.
 */
export function planPause({ state, status, retryAfterMs }: TryEnd): number {
  const isOverloaded = state === 'Failed' && (status === TOO_MANY_REQUESTS || status === UNAVAILABLE);
  return isOverloaded ? boundRetryAfter(retryAfterMs) : 0;
}

function boundRetryAfter(retryAfterMs = 0): number {
  return Math.min(Math.max(retryAfterMs, 0), MAX_RETRY_AFTER_MS);
}
