import type { UserDirectory } from '../../identity/directory/user-directory.ts';
import type { Transaction } from '../../platform/database/database.ts';

/**
 * Corrects a user's active account (R-B4) after the user joined or left an account. When the user has no active account
 * or is not a member of it, the user's account with the lowest id becomes active, in `app_user` and in the directory.
 * When the user is in no account, the active account in `app_user` becomes null, and Keycloak still names the old one.
 * An ADMIN who has an active account keeps it, because an ADMIN may use all accounts.
 * @throws {DomainError} conflict when the directory throws it; dependency_unavailable when the directory fails.
 */
export async function settleActiveAccount(
  transaction: Transaction,
  directory: UserDirectory,
  userId: string,
): Promise<void> {
  const { rows } = await transaction.query<{ accountId: number | null }>(
    `update app_user u
     set active_account_id = (select min(m.account_id) from account_member m where m.user_id = u.id)
     where id = $1 and (role <> 'ADMIN' or active_account_id is null) and not exists (
       select from account_member m where m.user_id = u.id and m.account_id = u.active_account_id)
     returning active_account_id as "accountId"`,
    [userId],
  );
  const accountId = rows[0]?.accountId;
  if (accountId) await directory.setActiveAccount(transaction, userId, accountId);
}
