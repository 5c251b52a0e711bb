/**
 * Writes the outcomes of attempts in groups of at most 500 (R-I3).
 * - After a transient fault, such as an unreachable database, the write is retried (see `patienceMs`).
 * - After any other error, the outcomes are written one by one, and refused outcomes are dropped.
 *
 * If an outcome is not stored, its webhook message is sent again under the same id.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isTransientError } from '../../platform/database/dependency-error.ts';
import type { Log } from '../../platform/log.ts';
import { idsOf } from './claim-attempts.ts';
import type { EndedAttempt } from './write-outcomes.ts';

export interface OutcomeWriter {
  /** Resolves when the outcome has been written, or when its writing was skipped (the claim was lost) or abandoned. */
  write(ended: EndedAttempt): Promise<void>;
}

export interface OutcomeWriterOptions {
  readonly store: (ended: readonly EndedAttempt[]) => Promise<void>;
  /**
   * After a service fault, the write of an outcome is retried. The retries stop this many milliseconds after the end of
   * the webhook attempt.
   */
  readonly patienceMs: number;
  readonly log: Log;
}

interface Waiting {
  readonly ended: EndedAttempt;
  readonly done: () => void;
}

const MAX_BATCH = 500;
const RETRY_PAUSE_MS = 200;
const RETRIED = 'the write is retried; if all retries fail, the webhook messages are sent again';
const SPLIT = 'the outcomes are now written one by one';
const GIVEN_UP = 'the outcome of this attempt is lost, and without an outcome the webhook message is sent again';

/** @returns a writer, which makes one call of `store` at a time (R-I3). */
export function openOutcomeWriter({ store, patienceMs, log }: OutcomeWriterOptions): OutcomeWriter {
  const waiting: Waiting[] = [];
  let isRunning = false;
  const attemptStore = async (batch: readonly EndedAttempt[]): Promise<'written' | 'unavailable' | 'refused'> => {
    try {
      await store(batch);
      return 'written';
    } catch (error) {
      const [first, ...others] = batch.map(({ claimed }) => claimed);
      const ids = first && others.length === 0 ? idsOf(first) : {};
      const result = isTransientError(error) ? 'unavailable' : 'refused';
      const next = result === 'unavailable' ? RETRIED : others.length > 0 ? SPLIT : GIVEN_UP;
      log.warn(
        { err: error, attempts: batch.length, ...ids },
        `outcomes of webhook attempts were not written; ${next}`,
      );
      return result;
    }
  };
  const storeWithRetry = async (batch: readonly EndedAttempt[]): Promise<void> => {
    let left = batch;
    while (left.length > 0) {
      const result = await attemptStore(left);
      if (result === 'written') return;
      if (result === 'refused') {
        if (left.length > 1) for (const ended of left) await storeWithRetry([ended]);
        return;
      }
      left = left.filter(({ endedMs }) => performance.now() - endedMs < patienceMs);
      if (left.length > 0) await pause(RETRY_PAUSE_MS);
    }
  };
  const run = async (): Promise<void> => {
    isRunning = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_BATCH);
      await storeWithRetry(batch.map(({ ended }) => ended));
      for (const { done } of batch) done();
    }
    isRunning = false;
  };
  return {
    write: (ended) =>
      new Promise((resolve) => {
        waiting.push({ ended, done: resolve });
        if (!isRunning) void run();
      }),
  };
}
