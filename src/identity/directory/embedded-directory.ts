/**
 * User directory of the embedded issuer. The issuer uses the users in the service's own database, so the directory
 * administers only passwords and sessions.
 */
import { createHash } from 'node:crypto';
import { queueMail } from '../../platform/mail/mail-outbox.ts';
import { hashSecret } from '../../platform/secret-hash.ts';
import { makeTemporaryPassword } from '../passwords/choose-password.ts';
import { deletePasswordReset } from '../passwords/password-reset.ts';
import { revokeAccessTokens, revokeSessions } from '../passwords/revoke-sessions.ts';
import type { UserDirectory } from './user-directory.ts';

/** Id of the OIDC client of the issuer's own pages. This client gets no scope of the service. */
export const ACCOUNT_CLIENT_ID = 'tidemark-account';
/** Path of the page that confirms a sign-in, relative to the URL of the issuer. */
export const SIGNED_IN_PATH = '/signed-in';

const nothing = async (): Promise<void> => {};

/**
 * Creates the user directory of the embedded issuer (R-B2).
 * @param issuer the URL of the embedded issuer, which is also the `iss` of the tokens from this issuer.
 */
export function createEmbeddedDirectory(issuer: string): UserDirectory {
  return {
    create: nothing,
    update: nothing,
    setActiveAccount: nothing,
    remove: (transaction, userId) => revokeSessions(transaction, userId),
    setLock: async (transaction, userId, lock) => {
      if (lock !== 'unlocked') await revokeSessions(transaction, userId);
    },
    endSessions: async (transaction, userId) => {
      await revokeAccessTokens(transaction, userId);
      await revokeSessions(transaction, userId);
    },
    setTemporaryPassword: async (transaction, userId) => {
      const password = makeTemporaryPassword();
      const { rowCount } = await transaction.query(
        'update app_user set password_hash = $2 where id = $1 and must_change_password',
        [userId, await hashSecret(password)],
      );
      return rowCount === 1 ? password : undefined;
    },
    claimAddress: async (transaction, userId, email) => {
      const { rowCount } = await transaction.query(
        `update app_user set must_change_password = true, password_hash = null, secret_sent_to = null,
           tokens_valid_from = clock_timestamp()
         where id = $1 and lower(proven_email) is distinct from lower($2)`,
        [userId, email],
      );
      if (rowCount === 0) return false;
      await deletePasswordReset(transaction, userId);
      await revokeSessions(transaction, userId);
      return true;
    },
    sendPasswordReset: async (transaction, { userId, email, language, firstName, userName }) => {
      if (!email) return;
      const data = { name: firstName || userName, userName };
      await queueMail(transaction, { kind: 'password_reset', to: email, language, data, userId });
    },
    updatePasswordLink: (userName, returnUrl) =>
      authorizationAddress(issuer, returnUrl, { kc_action: 'UPDATE_PASSWORD', login_hint: userName }),
    signInLink: () => `${issuer}${SIGNED_IN_PATH}`,
  };
}

/** URL at which a browser starts a sign-in; after the sign-in, the browser goes to `redirectUri`. */
export function authorizationAddress(
  issuer: string,
  redirectUri: string,
  parameters: Readonly<Record<string, string>> = {},
): string {
  const address = new URL(`${issuer}/protocol/openid-connect/auth`);
  const all = {
    client_id: ACCOUNT_CLIENT_ID,
    response_type: 'code',
    scope: 'openid',
    redirect_uri: redirectUri,
    // The verifier of this challenge is discarded, so the returned code cannot be exchanged for a token.
    code_challenge: createHash('sha256').update(crypto.randomUUID()).digest('base64url'),
    code_challenge_method: 'S256',
    ...parameters,
  };
  for (const [name, value] of Object.entries(all)) address.searchParams.set(name, value);
  return address.href;
}
