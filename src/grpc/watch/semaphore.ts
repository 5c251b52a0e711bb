/** FIFO semaphore for database readers, and its coalescing form for readers that want the same result. */
export interface Semaphore {
  /**
   * Runs `work` with one permit.
   * @throws the reason of the signal when it is aborted before a permit is free.
   */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

/** Opens a FIFO semaphore. @param permits number of runs at the same time. */
export function openSemaphore(permits: number): Semaphore {
  const waiting = new Set<() => void>();
  let free = permits;
  // Passes the permit directly to the first waiter: if it were freed first, a newcomer could take it and break the FIFO
  // order.
  const release = (): void => {
    const [next] = waiting;
    if (!next) free += 1;
    else {
      waiting.delete(next);
      next();
    }
  };
  return {
    run: async (work, signal) => {
      if (free > 0) free -= 1;
      else await acquire(waiting, signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}

async function acquire(waiting: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const cancel = (): void => {
      waiting.delete(grant);
      reject(signal?.reason);
    };
    const grant = (): void => {
      signal?.removeEventListener('abort', cancel);
      resolve();
    };
    waiting.add(grant);
    signal?.addEventListener('abort', cancel, { once: true });
  });
}

/** Semaphore whose callers with equal keys share one run. */
export interface CoalescingSemaphore<Result> {
  /**
   * Runs `work` with one permit, or joins a run with the same key that is still waiting for its permit. Either way the
   * result includes everything committed before the call.
   * @param key undefined: never shared.
   * @throws the reason of the signal when it is aborted; the other callers of the run still get its result.
   */
  run(key: string | undefined, work: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
}

/** Lets callers with the same key that wait for a permit share one run and its result. */
export function coalesceRuns<Result>(semaphore: Semaphore): CoalescingSemaphore<Result> {
  const waiting = new Map<string, Promise<Result>>();
  const begin = (key: string, work: () => Promise<Result>): Promise<Result> => {
    let hasBegun = false;
    const result = semaphore.run(() => {
      hasBegun = true;
      waiting.delete(key);
      return work();
    });
    if (!hasBegun) waiting.set(key, result);
    return result;
  };
  return {
    run: async (key, work, signal) => {
      if (key === undefined) return semaphore.run(work, signal);
      return unlessAborted(waiting.get(key) ?? begin(key, work), signal);
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
