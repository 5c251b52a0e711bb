/**
 * Tracks which background loops of this process make progress. `/health/ready` (R-A9) reports the part `progress` as
 * down while a loop has completed no iteration for longer than its limit.
 */
export interface Progress {
  /**
   * Starts tracking a background loop. The time since its last beat counts from now.
   * @param limitMs maximum time between two beats; after a longer time the loop counts as stalled.
   */
  track(name: string, limitMs: number): ProgressTrack;
  /** @returns the names of the loops whose last beat is longer ago than their limit. */
  stalled(): readonly string[];
}

export interface ProgressTrack {
  /** Records a completed iteration, successful or with a reported error. */
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
