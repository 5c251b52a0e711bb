/** The clock is passed in, never read from the surroundings: rules about hours are tested at their boundaries. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. */
  nowMillis(): number;
}

export const systemClock: Clock = { nowMillis: () => Date.now() };
