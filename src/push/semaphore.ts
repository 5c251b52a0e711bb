/** FIFO semaphore; `enter()` resolves to false when it gets no permit within `maxWaitMs`. */

export interface Semaphore {
  /** @returns true when a permit was acquired; release it with `leave`. */
  enter(): Promise<boolean>;
  leave(): void;
}

/**
 * Opens a semaphore.
 * @param count number of permits; with 0, `enter()` resolves to false immediately.
 * @param maxWaitMs longest time that `enter()` waits for a permit; after this time, `enter()` resolves to false.
 */
export function openSemaphore(count: number, maxWaitMs: number): Semaphore {
  let free = count;
  const waiting: ((hasEntered: boolean) => void)[] = [];
  return {
    enter: async () => {
      if (count === 0) return false;
      if (free > 0) {
        free -= 1;
        return true;
      }
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(enter), 1);
          resolve(false);
        }, maxWaitMs);
        const enter = (hasEntered: boolean): void => {
          clearTimeout(timer);
          resolve(hasEntered);
        };
        waiting.push(enter);
      });
    },
    leave: () => {
      const next = waiting.shift();
      if (next) next(true);
      else free += 1;
    },
  };
}
