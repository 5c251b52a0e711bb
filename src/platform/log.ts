/** Structured logs (R-K4): one JSON line per event, with request id, account and duration; no secrets, no bodies. */
import { type Logger, pino } from 'pino';

export type Log = Logger;

const REDACTED_PATHS = ['password', 'clientSecret', 'authorization', '*.password', '*.clientSecret', '*.authorization'];

/**
 * What else is told of an error. Whatever is not named here is left out: Redis hangs the command with its password on an
 * error, PostgreSQL the row that was refused, and what the next version of a package adds nobody knows.
 */
const FACTS = [
  ...['code', 'status', 'errno', 'syscall', 'address', 'port'],
  ...['severity', 'schema', 'table', 'column', 'constraint', 'routine'],
] as const;

const MAX_MESSAGE_CHARACTERS = 2000;
const MAX_DEPTH = 4;

/** @param level one of pino's levels; @param role the process role, stamped on every line. */
export function createLog(level: string, role: string): Log {
  return pino({
    level,
    base: { role },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
    serializers: { err: (error: unknown) => describeError(error) },
  });
}

/** Type, message, stack and the facts above, of the error and of what caused it. */
export function describeError(error: unknown, depth = 0): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { type: typeof error, message: shorten(String(error)) };
  const facts = FACTS.flatMap((name) => (name in error ? [[name, (error as unknown as Facts)[name]]] : []));
  const inner = depth < MAX_DEPTH ? innerErrors(error, depth + 1) : {};
  const stack = error.stack?.slice(error.stack.indexOf('\n    at '));
  return { type: error.name, message: shorten(error.message), ...Object.fromEntries(facts), stack, ...inner };
}

type Facts = Readonly<Record<(typeof FACTS)[number], unknown>>;

function innerErrors(error: Error, depth: number): Readonly<Record<string, unknown>> {
  return {
    ...(error.cause !== undefined && { cause: describeError(error.cause, depth) }),
    ...(error instanceof AggregateError && { errors: error.errors.map((one) => describeError(one, depth)) }),
  };
}

function shorten(text: string): string {
  return text.length > MAX_MESSAGE_CHARACTERS ? `${text.slice(0, MAX_MESSAGE_CHARACTERS)}…` : text;
}
