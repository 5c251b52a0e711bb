/**
 * Returns a function that calls `action` at most once per interval, and drops calls in between. Used for log lines
 * about conditions that persist.
 */
export function throttle<Value>(intervalMs: number, action: (value: Value) => void): (value: Value) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (value) => {
    const now = performance.now();
    if (now - lastMs < intervalMs) return;
    lastMs = now;
    action(value);
  };
}
