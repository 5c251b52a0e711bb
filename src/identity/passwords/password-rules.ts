/**
 * Decides whether a password is acceptable for a user. No kinds of characters, such as digits, are required, because
 * NIST SP 800-63B advises against such rules.
 */

export type PasswordProblem = 'too_short' | 'too_long' | 'is_name' | 'unchanged' | 'different';

export interface ChosenPassword {
  readonly password: string;
  /** The new password, typed a second time. */
  readonly repeated: string;
  /** User name and email address, which are refused as passwords. */
  readonly names: readonly (string | null)[];
  readonly minLength: number;
}

/** Maximum length of a password, which bounds the time that hashing takes. */
const MAX_LENGTH = 200;

/** @returns why the password is refused; undefined when it is accepted. Lengths are in Unicode code points. */
export function findPasswordProblem(chosen: ChosenPassword): Exclude<PasswordProblem, 'unchanged'> | undefined {
  const { password, repeated, names, minLength } = chosen;
  const length = [...password].length;
  if (length < minLength) return 'too_short';
  if (length > MAX_LENGTH) return 'too_long';
  const folded = password.toLowerCase();
  if (names.some((name) => name && folded === name.toLowerCase())) return 'is_name';
  return password === repeated ? undefined : 'different';
}
