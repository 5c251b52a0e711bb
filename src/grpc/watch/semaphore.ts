/** Lets a number of readers at the database at once; the others wait for their turn in the order they came. */
export interface Semaphore {
  /** Runs `work` when it is its turn. @throws the reason of the signal when that is aborted before. */
  take<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

export function openSemaphore(places: number): Semaphore {
  const waiting = new Set<() => void>();
  let free = places;
  // The place is handed on, not given back and taken again by whoever comes in between.
  const handOn = (): void => {
    const [next] = waiting;
    if (!next) free += 1;
    else {
      waiting.delete(next);
      next();
    }
  };
  return {
    take: async (work, signal) => {
      if (free > 0) free -= 1;
      else await turnOf(waiting, signal);
      try {
        return await work();
      } finally {
        handOn();
      }
    },
  };
}

async function turnOf(waiting: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const leave = (): void => {
      waiting.delete(go);
      reject(signal?.reason);
    };
    const go = (): void => {
      signal?.removeEventListener('abort', leave);
      resolve();
    };
    waiting.add(go);
    signal?.addEventListener('abort', leave, { once: true });
  });
}

/** Semaphore in which one works for all that want the same. */
export interface CoalescingSemaphore<Result> {
  /**
   * Runs `work` when it is its turn, or gives what another of the same key is going to get, whose turn has not come yet: what
   * was committed before the call is seen by either.
   * @param key undefined: nobody else wants that.
   * @throws the reason of the signal when that is aborted; the others still get theirs.
   */
  take(key: string | undefined, work: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
}

export function coalesceRuns<Result>(turns: Semaphore): CoalescingSemaphore<Result> {
  const waiting = new Map<string, Promise<Result>>();
  const begin = (key: string, work: () => Promise<Result>): Promise<Result> => {
    let hasBegun = false;
    const result = turns.take(() => {
      hasBegun = true;
      waiting.delete(key);
      return work();
    });
    if (!hasBegun) waiting.set(key, result);
    return result;
  };
  return {
    take: async (key, work, signal) => {
      if (key === undefined) return turns.take(work, signal);
      return unlessAborted(waiting.get(key) ?? begin(key, work), signal);
    },
  };
}

function unlessAborted<Result>(result: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
