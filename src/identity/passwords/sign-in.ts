/**
 * Sign-in by password (R-B11). It takes the same time whether or not the user exists. Wrong passwords are counted per
 * network of the client (sign-in-sources.ts); a blocked sign-in gives the same result as a wrong password.
 */
import type { Clock } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { verifySecret } from '../../platform/secret-hash.ts';
import { checkInTurn } from './password-checks.ts';
import { passwordFingerprint } from './password-fingerprint.ts';
import {
  findSource,
  isBlocked,
  type SignInPolicy,
  type SignInSource,
  writeFailure,
  writeSuccess,
} from './sign-in-sources.ts';

export type SignInResult =
  | { readonly kind: 'signed_in'; readonly userId: string; readonly passwordFingerprint: string }
  /** The password is right but temporary: it only opens the page that replaces it (R-B10). */
  | { readonly kind: 'must_change_password'; readonly userId: string }
  | { readonly kind: 'wrong_credentials' };

interface SignIn {
  readonly userName: string;
  readonly password: string;
  /** Network of the client's address (`clientNetwork`). */
  readonly network: string;
  /**
   * True for a device (a client that uses HTTP Basic). A device repeats a wrong password until a user enters the right
   * password.
   */
  readonly isDevice?: boolean;
}

// Maximum number of times that a sign-in with the right password tries to record its success. Recording fails if, after
// the user was read, a wrong password was counted or the password changed. The sign-in then reads the user again.
const MAX_ROUNDS = 5;

/**
 * Checks a user name (ignoring case) and a password (R-B11). Passwords from one network are checked one after another.
 * The caller checks whether a manager has locked the user.
 * @throws {DomainError} as `checkInTurn` does.
 */
export async function signIn(
  database: Queryable,
  { userName, password, network, isDevice = false }: SignIn,
  policy: SignInPolicy,
  clock: Clock,
): Promise<SignInResult> {
  const { attempt, isRight, ...checked } = await checkInTurn(network, async () => {
    const attempt = { network, isDevice, policy, now: new Date(clock.nowMillis()) };
    const source = await findSource(database, userName, attempt);
    const hash = source?.passwordHash ?? undefined;
    return { attempt, source, hash, isRight: await verifySecret(password, hash) };
  });
  const { hash } = checked;
  let { source } = checked;
  if (!isRight) {
    const counted = source && !isBlocked(source, attempt) ? source : undefined;
    await writeFailure(database, counted, password, attempt);
    return { kind: 'wrong_credentials' };
  }
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (!source || source.passwordHash !== hash || isBlocked(source, attempt)) break;
    if (await writeSuccess(database, source, attempt)) return toResult(source);
    source = await findSource(database, userName, attempt);
  }
  return { kind: 'wrong_credentials' };
}

function toResult({ userId, mustChangePassword, passwordHash }: SignInSource): SignInResult {
  if (mustChangePassword) return { kind: 'must_change_password', userId };
  return { kind: 'signed_in', userId, passwordFingerprint: passwordFingerprint(passwordHash ?? '') };
}
