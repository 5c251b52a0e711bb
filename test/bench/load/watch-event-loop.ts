/**
 * Measures the delays of a role process's event loop. The bench loads this file into the process (`--import`). At each
 * SIGUSR2, the process writes the 99th percentile and the maximum of the delays since the previous SIGUSR2 to
 * EVENT_LOOP_FILE.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Interval at which the event loop is sampled. If two samples are further apart, the excess is the delay. */
const INTERVAL_MS = 10;
const NANOS_PER_MILLI = 1e6;

const file = process.env.EVENT_LOOP_FILE;
if (isMainThread && file !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: INTERVAL_MS });
  const delayMs = (nanos: number) => Math.max(0, nanos / NANOS_PER_MILLI - INTERVAL_MS);
  delays.enable();
  process.on('SIGUSR2', () => {
    const found = { p99Ms: delayMs(delays.percentile(99)), maxMs: delayMs(delays.max) };
    delays.reset();
    writeFileSync(`${file}.new`, JSON.stringify(found));
    renameSync(`${file}.new`, file);
  });
}
