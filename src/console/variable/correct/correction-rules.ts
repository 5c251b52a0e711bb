/** Computes the edits of a correction: set, add, multiply, fill gaps. Pure. */
import type { Range } from '../chart-rules.ts';
import type { Points } from '../points.ts';

export type ChangeKind = 'set' | 'add' | 'scale' | 'fill';

/** New values by date in Unix seconds; only values that differ from the stored ones. */
export type Edits = ReadonlyMap<number, number>;

/** Maximum points of one correction. */
export const MAX_CORRECTED = 5000;

/** A date of the range with its stored and its corrected value. */
export interface Row {
  readonly seconds: number;
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** @returns the stored dates and the edited ones, ascending. */
export function toRows({ seconds, values }: Points, edits: Edits): readonly Row[] {
  const stored = new Map(Array.from(seconds, (date, index) => [date, known(values[index])] as const));
  const dates = [...new Set([...stored.keys(), ...edits.keys()])].sort((a, b) => a - b);
  return dates.map((date) => ({ seconds: date, before: stored.get(date), after: edits.get(date) }));
}

/**
 * @param operand of `set`, `add` and `scale`.
 * @param stepSec distance of the dates that `fill` creates.
 * @returns the edits after a change of every point of the range.
 */
export function applyChange(
  kind: ChangeKind,
  operand: number,
  points: Points,
  edits: Edits,
  range: Range,
  stepSec: number,
): Edits {
  const rows = toRows(points, edits).flatMap(({ seconds, before, after }) => {
    const value = after ?? before;
    return value === undefined ? [] : [{ seconds, value }];
  });
  if (kind === 'fill') return fill(rows, edits, range, stepSec);
  const change = (value: number) => (kind === 'set' ? operand : kind === 'add' ? value + operand : value * operand);
  return changed(points, new Map([...edits, ...rows.map(({ seconds, value }) => [seconds, change(value)] as const)]));
}

/** Sets the value of one date. @param value undefined removes the edit. */
export function editOne(points: Points, edits: Edits, seconds: number, value: number | undefined): Edits {
  const next = new Map(edits);
  if (value === undefined) next.delete(seconds);
  else next.set(seconds, value);
  return changed(points, next);
}

/** @returns the edits whose value differs from the stored value. */
function changed(points: Points, edits: Edits): Edits {
  const stored = new Map(Array.from(points.seconds, (date, index) => [date, points.values[index]] as const));
  return new Map([...edits].filter(([seconds, value]) => stored.get(seconds) !== value));
}

/** Fills gaps: gives each date of the step without a point the value on the straight line between its neighbours. */
function fill(
  rows: readonly { readonly seconds: number; readonly value: number }[],
  edits: Edits,
  range: Range,
  stepSec: number,
): Edits {
  const next = new Map(edits);
  for (let index = 1; index < rows.length; index += 1) {
    const [left, right] = [rows[index - 1], rows[index]];
    if (!left || !right) continue;
    for (let date = left.seconds + stepSec; date < right.seconds - stepSec / 2; date += stepSec) {
      if (date < range.from || date >= range.to || next.size >= MAX_CORRECTED) continue;
      const part = (date - left.seconds) / (right.seconds - left.seconds);
      next.set(date, left.value + part * (right.value - left.value));
    }
  }
  return next;
}

function known(value: number | undefined): number | undefined {
  return value === undefined || Number.isNaN(value) ? undefined : value;
}
