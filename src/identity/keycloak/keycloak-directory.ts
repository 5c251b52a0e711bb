/**
 * User administration at Keycloak. Our users are linked to Keycloak's by `user_identity`: whoever is not linked yet is
 * made, or found by user name among those the service may have. Keycloak asks for a new password on its own pages, and for the current one when the
 * sign-in is older than five minutes (its default for this action), as §5 wants.
 */
import type { Queryable } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { DirectoryUser, UserDirectory } from '../directory/user-directory.ts';
import { makeTemporaryPassword } from '../passwords/choose-password.ts';
import { PASSWORD_RESET_TTL_SEC } from '../passwords/password-reset.ts';
import type { KeycloakAdmin, KeycloakUser } from './admin-client.ts';

const UPDATE_PASSWORD = 'UPDATE_PASSWORD';
/** The attribute the mapper of the claim `account` reads. */
const ACCOUNT_ATTRIBUTE = 'account';
/** The attribute of users the service has made, or may take over. */
const OWN_ATTRIBUTE = 'tidemark';

export interface KeycloakDirectoryOptions {
  readonly admin: KeycloakAdmin;
  /** Address of the realm: the `iss` of its tokens. */
  readonly issuer: string;
  /** Public client whose pages users are led to. */
  readonly accountClientId: string;
}

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
      // Nothing there would enable them again at the end of a while; until then the service refuses their tokens.
      await change(transaction, userId, { enabled: lock !== 'locked' });
      if (lock !== 'unlocked') await admin.logOut(await subjectOf(transaction, userId));
    },
    setActiveAccount: (transaction, userId, accountId) =>
      change(transaction, userId, { attributes: { [ACCOUNT_ATTRIBUTE]: [String(accountId)] } }),
    setTemporaryPassword: async (transaction, userId) => {
      const id = await subjectOf(transaction, userId);
      const { requiredActions = [] } = await getUser(admin, id);
      // Keycloak takes the action off once the user has chosen a password.
      if (!requiredActions.includes(UPDATE_PASSWORD)) return undefined;
      const password = makeTemporaryPassword();
      await admin.setPassword(id, password, true);
      return password;
    },
    claimAddress: async (transaction, userId, email) => {
      const id = await subjectOf(transaction, userId);
      const user = await getUser(admin, id);
      if (user.emailVerified && user.email?.toLowerCase() === email.toLowerCase()) return false;
      // Nobody is told this one; the one that is mailed replaces it.
      await admin.setPassword(id, makeTemporaryPassword(), true);
      await admin.logOut(id);
      await transaction.query('update app_user set tokens_valid_from = clock_timestamp() where id = $1', [userId]);
      return true;
    },
    sendPasswordReset: async (transaction, { userId }) => {
      const id = await subjectOf(transaction, userId);
      const { enabled } = await getUser(admin, id);
      if (!enabled) throw new DomainError('conflict', 'the user is locked: the link would open nothing');
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

/** The id in Keycloak of one of our users, linked or made now. */
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
  // Made before by an attempt that was undone here, or by the operator.
  const subject = made ?? (await findOwn(admin, user.userName))?.id;
  if (subject === undefined) throw taken(user.userName);
  const { rowCount } = await database.query(
    'insert into user_identity (issuer, subject, user_id) values ($1, $2, $3) on conflict do nothing',
    [issuer, subject, userId],
  );
  if (rowCount !== 1) throw taken(user.userName);
  return subject;
}

/** Managers choose names: they must not get at any user of Keycloak by choosing theirs. */
async function findOwn(admin: KeycloakAdmin, userName: string): Promise<KeycloakUser | undefined> {
  const user = await admin.findUserByName(userName);
  return user?.attributes?.[OWN_ATTRIBUTE]?.[0] === 'true' ? user : undefined;
}

function taken(userName: string): DomainError {
  return new DomainError('conflict', `userName and email must be unique at the identity provider, got ${userName}`);
}

async function getUser(admin: KeycloakAdmin, id: string): Promise<KeycloakUser> {
  const user = await admin.findUser(id);
  if (user) return user;
  throw new DomainError('conflict', 'the user no longer exists at the identity provider');
}

async function readUser(database: Queryable, userId: string) {
  const { rows } = await database.query<DirectoryUser & { readonly accountId: number | null }>(
    `select id as "userId", user_name as "userName", email, first_name as "firstName", last_name as "lastName", language,
       active_account_id as "accountId"
     from app_user where id = $1`,
    [userId],
  );
  const [user] = rows;
  if (!user) throw new Error(`user ${userId} is gone within its own transaction`);
  return user;
}

/** Empty text clears: what is left out would be cleared as well, but not in every version. */
function toKeycloak({ userName, email, firstName, lastName, language }: DirectoryUser): KeycloakUser {
  return {
    username: userName,
    email: email ?? '',
    firstName: firstName ?? '',
    lastName: lastName ?? '',
    attributes: { locale: [language] },
  };
}
