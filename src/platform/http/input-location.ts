/**
 * Names the location of an input in error messages (R-A5); queries, bodies and gRPC messages have different notations.
 */
import { DomainError } from '../errors.ts';

export interface InputLocation {
  /** Subject of the error message, such as `query siteIds`. */
  readonly subject: string;
  /** Path of the input in the `details` of the error, such as `query.siteIds`. */
  readonly path: string;
}

/** Returns the `invalid_input` error for one location; its message consists of the subject and `message` (R-A5). */
export function locationError({ subject, path }: InputLocation, message: string): DomainError {
  return new DomainError('invalid_input', `${subject} ${message}`, [{ path, message }]);
}

/**
 * Runs every parser and collects their errors, so that one answer names every problem (R-A5).
 * @throws {DomainError} the first error, with the details of all errors.
 */
export function parseMembers<Parsed extends object>(
  parsers: {
    readonly [Name in keyof Parsed]: () => Parsed[Name];
  },
): Parsed {
  const problems: DomainError[] = [];
  const entries = Object.entries<() => unknown>(parsers).map(([name, parse]) => {
    try {
      return [name, parse()];
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      problems.push(error);
      return [name, undefined];
    }
  });
  const [first, ...others] = problems;
  if (!first) return Object.fromEntries(entries) as Parsed;
  if (others.length === 0) throw first;
  const details = problems.flatMap((problem) => problem.details ?? []);
  throw new DomainError(first.code, first.message, details);
}
