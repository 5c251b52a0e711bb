/**
 * How many requests a minute (R-B15), as the generic cell rate algorithm: a whole minute's worth may come at once, then
 * one more each time its share of the minute has passed. One instant per key is all that is kept.
 */
const MINUTE_MS = 60_000;

export interface RateDecision {
  /** To keep for the key: when all that was used is earned back; unchanged by a refusal. */
  readonly fullAtMs: number;
  /** 0: let it pass; else wait so many milliseconds. */
  readonly waitMs: number;
}

/** @param fullAtMs what was kept for the key; absent at first. */
export function planRequest(fullAtMs: number | undefined, nowMs: number, perMinute: number): RateDecision {
  const before = Math.max(fullAtMs ?? nowMs, nowMs);
  const after = before + MINUTE_MS / perMinute;
  const waitMs = after - nowMs - MINUTE_MS;
  // A share may be no whole number: rounding must not cost the last request of a minute.
  return waitMs > 1e-6 ? { fullAtMs: before, waitMs } : { fullAtMs: after, waitMs: 0 };
}
