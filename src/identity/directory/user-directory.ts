/**
 * Where credentials are administered (R-B2): the embedded issuer, or Keycloak. The users themselves, with their roles and
 * accounts, are in our database either way; this is only what an issuer must be told. Calls come within the transaction
 * of the change, as its last step: when they fail, the change does not happen.
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
  /** A user was made, who has no password yet. */
  create(transaction: Transaction, user: DirectoryUser): Promise<void>;
  /** Names, address or language have changed. */
  update(transaction: Transaction, user: DirectoryUser): Promise<void>;
  /** The user is about to be deleted; their sessions end. */
  remove(transaction: Transaction, userId: string): Promise<void>;
  /** The user was locked, for ever or for a while, or unlocked; a lock ends their sessions. */
  setLock(transaction: Transaction, userId: string, lock: 'locked' | 'locked_for_a_while' | 'unlocked'): Promise<void>;
  /** The account of a token that names none has changed (R-B4). */
  setActiveAccount(transaction: Transaction, userId: string, accountId: number): Promise<void>;
  /**
   * Gives a password that must be changed at the first sign-in (R-B10). @returns it; undefined when the user has chosen
   * one already.
   */
  setTemporaryPassword(transaction: Transaction, userId: string): Promise<string | undefined>;
  /**
   * Sees to it that nobody signs in as the user but who reads the mails of this address: whose user was not seen to read
   * them loses password and sessions. @returns whether they did, and need a temporary password.
   */
  claimAddress(transaction: Transaction, userId: string, email: string): Promise<boolean>;
  /** Mails a link, good for one hour and once, that leads to a new password (R-B11). The user has an address. */
  sendPasswordReset(transaction: Transaction, user: DirectoryUser): Promise<void>;
  /** The page where the user changes the password, and the address it returns to (R-B13). */
  updatePasswordLink(userName: string, returnUrl: string): string;
  /** The page where a user signs in for the first time. */
  signInLink(): string;
}
