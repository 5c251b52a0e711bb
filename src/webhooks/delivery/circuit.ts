/**
 * Circuit breaker of one receiver within a time slice: it opens at the second failure in a row that shows that the receiver
 * is down. The slice then ends and the webhook is paused; the slice after the pause sends one message as a probe, because
 * the receiver is known to fail. Messages meanwhile wait as `Pending` and use up no attempt.
 */
import { isDown, type TryEnd } from './retry-rules.ts';

const FAILURES_TO_OPEN = 2;

export interface Circuit {
  /** Counts the end of an attempt. */
  add(end: TryEnd): void;
  isOpen(): boolean;
}

/** @param isFailing the last attempt before the slice failed: the first failure opens the circuit. */
export function openCircuit(isFailing: boolean): Circuit {
  let failures = isFailing ? FAILURES_TO_OPEN - 1 : 0;
  return {
    add: (end) => {
      failures = isDown(end) ? failures + 1 : 0;
    },
    isOpen: () => failures >= FAILURES_TO_OPEN,
  };
}
