/**
 * Values as text of a statement, where the protocol takes no parameters (COPY). Nothing else in this room writes a value
 * into SQL; whatever is no number goes through the quoting of the driver.
 */
import pg from 'pg';
import { formatInstant, MAX_DATE_MICROS, MIN_DATE_MICROS } from '../../platform/dates/instant-rules.ts';
import type { Micros } from '../point.ts';

/** @throws Error unless it is a whole number that a JavaScript number holds exactly. */
export function integerLiteral(value: number): string {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is no whole number`);
  // In brackets: after another minus, one of its own would begin a comment.
  return value < 0 ? `(${value})` : String(value);
}

/** @throws Error unless it is finite. */
export function doubleLiteral(value: number): string {
  if (!Number.isFinite(value)) throw new Error(`${value} is no finite number`);
  return `float8 '${value}'`;
}

export function textLiteral(text: string): string {
  return pg.escapeLiteral(text);
}

/** An instant as a constant, so that the planner sees which chunks it leaves out. Beyond all dates it is infinite. */
export function instantLiteral(micros: Micros): string {
  return `timestamptz '${instantBound(micros)}'`;
}

export function instantArrayLiteral(instants: readonly Micros[]): string {
  return `'{${instants.map(instantBound).join(',')}}'::timestamptz[]`;
}

/** An instant as the text of a value. Beyond all dates it is infinite. */
export function instantBound(micros: Micros): string {
  if (micros < MIN_DATE_MICROS) return '-infinity';
  return micros > MAX_DATE_MICROS ? 'infinity' : formatInstant(micros);
}

/** A length of time. @throws Error unless it is a whole number. */
export function intervalLiteral(micros: Micros): string {
  return `interval '${integerLiteral(micros).replace(/[()]/g, '')} microseconds'`;
}

export function integerArrayLiteral(values: readonly number[]): string {
  return `'{${values.map((value) => integerLiteral(value).replace(/[()]/g, '')).join(',')}}'::int[]`;
}
