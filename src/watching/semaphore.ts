/** Semaphore whose callers can share one run of the same work. One read then serves all watches of the same points. */
import type { FairSemaphore } from '../platform/shares/fair-semaphore.ts';

export interface Joining {
  /**
   * Callers with the same key share a run. The key is undefined when the run must not be shared. Keys of different
   * accounts must differ.
   */
  readonly key: string | undefined;
  /** The run takes its permit from the share of this account. */
  readonly accountId: number;
}

export interface CoalescingSemaphore<Result> {
  /**
   * Runs `work` with one permit, or joins a run that has the same key and has not begun. In both cases, the result
   * includes all writes committed before the call.
   * @throws the reason of `signal`: without a key, if it aborts before the permit is granted; with a key, if it aborts
   *   before the result is ready. Other callers that share the run still get the result.
   */
  run(joining: Joining, work: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
}

/** Creates a semaphore whose waiting callers with the same key share one run and its result. */
export function coalesceRuns<Result>(semaphore: Pick<FairSemaphore, 'enter'>): CoalescingSemaphore<Result> {
  const waiting = new Map<string, Promise<Result>>();
  const runAlone = async (accountId: number, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> => {
    const leave = await semaphore.enter(accountId, signal);
    return work().finally(leave);
  };
  const begin = (key: string, accountId: number, work: () => Promise<Result>): Promise<Result> => {
    const result = runAlone(accountId, () => {
      waiting.delete(key);
      return work();
    });
    waiting.set(key, result);
    return result;
  };
  return {
    run: async ({ key, accountId }, work, signal) => {
      if (key === undefined) return runAlone(accountId, work, signal);
      return unlessAborted(waiting.get(key) ?? begin(key, accountId, work), signal);
    },
  };
}

function unlessAborted<Result>(result: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => reject(signal.reason);
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', cancel));
  });
}
