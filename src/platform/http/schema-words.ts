/**
 * Default error texts of zod schemas (R-A5). Each text states the rule; when the type is wrong, it also states what was
 * received. An error text that a schema itself sets takes precedence.
 */
import type { z } from 'zod';

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};
/** Singular and plural of the unit in which a size is counted. */
const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
};

/**
 * @returns an error message such as `must be a number, got null`; undefined for an issue that keeps the message of zod
 *   (R-A5).
 */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'too_small') return describeLimit(issue.origin, 'at least', issue.minimum);
  if (issue.code === 'too_big') return describeLimit(issue.origin, 'at most', issue.maximum);
  if (issue.code !== 'invalid_type') return undefined;
  const expected = `must be ${KINDS[issue.expected] ?? issue.expected}`;
  // Omits the type of a received number, because "must be an integer, got a number" would not help the client.
  return issue.expected === 'int' && typeof issue.input === 'number'
    ? expected
    : `${expected}, got ${nameKind(issue.input)}`;
}

function describeLimit(origin: string, bound: string, limit: number | bigint): string {
  const unit = UNITS[origin];
  return unit ? `must have ${bound} ${limit} ${Number(limit) === 1 ? unit[0] : unit[1]}` : `must be ${bound} ${limit}`;
}

function nameKind(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  return KINDS[Array.isArray(value) ? 'array' : typeof value] ?? typeof value;
}
