/** Creates a user on behalf of the operator, with a password that is set immediately (§5). */
import type { UserDirectory } from '../../identity/directory/user-directory.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { type AuditActor, writeAudit } from '../audit/audit.ts';
import { announceNewUser, insertUser } from '../users/save-user.ts';
import { getProfile } from '../users/user-profile.ts';
import type { RoleName } from '../users/user-rules.ts';

/** @returns the reason for refusing the password, as in `must have …`; undefined when the password was set. */
export type SetPassword = (transaction: Transaction, userId: string, password: string) => Promise<string | undefined>;

interface UserServices {
  readonly directory: UserDirectory;
  readonly setPassword: SetPassword | undefined;
  /** @returns the operator as the actor of audit entries. */
  readonly auditor: (accountId?: number) => AuditActor;
}

interface NewUser {
  readonly accountId: number;
  readonly email: string;
  readonly userName: string;
  readonly role: RoleName;
  readonly language?: string | undefined;
  /** Password to set; undefined when the user gets a temporary one. */
  readonly password: string | undefined;
}

/**
 * Creates a user with the given password, or with a temporary one, which the operator hands over because mail may not
 * work yet.
 * @returns the text to print about the password.
 */
export async function createUser(
  transaction: Transaction,
  services: UserServices,
  { accountId, email, userName, role, language, password }: NewUser,
): Promise<string> {
  const { directory, auditor } = services;
  const written = { userName, email, ...(language !== undefined && { language }) };
  const userId = await insertUser(transaction, written, role, accountId);
  const profile = await getProfile(transaction, userId);
  await directory.create(transaction, profile);
  await announceNewUser(transaction, accountId, profile);
  const secret =
    password === undefined
      ? `temporary password ${await setTemporaryPassword(transaction, directory, userId, userName)}`
      : await setGivenPassword(transaction, services, userId, password);
  const entry = { action: 'UserCreated', targetId: userId, targetName: userName, details: { role } } as const;
  await writeAudit(transaction, auditor(accountId), entry);
  return secret;
}

async function setTemporaryPassword(
  transaction: Transaction,
  directory: UserDirectory,
  userId: string,
  userName: string,
): Promise<string> {
  const password = await directory.setTemporaryPassword(transaction, userId);
  // The operator hands the password to the owner of the email address. So the address counts as proven when the owner
  // replaces the password at the embedded issuer.
  await transaction.query('update app_user set secret_sent_to = email where id = $1', [userId]);
  if (password !== undefined) return password;
  throw new DomainError(
    'conflict',
    `${userName} already exists at the issuer and need not change the password; delete the user at the issuer and repeat the command, or give another user name and email address`,
  );
}

/** Sets the password that the operator gave. The user's email address stays unproven: no secret was sent to it. */
async function setGivenPassword(
  transaction: Transaction,
  { setPassword }: UserServices,
  userId: string,
  password: string,
): Promise<string> {
  const problem = await setPassword?.(transaction, userId, password);
  if (problem !== undefined) throw new DomainError('invalid_input', `the password on standard input ${problem}`);
  return 'password as given';
}

/** @throws {DomainError} invalid_input when the text is not a role. */
export function toRole(text: string): RoleName {
  const role = (['USER', 'MANAGER', 'ADMIN'] as const).find((name) => name === text.toUpperCase());
  if (role) return role;
  throw new DomainError('invalid_input', `--role must be USER, MANAGER or ADMIN, got ${text}`);
}
