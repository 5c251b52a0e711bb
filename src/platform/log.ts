/** Structured logs (R-K4): one JSON line per event, with request id, account and duration; no secrets, no bodies. */
import { type Logger, pino } from 'pino';

export type Log = Logger;

const REDACTED_PATHS = ['password', 'clientSecret', 'authorization', '*.password', '*.clientSecret', '*.authorization'];

/** @param level one of pino's levels; @param role the process role, stamped on every line. */
export function createLog(level: string, role: string): Log {
  return pino({
    level,
    base: { role },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
  });
}
