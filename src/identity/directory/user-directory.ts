/**
 * The user directory is the issuer that administers credentials: the embedded issuer or Keycloak (R-B2). Users, roles
 * and accounts are always stored in the service's database. If a method throws, the caller's `transaction` is rolled
 * back.
 */
import type { Transaction } from '../../platform/database/database.ts';

export interface DirectoryUser {
  readonly userId: string;
  readonly userName: string;
  readonly email: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly language: string;
}

export interface UserDirectory {
  /** Creates a user without a password. */
  create(transaction: Transaction, user: DirectoryUser): Promise<void>;
  /** Updates names, email address and language. */
  update(transaction: Transaction, user: DirectoryUser): Promise<void>;
  /** Removes a user from the directory and ends the user's sessions. Call it before the row of the user is deleted. */
  remove(transaction: Transaction, userId: string): Promise<void>;
  /** Locks or unlocks a user; `locked_for_a_while` lasts until `app_user.locked_until`. A lock ends all sessions. */
  setLock(transaction: Transaction, userId: string, lock: 'locked' | 'locked_for_a_while' | 'unlocked'): Promise<void>;
  /** Ends every session of a user; access tokens issued before the current second are refused. */
  endSessions(transaction: Transaction, userId: string): Promise<void>;
  /** Sets the active account: the account of the user's tokens when a token request names no account (R-B4). */
  setActiveAccount(transaction: Transaction, userId: string, accountId: number): Promise<void>;
  /**
   * Sets a temporary password, which the user must change at the first sign-in (R-B10). Sets none when the user has
   * already chosen a password.
   * @returns the temporary password; undefined when none was set.
   */
  setTemporaryPassword(transaction: Transaction, userId: string): Promise<string | undefined>;
  /**
   * Makes sure that only the owner of this email address can sign in as the user. Revokes the user's password, sessions
   * and access tokens, unless the user has already proven ownership of the address.
   * @returns true when the password was revoked; the user then needs a temporary password.
   */
  claimAddress(transaction: Transaction, userId: string, email: string): Promise<boolean>;
  /**
   * Mails the user a link for choosing a new password (R-B11). The link is valid for one hour and for one use. The user
   * needs an email address.
   */
  sendPasswordReset(transaction: Transaction, user: DirectoryUser): Promise<void>;
  /** @returns the URL of the page where the user changes the password; the page returns to `returnUrl` (R-B13). */
  updatePasswordLink(userName: string, returnUrl: string): string;
  /** @returns the URL of the page where a user signs in. */
  signInLink(): string;
}
