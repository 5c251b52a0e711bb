/**
 * Writes how tries ended as soon as it is known, with one transaction at a time: what ends meanwhile, of whatever webhook,
 * is written together by the next. While the database is away it goes on trying until the claims have run out; whoever
 * takes them then sends the messages again, under the same id (R-I3).
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../platform/log.ts';
import type { EndedAttempt } from './write-outcomes.ts';

export interface OutcomeWriter {
  /** Resolves when it is written, or there is no more use in trying. */
  write(ended: EndedAttempt): Promise<void>;
}

export interface OutcomeWriterOptions {
  readonly store: (ended: readonly EndedAttempt[]) => Promise<void>;
  /** From the end of a try until its claim has run out for certain. */
  readonly patienceMs: number;
  readonly log: Log;
}

interface Waiting {
  readonly ended: EndedAttempt;
  readonly done: () => void;
}

const MAX_PORTION = 500;
const PAUSE_MS = 200;

export function openOutcomeWriter({ store, patienceMs, log }: OutcomeWriterOptions): OutcomeWriter {
  const waiting: Waiting[] = [];
  let isRunning = false;
  const attemptStore = async (portion: readonly EndedAttempt[]): Promise<boolean> => {
    try {
      await store(portion);
      return true;
    } catch (error) {
      log.warn({ err: error, tries: portion.length }, 'how webhook tries ended could not be written');
      return false;
    }
  };
  const storeForSure = async (portion: readonly EndedAttempt[]): Promise<void> => {
    if (await attemptStore(portion)) return;
    // One that cannot be written must not take the others with it.
    for (const ended of portion) {
      while (!(await attemptStore([ended])) && performance.now() - ended.endedMs < patienceMs) await pause(PAUSE_MS);
    }
  };
  const run = async (): Promise<void> => {
    isRunning = true;
    while (waiting.length > 0) {
      const portion = waiting.splice(0, MAX_PORTION);
      await storeForSure(portion.map(({ ended }) => ended));
      for (const { done } of portion) done();
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
