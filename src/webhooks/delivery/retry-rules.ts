/** Decides what follows an attempt: nothing, a retry, a pause of the webhook, or disabling it (R-I3). */

/** The part of an attempt's outcome that determines the next step. */
export interface TryEnd {
  readonly state: 'Succeeded' | 'Failed';
  /** Status of the response; absent when there was no response. */
  readonly status?: number | undefined;
  /** Delay that the header `Retry-After` of the response asks for. */
  readonly retryAfterMs?: number | undefined;
  /** Whether the message was too large to send. */
  readonly isTooLarge?: boolean | undefined;
}

export interface RetryPolicy {
  /** Back-off delays, one element per retry: the seconds between the previous attempt and this retry. */
  readonly delaysSec: readonly number[];
  /** Maximum pause before a probe of a receiver that is down. `Retry-After` can cause a longer pause. */
  readonly maxProbePauseMs: number;
}

export type NextStep =
  /** No further attempt follows: the message was delivered, or the failed attempt is not retried. */
  | { readonly kind: 'end' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  /** The receiver answered 410 Gone. */
  | { readonly kind: 'disable' };

const GONE = 410;
const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;
const REQUEST_TIMEOUT = 408;

/** Maximum delay that `Retry-After` can cause. A header that asks for more than one day causes a delay of one day. */
export const MAX_RETRY_AFTER_MS = 86_400_000;
/**
 * Delays of this length or more get up to 5 % of random jitter, to spread the retries of messages that failed together.
 */
const MIN_JITTER_MS = 60_000;
const JITTER = 0.05;

/**
 * Plans the next step of a message after an attempt (R-I3).
 * @param attempt number of the attempt, starting at 1.
 * @param isReplay true when the attempt is a replay, which is never retried.
 * @param chance random number from 0 inclusive to 1 exclusive.
 */
export function planNextStep(
  end: TryEnd,
  attempt: number,
  isReplay: boolean,
  { delaysSec }: Pick<RetryPolicy, 'delaysSec'>,
  chance: number,
): NextStep {
  if (end.status === GONE) return { kind: 'disable' };
  const delaySec = delaysSec[attempt - 1];
  if (end.state === 'Succeeded' || isReplay || delaySec === undefined) return { kind: 'end' };
  const delayMs = delaySec * 1000;
  const jitterMs = delayMs >= MIN_JITTER_MS ? delayMs * JITTER * chance : 0;
  return { kind: 'retry', delayMs: Math.max(delayMs + jitterMs, boundRetryAfter(end.retryAfterMs)) };
}

/**
 * Plans the pause of a webhook after status 429 or 503 with `Retry-After` (R-I3). The pause delays every message of the
 * webhook except replays.
 * @returns the pause in milliseconds; 0 means no pause.
 */
export function planPause({ state, status, retryAfterMs }: TryEnd): number {
  const isOverloaded = state === 'Failed' && (status === TOO_MANY_REQUESTS || status === UNAVAILABLE);
  return isOverloaded ? boundRetryAfter(retryAfterMs) : 0;
}

/**
 * @returns true when a failure shows that the receiver is down: no answer, or status 5xx, 408 or 429. A message that is
 * too large to send shows nothing about the receiver.
 */
export function isDown({ state, status, isTooLarge }: TryEnd): boolean {
  if (state === 'Succeeded' || isTooLarge) return false;
  return status === undefined || status >= 500 || status === REQUEST_TIMEOUT || status === TOO_MANY_REQUESTS;
}

/**
 * Plans the pause before the next probe of a receiver that is down (R-I3). The pause is the back-off after the failed
 * attempt, but at most `maxProbePauseMs`.
 * @param attempt number of the failed attempt, starting at 1.
 */
export function planProbePause(attempt: number, { delaysSec, maxProbePauseMs }: RetryPolicy): number {
  return Math.min((delaysSec[attempt - 1] ?? delaysSec.at(-1) ?? 0) * 1000, maxProbePauseMs);
}

const MIN_REPEAT_MS = 60_000;
const MAX_REPEAT_MS = 3_600_000;
/** After an internal error, an attempt is repeated only when its webhook message is at most this old. */
const MAX_REPEAT_AGE_MS = 86_400_000;

/**
 * Plans the repetition of an attempt after an internal error of the service (R-A15). Such an error shows nothing about
 * the receiver, so the error uses up no attempt, and counts neither towards the pause nor towards the disabling of the
 * webhook. The receiver may already have the message, so each repetition may send a duplicate. To limit the number of
 * duplicates, the delay grows with the age of the message.
 * @param ageMs age of the message; negative when clocks differ.
 * @returns milliseconds until the attempt is due again. If the message is older than a day, returns undefined, and the
 * attempt counts as failed.
 */
export function planRepeat(ageMs: number): number | undefined {
  return ageMs > MAX_REPEAT_AGE_MS ? undefined : Math.min(Math.max(ageMs, MIN_REPEAT_MS), MAX_REPEAT_MS);
}

function boundRetryAfter(retryAfterMs = 0): number {
  return Math.min(Math.max(retryAfterMs, 0), MAX_RETRY_AFTER_MS);
}
