/**
 * Functions shared by the local commands: `runCommand` runs a command and exits; `awaitStopSignal` waits for a stop
 * signal.
 */
import { SetupError } from '../setup-error.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a command and exits with the code that the command returns. After an error, prints the message of a SetupError
 * or the stack trace of any other error, and exits with 1.
 */
export async function runCommand(command: () => Promise<number>): Promise<void> {
  const exitCode = await command().catch((error: unknown) => {
    const text = error instanceof SetupError ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`\n${text}\n`);
    return 1;
  });
  process.exit(exitCode);
}

/** Resolves with the first stop signal; later signals have no effect. */
export function awaitStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.on(signal, resolve);
  });
}
