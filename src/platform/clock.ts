/** The current time, passed as an argument so that tests can set it. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. */
  nowMillis(): number;
}

/** The clock of the machine. */
export const systemClock: Clock = { nowMillis: () => Date.now() };
