/**
 * Implements the user directory with Keycloak. The table `user_identity` links users to Keycloak's users. Users change
 * their passwords on Keycloak's pages. These pages ask for the current password when the last sign-in was more than
 * five minutes ago (§5).
 */
import type { Queryable } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { DirectoryUser, UserDirectory } from '../directory/user-directory.ts';
import { makeTemporaryPassword } from '../passwords/choose-password.ts';
import { PASSWORD_RESET_TTL_SEC } from '../passwords/password-reset.ts';
import { revokeAccessTokens } from '../passwords/revoke-sessions.ts';
import type { KeycloakAdmin, KeycloakUser } from './admin-client.ts';

const UPDATE_PASSWORD = 'UPDATE_PASSWORD';
/** Attribute read by the mapper of the claim `account`. */
const ACCOUNT_ATTRIBUTE = 'account';
/** Attribute that marks the users that the service created or may take over. */
const OWN_ATTRIBUTE = 'tidemark';

export interface KeycloakDirectoryOptions {
  readonly admin: KeycloakAdmin;
  /** URL of the realm: the `iss` of its tokens. */
  readonly issuer: string;
  /** Id of the public client through which users open Keycloak's pages. */
  readonly accountClientId: string;
}

/** Creates the directory (R-B2). Its methods throw {DomainError} dependency_unavailable when Keycloak fails. */
export function createKeycloakDirectory(options: KeycloakDirectoryOptions): UserDirectory {
  const { admin, issuer, accountClientId } = options;
  const subjectOf = (transaction: Queryable, userId: string) => getSubject(options, transaction, userId);
  const change = async (transaction: Queryable, userId: string, more: Partial<KeycloakUser>) => {
    const id = await subjectOf(transaction, userId);
    const { attributes, ...members } = more;
    const current = await getUser(admin, id);
    const isOther = members.email !== undefined && members.email.toLowerCase() !== (current.email ?? '').toLowerCase();
    const verified = isOther ? { emailVerified: false } : {};
    const all = { ...current.attributes, ...attributes };
    await admin.updateUser(id, { ...current, ...members, ...verified, attributes: all });
  };
  return {
    create: async (transaction, user) => {
      await subjectOf(transaction, user.userId);
    },
    update: (transaction, user) => change(transaction, user.userId, toKeycloak(user)),
    remove: async (transaction, userId) => {
      const subject = await findSubject(transaction, issuer, userId);
      if (subject !== undefined) await admin.deleteUser(subject);
    },
    setLock: async (transaction, userId, lock) => {
      // Keycloak has no lock that ends by itself, so a temporarily locked user stays enabled in Keycloak. The service
      // refuses this user's tokens.
      await change(transaction, userId, { enabled: lock !== 'locked' });
      if (lock !== 'unlocked') await admin.logOut(await subjectOf(transaction, userId));
    },
    endSessions: async (transaction, userId) => {
      await revokeAccessTokens(transaction, userId);
      const subject = await findSubject(transaction, issuer, userId);
      if (subject !== undefined) await admin.logOut(subject);
    },
    setActiveAccount: (transaction, userId, accountId) =>
      change(transaction, userId, { attributes: { [ACCOUNT_ATTRIBUTE]: [String(accountId)] } }),
    setTemporaryPassword: async (transaction, userId) => {
      const id = await subjectOf(transaction, userId);
      const { requiredActions = [] } = await getUser(admin, id);
      // Keycloak removes the action when the user has chosen a password.
      if (!requiredActions.includes(UPDATE_PASSWORD)) return undefined;
      const password = makeTemporaryPassword();
      await admin.setPassword(id, password, true);
      return password;
    },
    claimAddress: async (transaction, userId, email) => {
      const id = await subjectOf(transaction, userId);
      const user = await getUser(admin, id);
      if (user.emailVerified && user.email?.toLowerCase() === email.toLowerCase()) return false;
      // Replaces the old password with a random password that is never disclosed. The user later gets another temporary
      // password by email.
      await admin.setPassword(id, makeTemporaryPassword(), true);
      await admin.logOut(id);
      await revokeAccessTokens(transaction, userId);
      return true;
    },
    sendPasswordReset: async (transaction, { userId }) => {
      const id = await subjectOf(transaction, userId);
      const { enabled } = await getUser(admin, id);
      if (!enabled)
        throw new DomainError(
          'conflict',
          'the user is locked; unlock the user, then send the link to choose a new password',
        );
      const link = { lifespanSec: PASSWORD_RESET_TTL_SEC, clientId: accountClientId, redirectUri: undefined };
      await admin.sendActions(id, [UPDATE_PASSWORD], link);
    },
    updatePasswordLink: (userName, returnUrl) => updateLink(issuer, accountClientId, userName, returnUrl),
    signInLink: () => `${issuer}/account`,
  };
}

