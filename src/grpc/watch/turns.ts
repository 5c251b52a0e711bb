/** Lets a number of readers at the database at once; the others wait for their turn in the order they came. */
export interface Turns {
  /** Runs `work` when it is its turn. */
  take<Result>(work: () => Promise<Result>): Promise<Result>;
}

export function openTurns(places: number): Turns {
  const waiting: (() => void)[] = [];
  let free = places;
  return {
    take: async (work) => {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        // The place is handed on, not given back and taken again by whoever comes in between.
        const next = waiting.shift();
        if (next) next();
        else free += 1;
      }
    },
  };
}
