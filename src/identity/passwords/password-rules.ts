/** Which passwords may be chosen. Long rather than complicated, as NIST SP 800-63B advises; nothing that is known anyway. */

export type PasswordProblem = 'too_short' | 'too_long' | 'is_name' | 'unchanged' | 'different';

export interface ChosenPassword {
  readonly password: string;
  /** Typed a second time. */
  readonly repeated: string;
  /** User name and mail address. */
  readonly names: readonly (string | null)[];
  readonly minLength: number;
}

/** Hashing more would only cost time. */
const MAX_LENGTH = 200;

/** undefined when the password may be chosen. Characters are counted as people see them. */
export function findPasswordProblem(chosen: ChosenPassword): Exclude<PasswordProblem, 'unchanged'> | undefined {
  const { password, repeated, names, minLength } = chosen;
  const length = [...password].length;
  if (length < minLength) return 'too_short';
  if (length > MAX_LENGTH) return 'too_long';
  const folded = password.toLowerCase();
  if (names.some((name) => name && folded === name.toLowerCase())) return 'is_name';
  return password === repeated ? undefined : 'different';
}
