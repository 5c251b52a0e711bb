/**
 * Computes the edits of a correction, which replaces, increases or multiplies values, fills gaps, or adds missing
 * points. The functions have no side effects.
 */
import { Temporal } from 'temporal-polyfill';
import { type Points, type Range, stepOf } from '../chart-rules.ts';

export type ChangeKind = 'set' | 'add' | 'scale' | 'fill' | 'create';

/** New values by date in Unix seconds. A date whose new value equals the stored value has no edit. */
export type Edits = ReadonlyMap<number, number>;

/** A correction has at most this number of edits, and its range has at most this number of stored points. */
export const MAX_CORRECTED = 5000;

/** A date of the range, with the stored value and the corrected value at this date. */
export interface Row {
  readonly seconds: number;
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** @returns a row for each stored or edited date, in ascending order. */
export function toRows({ seconds, values }: Points, edits: Edits): readonly Row[] {
  const stored = new Map(Array.from(seconds, (date, index) => [date, known(values[index])] as const));
  const dates = [...new Set([...stored.keys(), ...edits.keys()])].sort((a, b) => a - b);
  return dates.map((date) => ({ seconds: date, before: stored.get(date), after: edits.get(date) }));
}

/**
 * Computes the dates that a variable is expected to have. Steps of days, weeks, months and years follow the civil
 * calendar of a zone.
 */
export interface Step {
  /** @returns the date `count` steps after a date, both in Unix seconds; `count` may be negative. */
  readonly move: (seconds: number, count: number) => number;
  /**
   * @returns the first date at or after `seconds` that is a whole number of steps after the starting point. The
   * starting point is the start of the day that contains `seconds`; for the time base Month or Year, the start of the
   * month or year.
   */
  readonly firstFrom: (seconds: number) => number;
}

const CIVIL: Readonly<Record<string, 'days' | 'weeks' | 'months' | 'years'>> = {
  ...{ Day: 'days', Week: 'weeks' },
  ...{ Month: 'months', Year: 'years' },
};

/** @param timeZone zone of the variable; a day in this zone may have 23 or 25 hours. */
export function toStep(granularity: number | null, timeBase: string | null, timeZone: string): Step {
  const at = (seconds: number) =>
    Temporal.Instant.fromEpochMilliseconds(Math.round(seconds * 1000)).toZonedDateTimeISO(timeZone);
  const first = timeBase === 'Year' ? { month: 1, day: 1 } : timeBase === 'Month' ? { day: 1 } : undefined;
  const startOf = (seconds: number) => {
    const date = at(seconds);
    return (first ? date.with(first) : date).startOfDay().epochMilliseconds / 1000;
  };
  const unit = CIVIL[timeBase ?? ''];
  const stepSec = stepOf(granularity, timeBase);
  const move = (seconds: number, count: number) =>
    granularity === null || unit === undefined
      ? seconds + count * stepSec
      : at(seconds).add({ [unit]: count * granularity }).epochMilliseconds / 1000;
  const firstFrom = (seconds: number) => {
    const start = startOf(seconds);
    const isCivil = granularity !== null && unit !== undefined;
    return start >= seconds ? start : move(start, isCivil ? 1 : Math.ceil((seconds - start) / stepSec));
  };
  return { move, firstFrom };
}

/**
 * Applies a change to the range: `set`, `add` and `scale` change every value; `fill` and `create` only add points.
 * @param operand number that `set` stores, `add` adds, `scale` multiplies by and `create` gives to new points; `fill`
 * ignores the operand.
 * @param step object that computes the dates of the points that `fill` and `create` add.
 * @returns the edits after the change; undefined when there would be more than MAX_CORRECTED edits.
 */
export function applyChange(
  kind: ChangeKind,
  operand: number,
  points: Points,
  edits: Edits,
  range: Range,
  step: Step,
): Edits | undefined {
  const rows = toRows(points, edits).flatMap(({ seconds, before, after }) => {
    const value = after ?? before;
    return value === undefined ? [] : [{ seconds, value }];
  });
  if (kind === 'fill') return bounded(fill(rows, edits, range, step));
  if (kind === 'create') return bounded(create(rows, edits, range, step, operand));
  const change = (value: number) => (kind === 'set' ? operand : kind === 'add' ? value + operand : value * operand);
  const next = new Map([...edits, ...rows.map(({ seconds, value }) => [seconds, change(value)] as const)]);
  return bounded(changed(points, next));
}

/**
 * Sets or removes the edit of one date.
 * @param value new value of the date, or undefined to remove the edit.
 * @returns the edits after the change; undefined when there would be more than MAX_CORRECTED edits.
 */
export function editOne(points: Points, edits: Edits, seconds: number, value: number | undefined): Edits | undefined {
  const next = new Map(edits);
  if (value === undefined) next.delete(seconds);
  else next.set(seconds, value);
  return bounded(changed(points, next));
}

function bounded(edits: Edits): Edits | undefined {
  return edits.size > MAX_CORRECTED ? undefined : edits;
}

/** @returns the edits whose value differs from the stored value. */
function changed(points: Points, edits: Edits): Edits {
  const stored = new Map(Array.from(points.seconds, (date, index) => [date, points.values[index]] as const));
  return new Map([...edits].filter(([seconds, value]) => stored.get(seconds) !== value));
}

interface Valued {
  readonly seconds: number;
  readonly value: number;
}

/** Adds the missing points of the range by linear interpolation between the existing points. */
function fill(rows: readonly Valued[], edits: Edits, range: Range, step: Step): Edits {
  const next = new Map(edits);
  for (let index = 1; index < rows.length; index += 1) {
    const [left, right] = [rows[index - 1], rows[index]];
    if (!left || !right) continue;
    for (const date of datesBetween(left.seconds, right.seconds, step)) {
      if (date < range.from || date >= range.to || next.size > MAX_CORRECTED) continue;
      const part = (date - left.seconds) / (right.seconds - left.seconds);
      next.set(date, left.value + part * (right.value - left.value));
    }
  }
  return next;
}

/**
 * Adds `value` at each missing date of the range: before the first point, between points and after the last point. Each
 * date is a whole number of steps away from a point. When the range has no points, `firstFrom` returns the first date,
 * and the other dates follow in steps.
 */
function create(rows: readonly Valued[], edits: Edits, range: Range, step: Step, value: number): Edits {
  const next = new Map(edits);
  const add = (date: number) => {
    if (date >= range.from && date < range.to && next.size <= MAX_CORRECTED) next.set(date, value);
  };
  const [first, last] = [rows[0], rows.at(-1)];
  const start = first?.seconds ?? step.firstFrom(range.from);
  if (!first) add(start);
  for (let count = -1; first && step.move(start, count) >= range.from && next.size <= MAX_CORRECTED; count -= 1)
    add(step.move(start, count));
  rows.forEach(({ seconds }, index) => {
    const right = rows[index + 1];
    if (right) for (const date of datesBetween(seconds, right.seconds, step)) add(date);
  });
  const end = last?.seconds ?? start;
  for (let count = 1; step.move(end, count) < range.to && next.size <= MAX_CORRECTED; count += 1)
    add(step.move(end, count));
  return next;
}

/** Yields the dates that lie a whole number of steps after `left` and more than half a step before `right`. */
function* datesBetween(left: number, right: number, step: Step): Generator<number> {
  let before = left;
  for (let count = 1; ; count += 1) {
    const date = step.move(left, count);
    if (date >= right - (date - before) / 2) return;
    yield date;
    before = date;
  }
}

function known(value: number | undefined): number | undefined {
  return value === undefined || Number.isNaN(value) ? undefined : value;
}