function updateLink(issuer: string, clientId: string, userName: string, returnUrl: string): string {
  const address = new URL(`${issuer}/protocol/openid-connect/auth`);
  const parameters = {
    client_id: clientId,
    response_type: 'code',
    scope: 'openid',
    redirect_uri: returnUrl,
    kc_action: UPDATE_PASSWORD,
    login_hint: userName,
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return address.href;
}

async function findSubject(database: Queryable, issuer: string, userId: string): Promise<string | undefined> {
  const { rows } = await database.query<{ subject: string }>(
    'select subject from user_identity where issuer = $1 and user_id = $2 order by subject limit 1',
    [issuer, userId],
  );
  return rows[0]?.subject;
}

/**
 * @returns the user's id at Keycloak; links or creates the user when necessary.
 * @throws {DomainError} conflict when the user name or email address is taken.
 */
async function getSubject(
  { admin, issuer }: KeycloakDirectoryOptions,
  database: Queryable,
  userId: string,
): Promise<string> {
  const known = await findSubject(database, issuer, userId);
  if (known !== undefined) return known;
  const user = await readUser(database, userId);
  const made = await admin.createUser({
    ...toKeycloak(user),
    enabled: true,
    emailVerified: false,
    requiredActions: [UPDATE_PASSWORD],
    attributes: {
      [OWN_ATTRIBUTE]: ['true'],
      locale: [user.language],
      ...(user.accountId !== null && { account: [String(user.accountId)] }),
    },
  });
  // `made` is undefined if the user already exists in Keycloak. Either the operator created the user, or an earlier
  // call created the user and then the database transaction of that call was rolled back.
  const subject = made ?? (await findOwn(admin, user.userName))?.id;
  if (subject === undefined) throw taken(user.userName);
  const { rowCount } = await database.query(
    'insert into user_identity (issuer, subject, user_id) values ($1, $2, $3) on conflict do nothing',
    [issuer, subject, userId],
  );
  if (rowCount !== 1) throw taken(user.userName);
  return subject;
}

/**
 * Finds the Keycloak user of this name, if the user has the attribute `tidemark`. Without this rule, creating a user
 * would give a manager control of any Keycloak user of this name.
 */
async function findOwn(admin: KeycloakAdmin, userName: string): Promise<KeycloakUser | undefined> {
  const user = await admin.findUserByName(userName);
  return user?.attributes?.[OWN_ATTRIBUTE]?.[0] === 'true' ? user : undefined;
}

function taken(userName: string): DomainError {
  return new DomainError(
    'conflict',
    `userName and email must be unique at the identity provider; the user name ${userName} or the email address is taken`,
  );
}

async function getUser(admin: KeycloakAdmin, id: string): Promise<KeycloakUser> {
  const user = await admin.findUser(id);
  if (user) return user;
  const advice = 'a manager can delete the user and create the user again';
  throw new DomainError('conflict', `the user no longer exists at the identity provider; ${advice}`);
}

async function readUser(database: Queryable, userId: string) {
  const { rows } = await database.query<DirectoryUser & { readonly accountId: number | null }>(
    `select id as "userId", user_name as "userName", email, first_name as "firstName", last_name as "lastName", language,
       active_account_id as "accountId"
     from app_user where id = $1`,
    [userId],
  );
  const [user] = rows;
  if (!user) throw new Error(`user ${userId} does not exist in the database`);
  return user;
}

/**
 * Converts a user for Keycloak. A field without a value is sent as an empty string, which clears the field. Only some
 * Keycloak versions clear a field that the request omits.
 */
function toKeycloak({ userName, email, firstName, lastName, language }: DirectoryUser): KeycloakUser {
  return {
    username: userName,
    email: email ?? '',
    firstName: firstName ?? '',
    lastName: lastName ?? '',
    attributes: { locale: [language] },
  };
}
