/**
 * Tracks which background loops of this process make progress. While a loop is stalled, `/health/ready` (R-A9) reports
 * the part `progress` as down.
 */
export interface Progress {
  /**
   * Starts tracking a background loop. This start counts as the first beat.
   * @param limitMs maximum time between two beats, in milliseconds.
   */
  track(name: string, limitMs: number): ProgressTrack;
  /** @returns the names of the stalled loops: those that had no beat for longer than their `limitMs`. */
  stalled(): readonly string[];
}

export interface ProgressTrack {
  /** Records that an iteration has ended, with success or with an error that was reported. */
  beat(): void;
  /** Stops tracking the background loop. */
  end(): void;
}

interface Loop {
  readonly name: string;
  readonly limitMs: number;
  lastMs: number;
}

/** Creates the register of background loops of a process (R-A9). @param nowMs monotonic clock, in milliseconds. */
export function createProgress(nowMs: () => number = () => performance.now()): Progress {
  const loops = new Set<Loop>();
  return {
    track: (name, limitMs) => {
      const loop: Loop = { name, limitMs, lastMs: nowMs() };
      loops.add(loop);
      return {
        beat: () => {
          loop.lastMs = nowMs();
        },
        end: () => void loops.delete(loop),
      };
    },
    stalled: () => [...loops].filter(({ lastMs, limitMs }) => nowMs() - lastMs > limitMs).map(({ name }) => name),
  };
}
