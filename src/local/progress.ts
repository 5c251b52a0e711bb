/**
 * Shows the phases of a command, such as building the console. On a terminal, each phase has one line, which is
 * rewritten to show the current step and the elapsed time. Elsewhere, a line is printed at the start of a phase, at the
 * start of each of its steps, and at its end. In addition, every ten seconds a line shows the current step.
 */
const TICK_MS = 1000;
const PLAIN_TICK_MS = 10_000;

/** Reports the current step of a phase. */
export type Step = (text: string) => void;

/** Runs named phases and shows them. */
export interface Progress {
  /** Runs `work`. Shows `label`, the current step and the elapsed time. Rejects with the error of `work`. */
  phase<T>(label: string, work: (step: Step) => Promise<T>): Promise<T>;
  /** Prints a line that belongs to no phase. */
  say(text: string): void;
}

/**
 * Creates the display of phases.
 * @param output the stream to write to; its `isTTY` decides whether a line is rewritten in place.
 */
export function createProgress(output: NodeJS.WriteStream): Progress {
  return { phase: (label, work) => runPhase(output, label, work), say: (text) => void output.write(`${text}\n`) };
}

async function runPhase<T>(output: NodeJS.WriteStream, label: string, work: (step: Step) => Promise<T>): Promise<T> {
  const line = output.isTTY ? new TerminalLine(output, label) : new PlainLine(output, label);
  const timer = setInterval(() => line.tick(), output.isTTY ? TICK_MS : PLAIN_TICK_MS);
  try {
    const result = await work((text) => line.step(text));
    line.end('done');
    return result;
  } catch (error) {
    line.end('failed');
    throw error;
  } finally {
    clearInterval(timer);
  }
}

class TerminalLine {
  readonly #output: NodeJS.WriteStream;
  readonly #label: string;
  readonly #startedMs = Date.now();
  #step = '';

  constructor(output: NodeJS.WriteStream, label: string) {
    this.#output = output;
    this.#label = label;
    this.tick();
  }

  tick(): void {
    const step = this.#step && `: ${this.#step}`;
    const text = `  ${this.#label}${step} … ${elapsed(this.#startedMs)}`;
    this.#output.write(`\r\x1b[K${text.slice(0, this.#output.columns - 1)}`);
  }

  step(text: string): void {
    this.#step = text;
    this.tick();
  }

  end(outcome: 'done' | 'failed'): void {
    this.#output.write(`\r\x1b[K${outcome === 'done' ? '✓' : '✗'} ${this.#label} (${elapsed(this.#startedMs)})\n`);
  }
}

class PlainLine {
  readonly #output: NodeJS.WriteStream;
  readonly #label: string;
  readonly #startedMs = Date.now();
  #step = '';

  constructor(output: NodeJS.WriteStream, label: string) {
    this.#output = output;
    this.#label = label;
    output.write(`  ${label} …\n`);
  }

  tick(): void {
    this.#output.write(`    ${this.#step || 'still running'} (${elapsed(this.#startedMs)})\n`);
  }

  step(text: string): void {
    this.#step = text;
    this.tick();
  }

  end(outcome: 'done' | 'failed'): void {
    this.#output.write(`${outcome === 'done' ? '✓' : '✗'} ${this.#label} (${elapsed(this.#startedMs)})\n`);
  }
}

function elapsed(startedMs: number): string {
  return `${((Date.now() - startedMs) / 1000).toFixed(1)} s`;
}
