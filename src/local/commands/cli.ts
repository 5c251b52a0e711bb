/** What the local commands share: a sentence and exit 1 for expected problems, one orderly stop on signals. */
import { SetupError } from '../setup-error.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs a command to its end, then ends the process: 1 after a SetupError or bug, else what it returns. */
export async function runCommand(command: () => Promise<number>): Promise<void> {
  const exitCode = await command().catch((error: unknown) => {
    const text = error instanceof SetupError ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`\n${text}\n`);
    return 1;
  });
  process.exit(exitCode);
}

/** Resolves with the first signal that asks this process to stop; later ones change nothing. */
export function awaitStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.on(signal, resolve);
  });
}
