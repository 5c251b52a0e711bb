/**
 * SQL literals, mainly for statements that take no parameters, such as COPY. Invalid numbers are refused; the driver
 * quotes texts.
 */
import pg from 'pg';
import { formatInstant, MAX_DATE_MICROS, MIN_DATE_MICROS } from '../../platform/dates/instant-rules.ts';
import type { Micros } from '../point.ts';

/** Writes an integer as an SQL literal. @throws {Error} unless the value is a safe integer. */
export function integerLiteral(value: number): string {
  if (!Number.isSafeInteger(value)) throw new Error(`an SQL literal must be a safe integer, got ${value}`);
  // A negative number gets parentheses: after a minus operator, `-1` would give `--1`, and `--` begins a comment.
  return value < 0 ? `(${value})` : String(value);
}

/** @returns the text as an SQL literal, with quotes and backslashes escaped. */
export function textLiteral(text: string): string {
  return pg.escapeLiteral(text);
}

/** Writes an instant as a constant, so that the planner can exclude chunks (see `instantBound`). */
export function instantLiteral(micros: Micros): string {
  return `timestamptz '${instantBound(micros)}'`;
}

/** @param instants microseconds since 1970, UTC. @returns an SQL literal of type timestamptz[]. */
export function instantArrayLiteral(instants: readonly Micros[]): string {
  return `'{${instants.map(instantBound).join(',')}}'::timestamptz[]`;
}

/** @returns the instant as text; `-infinity` when before 1700-01-01T00:00Z, `infinity` when after 2200-01-01T00:00Z. */
export function instantBound(micros: Micros): string {
  if (micros < MIN_DATE_MICROS) return '-infinity';
  return micros > MAX_DATE_MICROS ? 'infinity' : formatInstant(micros);
}

/**
 * Writes a duration as an SQL literal of type interval.
 * @param micros duration in microseconds.
 * @throws {Error} unless `micros` is a safe integer.
 */
export function intervalLiteral(micros: Micros): string {
  return `interval '${integerLiteral(micros).replace(/[()]/g, '')} microseconds'`;
}

/** @returns an SQL literal of an integer array. @throws {Error} when a value is not a safe integer. */
export function integerArrayLiteral(values: readonly number[]): string {
  return `'{${values.map((value) => integerLiteral(value).replace(/[()]/g, '')).join(',')}}'::int[]`;
}
