/** A number of places, taken in the order they were asked for; who waits too long goes without. */

export interface Slots {
  /** @returns whether a place was had; `leave` gives it back. */
  enter(): Promise<boolean>;
  leave(): void;
}

export function openSlots(count: number, maxWaitMs: number): Slots {
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
