/**
 * Structured logs (R-K4): one JSON line per event. The members `password`, `clientSecret` and `authorization` of a
 * line, and of each object that is a member of the line, are redacted.
 */
import { type Logger, pino } from 'pino';

export type Log = Logger;

const REDACTED_PATHS = ['password', 'clientSecret', 'authorization', '*.password', '*.clientSecret', '*.authorization'];

/**
 * Members of an error that are logged besides type, message, stack, cause and inner errors. All others are dropped:
 * ioredis attaches the command with its password, PostgreSQL attaches the refused row, and future versions of packages
 * may attach more.
 */
const FACTS = [
  ...['code', 'status', 'errno', 'syscall', 'address', 'port'],
  ...['severity', 'schema', 'table', 'column', 'constraint', 'routine'],
] as const;

const MAX_MESSAGE_CHARACTERS = 2000;
const MAX_DEPTH = 4;

/** All loggers of a process write to stdout, asynchronously. */
const stdout = pino.destination({ fd: 1, sync: false });
let isPending = false;
stdout.on('drain', () => {
  isPending = false;
});
const destination = {
  write: (line: string) => {
    isPending = true;
    stdout.write(line);
  },
};

/** Before the process exits, it waits at most this long until the reader of stdout has taken all lines. */
const FLUSH_TIMEOUT_MS = 1000;

/**
 * Resolves when all lines are written to stdout, when writing fails, or after FLUSH_TIMEOUT_MS. Call it before
 * `process.exit`: the flush of sonic-boom during the exit repeats a write to a closed pipe for ever, so a process whose
 * log collector has ended would not exit.
 */
export async function flushLogs(): Promise<void> {
  if (!isPending) return;
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    stdout.once('drain', resolve);
    stdout.once('error', resolve);
    timer = setTimeout(resolve, FLUSH_TIMEOUT_MS);
  });
  clearTimeout(timer);
  if (isPending) stdout.flushSync = () => {};
}

/**
 * Creates the log of a process. The log writes to stdout (R-K4).
 * @param level a level of pino.
 * @param role role of the process; every line of the log contains it.
 */
export function createLog(level: string, role: string): Log {
  const options = {
    level,
    base: { role },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
    serializers: { err: (error: unknown) => describeError(error) },
  };
  return pino(options, destination);
}

/** Describes an error and its causes, at most 4 deep, by type, message, stack and the members in FACTS (R-K4). */
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
