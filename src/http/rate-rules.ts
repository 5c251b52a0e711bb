/**
 * Limits how many requests a key, such as a user, may send per minute (R-B15). By the generic cell rate algorithm, a
 * key may send the requests of one minute in a burst. After a burst, the key may send one request every 60 / limit
 * seconds.
 */
const MINUTE_MS = 60_000;
/** Tolerated rounding error. Without this tolerance, the last request of a burst could be refused. */
const ROUNDING_MS = 1e-6;

export interface RateDecision {
  /**
   * State to store for the key: the instant at which a whole burst is available again. A refused request does not
   * change this instant.
   */
  readonly fullAtMs: number;
  /** Milliseconds until the request may pass; 0 when it passes now. */
  readonly waitMs: number;
}

/**
 * Decides whether a request may pass now (R-B15).
 * @param fullAtMs the `fullAtMs` that was stored for the key; undefined for a new key.
 * @param perMinute limit in requests per minute, at least 1.
 * @param cost number of requests that this request counts as; may be a fraction.
 */
export function planRequest(fullAtMs: number | undefined, nowMs: number, perMinute: number, cost = 1): RateDecision {
  const before = Math.max(fullAtMs ?? nowMs, nowMs);
  const after = before + costMs(perMinute, cost);
  const waitMs = after - nowMs - MINUTE_MS;
  return waitMs > ROUNDING_MS ? { fullAtMs: before, waitMs } : { fullAtMs: after, waitMs: 0 };
}

/**
 * @returns the part of a key's budget that a request uses up, in milliseconds. The whole budget is 60,000 ms, and pays
 *   for `perMinute` requests of cost 1.
 */
export function costMs(perMinute: number, cost: number): number {
  return (MINUTE_MS * cost) / perMinute;
}
