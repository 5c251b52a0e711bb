/**
 * Schemas for lenient reading, which shipped clients require (R-A3). They accept property names in any letter case,
 * integers as numbers or as strings of digits, and enumerations by name in any letter case or by number. Unknown
 * properties are dropped.
 */
import { z } from 'zod';
import { MOMENT_RULE, type ParsedMoment, parseMoment } from '../dates/date-rules.ts';
import { DomainError, type ErrorDetail } from '../errors.ts';
import { MAX_INT4, MAX_SHOWN } from '../limits.ts';
import { describeIssue } from './schema-words.ts';

/** Maximum number of problems that one error lists. */
export const MAX_DETAILS = 100;

/**
 * Creates a zod object whose property names match in any letter case (R-A3). Among names that differ only in case, the
 * spelling of `shape` wins.
 * @param params error text for a value that is not an object.
 */
export function lenientObject<Shape extends z.ZodRawShape>(shape: Shape, params?: z.core.$ZodObjectParams) {
  const names = new Map(Object.keys(shape).map((name) => [name.toLowerCase(), name]));
  return z.preprocess((value) => renameProperties(value, names), z.object(shape, params));
}

function renameProperties(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const renamed: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const name = names.get(key.toLowerCase());
    if (name !== undefined && (key === name || !Object.hasOwn(value, name))) renamed[name] = member;
  }
  return renamed;
}

/**
 * Creates the schema of a 32-bit integer from `min` to `max`, both inclusive, as a number or a string of digits (R-A3).
 */
export function integerFrom(min: number, max = MAX_INT4) {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value),
    z
      .int({ error: ({ input }) => `must be an integer from ${min} to ${max}, got ${showValue(input)}` })
      .min(min)
      .max(max),
  );
}

/** @returns a refused value as JSON, for an error message; a long value is cut. */
export function showValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/** A positive 32-bit id, as a number or a string of digits. */
export const idSchema = integerFrom(1);

/** An id of a catalogue entry, as a number or a string of digits; some catalogues start at 0. */
export const catalogueIdSchema = integerFrom(0);

/** Accepts a boolean, or the text `true` or `false` in any letter case; outputs the boolean. */
export const booleanSchema = z.preprocess((value) => {
  if (typeof value !== 'string') return value;
  const text = value.toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : value;
}, z.boolean());

/**
 * Accepts a date in a body as a string or as epoch milliseconds (R-A11). A date without a time zone is converted later,
 * when the time zone of the source is known.
 */
export const momentSchema = z
  .custom<string | number>((value) => toMoment(value) !== undefined, {
    error: ({ input }) => `${MOMENT_RULE}, got ${showValue(input)}`,
  })
  .meta({ type: ['string', 'integer'], description: MOMENT_RULE, examples: ['2026-03-01T00:15:00Z', '2026-03-01'] })
  .transform((value) => toMoment(value) as ParsedMoment);

function toMoment(value: unknown): ParsedMoment | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' ? parseMoment(text) : undefined;
}

/**
 * Creates the schema of an enumeration (R-C8). The schema accepts a name in any letter case, or the number of a name,
 * and outputs the name.
 */
export function enumerationSchema<Name extends string>(members: Readonly<Record<Name, number>>) {
  const names = Object.keys(members) as Name[];
  const byKey = new Map<string, Name>();
  for (const name of names) byKey.set(name.toLowerCase(), name).set(String(members[name]), name);
  return z.preprocess(
    (value) =>
      (typeof value === 'string' || typeof value === 'number' ? byKey.get(`${value}`.toLowerCase()) : value) ?? value,
    z.enum(names as [Name, ...Name[]], {
      error: ({ input }) => `must be one of ${names.join(', ')}, got ${showValue(input)}`,
    }),
  );
}

/**
 * Parses an untrusted value (R-A3).
 * @param root prefix of the paths in the error. Default: `$`, which stands for the request body.
 * @throws {DomainError} invalid_input, which lists the first 100 problems.
 */
export function parseInput<Schema extends z.ZodType>(schema: Schema, value: unknown, root = '$'): z.output<Schema> {
  const result = schema.safeParse(value, { error: describeIssue });
  if (result.success) return result.data;
  throw invalidInput(
    result.error.issues.map((issue) => ({
      path: jsonPath(root, issue.path),
      message: issue.message,
    })),
  );
}

/**
 * Returns an `invalid_input` error (R-A3). The message of the error states the path and the message of the first
 * problem; the details of the error list at most the first 100 problems.
 */
export function invalidInput(details: readonly ErrorDetail[]): DomainError {
  const [first] = details;
  const message = first ? `${first.path} ${first.message}` : 'the input is not valid';
  return new DomainError('invalid_input', message, details.slice(0, MAX_DETAILS));
}

/** Formats a JSON path: `$` and `['data', 3, 'date']` give `$.data[3].date`. */
export function jsonPath(root: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) => text + (typeof part === 'number' ? `[${part}]` : `.${String(part)}`),
    root,
  );
}
