/**
 * Figures of a benchmark. Each figure is a measured value divided by its limit. If the limit is measured too, value and
 * limit are measured in turn.
 */
import { writeFileSync } from 'node:fs';

export interface Figure {
  readonly name: string;
  /** Text printed after the ratio. It names the limit, for example `of raw COPY BINARY`. */
  readonly ratioOf: string;
  /** Median of the ratios of all rounds. */
  readonly ratio: number;
  readonly unit: string;
  /** Median of the measured values of all rounds. */
  readonly ours: number;
  /** Median of the limits of all rounds. */
  readonly limit: number;
  readonly rounds: number;
}

/**
 * @returns the median; for an even number of values, the upper of the two middle ones.
 * @throws {Error} without values.
 */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted[sorted.length >> 1];
  if (middle === undefined) throw new Error('a median needs at least one value');
  return middle;
}

/** @param pairs for each round, the measured value and its limit. */
export function figure(
  name: string,
  ratioOf: string,
  unit: string,
  pairs: readonly (readonly [ours: number, limit: number])[],
): Figure {
  return {
    name,
    ratioOf,
    unit,
    ratio: median(pairs.map(([ours, limit]) => ours / limit)),
    ours: median(pairs.map(([ours]) => ours)),
    limit: median(pairs.map(([, limit]) => limit)),
    rounds: pairs.length,
  };
}

export function printFigures(figures: readonly Figure[]): void {
  for (const { name, ratio, ratioOf, ours, limit, unit, rounds } of figures) {
    const details = `${ours.toFixed(1)} against ${limit.toFixed(1)} ${unit}, medians of ${rounds} rounds`;
    process.stdout.write(`${name}\n  ${ratio.toFixed(3)}  ${ratioOf} (${details})\n`);
  }
}

/**
 * @returns a function that writes figures as JSON to the file that the option `--json` names. Without this option, the
 * function does nothing.
 */
export function jsonWriter(argv: readonly string[]): (figures: readonly Figure[]) => void {
  const index = argv.indexOf('--json');
  const file = index < 0 ? undefined : argv[index + 1];
  if (index >= 0 && file === undefined) throw new Error('--json needs the name of a file');
  return (figures) => {
    if (file !== undefined) writeFileSync(file, `${JSON.stringify({ figures }, null, 2)}\n`);
  };
}
