/**
 * Writes the outcomes of attempts in groups: outcomes that arrive during one transaction wait, and the next transaction
 * writes up to 500 of them, of any webhooks. When a group cannot be written, its outcomes are written one by one; the
 * write of an outcome is retried until `patienceMs` after the end of the attempt. When all retries fail, a process
 * sends the message of the attempt again under the same id (R-I3).
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../platform/log.ts';
import type { EndedAttempt } from './write-outcomes.ts';

export interface OutcomeWriter {
  /** Resolves when the outcome is written, is skipped because the claim was lost, or `patienceMs` has passed. */
  write(ended: EndedAttempt): Promise<void>;
}

export interface OutcomeWriterOptions {
  readonly store: (ended: readonly EndedAttempt[]) => Promise<void>;
  /** Milliseconds after the end of an attempt during which the write of its outcome is retried. */
  readonly patienceMs: number;
  readonly log: Log;
}

interface Waiting {
  readonly ended: EndedAttempt;
  readonly done: () => void;
}

const MAX_BATCH = 500;
const RETRY_PAUSE_MS = 200;

/** @returns a writer, which makes one call of `store` at a time (R-I3). */
export function openOutcomeWriter({ store, patienceMs, log }: OutcomeWriterOptions): OutcomeWriter {
  const waiting: Waiting[] = [];
  let isRunning = false;
  const attemptStore = async (batch: readonly EndedAttempt[]): Promise<boolean> => {
    try {
      await store(batch);
      return true;
    } catch (error) {
      const [first, ...others] = batch.map(({ claimed }) => claimed);
      const ids = others.length === 0 ? { webhookId: first?.webhookId, historyId: first?.id } : {};
      log.warn(
        { err: error, attempts: batch.length, ...ids, patienceMs },
        'outcomes of webhook attempts were not written; writes are retried, and if all fail, messages are sent again',
      );
      return false;
    }
  };
  const storeWithRetry = async (batch: readonly EndedAttempt[]): Promise<void> => {
    if (await attemptStore(batch)) return;
    // Writes the outcomes one by one, so that an outcome that cannot be written only delays the others.
    for (const ended of batch) {
      while (!(await attemptStore([ended])) && performance.now() - ended.endedMs < patienceMs)
        await pause(RETRY_PAUSE_MS);
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
