/**
 * Creates the demo account, its users and a client, unless they exist. Runs at every start of the local stack, after
 * the migration and before Tidemark itself starts.
 */

import { registerClient } from '../accounts/clients/client-store.ts';
import { addClaim } from '../accounts/members/claims.ts';
import { createAccount, findAccountByName } from '../accounts/operator/create-account.ts';
import { createUser, findUserByName } from '../accounts/users/create-user.ts';
import { openDatabase, type Transaction, withTransaction } from '../platform/database/database.ts';
import { createLog } from '../platform/log.ts';
import { hashSecret } from '../platform/secret-hash.ts';
import type { Secrets } from './secrets.ts';
import type { DemoUser } from './stack.ts';

export const DEMO_ACCOUNT = 'Demo';
export const DEMO_CLIENT_ID = 'tidemark-demo';
const DEMO_SCOPES = ['datahub-api', 'push-data'];
/** Type of the claim that permits a user to push. Users of role MANAGER or ADMIN need it, too (R-B8). */
const PUSH_PERMISSION = 'datapusher.standard';

/** @returns the demo's users with their passwords. */
export function demoUsers(secrets: Secrets): readonly DemoUser[] {
  return [
    { userName: 'admin@demo.example', password: secrets.admin, role: 'ADMIN', account: DEMO_ACCOUNT },
    { userName: 'manager@demo.example', password: secrets.manager, role: 'MANAGER', account: DEMO_ACCOUNT },
    { userName: 'user@demo.example', password: secrets.user, role: 'USER', account: DEMO_ACCOUNT },
  ];
}

/**
 * Creates the demo's account, users and client in the migrated database at `databaseUrl`. Existing users and an
 * existing client get the given secrets.
 */
export async function seedIdentity(databaseUrl: string, secrets: Secrets): Promise<void> {
  const log = createLog('error', 'local');
  const database = openDatabase({ url: databaseUrl, poolSize: 2, applicationName: 'tidemark-local', log });
  try {
    await withTransaction(database, async (transaction) => {
      const accountId =
        (await findAccountByName(transaction, DEMO_ACCOUNT)) ??
        (await createAccount(transaction, { name: DEMO_ACCOUNT, timeZoneId: 'Europe/London' }));
      for (const user of demoUsers(secrets)) await seedUser(transaction, accountId, user);
      const client = { clientId: DEMO_CLIENT_ID, secret: secrets.clientSecret, scopes: DEMO_SCOPES };
      await registerClient(transaction, client);
    });
  } finally {
    await database.end();
  }
}

async function seedUser(transaction: Transaction, accountId: number, user: DemoUser): Promise<void> {
  const known = await findUserByName(transaction, user.userName);
  if (known !== undefined) {
    const hash = await hashSecret(user.password);
    await transaction.query('update app_user set password_hash = $2 where id = $1', [known, hash]);
    return;
  }
  const userId = await createUser(transaction, { ...user, email: user.userName, accountIds: [accountId] });
  await addClaim(transaction, { accountId, userId, claimType: PUSH_PERMISSION });
}
