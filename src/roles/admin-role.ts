/** The operator's command line: runs one command on the database and ends. */
import { once } from 'node:events';
import { userInfo } from 'node:os';
import { createInterface } from 'node:readline';
import { type AdminServices, runAdminCommand } from '../accounts/operator/admin-commands.ts';
import { backupCommands } from '../backup/backup-commands.ts';
import { postgresPrograms } from '../backup/postgres-programs.ts';
import type { Config } from '../config.ts';
import { createDirectory } from '../identity/directory/create-directory.ts';
import { choosePassword } from '../identity/passwords/choose-password.ts';
import { type Database, openDatabase, type Transaction } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { describeStoredPoints } from '../points/columns/describe-storage.ts';
import { measureStorage } from '../points/columns/measure-storage.ts';
import { retryBatches } from '../push/store/failed-batches.ts';
import { describeRetention } from '../retention/describe-retention.ts';
import { describeDividers, describeRepeatedMappings } from '../structure/operator-reports.ts';
import { renewSecrets } from '../webhooks/sealed-columns.ts';
import { openSecretVault, type VaultKey } from '../webhooks/secret-vault.ts';

/** Environment variables of this process. The programs of PostgreSQL get them too. */
type Environment = Readonly<Record<string, string | undefined>>;

/** Runs the command `argv[0]`. @throws {DomainError} as `runAdminCommand` does. */
export async function runAdmin(
  config: Config,
  log: Log,
  argv: readonly string[],
  environment: Environment,
): Promise<void> {
  const database = openDatabase({ url: config.DATABASE_URL, poolSize: 2, applicationName: 'tidemark-admin', log });
  const print: AdminServices['print'] = (line) => void process.stdout.write(`${line}\n`);
  try {
    const operatorName = nameOnMachine();
    const directory = createDirectory(config);
    const services = { database, directory, operatorName, print, readLine, retryBatches: countRetried };
    const describeStorage = async () => describeStoredPoints(await measureStorage(database));
    const reports = {
      describeStorage,
      describeRepeatedMappings: () => describeRepeatedMappings(database),
      describeRetention: (accountId?: number) => describeRetention(database, accountId),
      describeDividers: () => describeDividers(database),
      renewWebhookSecrets: () => describeRenewal(database, config.WEBHOOK_KEYS),
    };
    const backups = backupCommands({ database, programs: postgresPrograms(config.DATABASE_URL, environment), print });
    await runAdminCommand({ ...services, ...reports, backups, setPassword: passwordSetter(config) }, argv);
  } finally {
    await database.end();
  }
}

/**
 * Encrypts the secrets and headers of webhooks again, with the first key of WEBHOOK_KEYS.
 * @returns a sentence for the operator. @throws {DomainError} invalid_input when WEBHOOK_KEYS has no key.
 */
async function describeRenewal(database: Database, keys: readonly VaultKey[]): Promise<string> {
  const vault = openSecretVault(keys);
  if (vault.keyId === undefined) throw new DomainError('invalid_input', 'WEBHOOK_KEYS must have a key, got none');
  const { webhooks, renewed } = await renewSecrets(database, vault);
  return `webhooks encrypted with the key ${vault.keyId}: ${renewed} of ${webhooks}; the rest already used this key`;
}

async function countRetried(transaction: Transaction, accountId: number | undefined): Promise<number> {
  return (await retryBatches(transaction, accountId === undefined ? {} : { accountId })).batches;
}

/** @returns the first line of standard input; an empty text when standard input has no line. */
async function readLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin });
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close').then(() => [''])]);
  lines.close();
  return String(line);
}

/** @returns the function that sets a user's password; undefined with Keycloak, which stores passwords itself. */
function passwordSetter({ USER_DIRECTORY, PASSWORD_MIN_LENGTH: minLength }: Config): AdminServices['setPassword'] {
  if (USER_DIRECTORY !== 'embedded') return undefined;
  return async (transaction, userId, password) => {
    const problem = await choosePassword(transaction, { userId, password, repeated: password, minLength });
    switch (problem) {
      case 'too_short':
        return `must have at least ${minLength} characters`;
      case 'too_long':
        return 'must have at most 200 characters';
      case 'is_name':
        return 'must not be the user name or email address';
      case 'unchanged':
        return 'must differ from the current password';
      case 'gone':
        return 'could not be set: the user no longer exists';
      default:
        return undefined;
    }
  };
}

/**
 * Returns the name of the user that runs this process. When the user has no name, as in some containers, returns `user`
 * and the user's number, such as `user 1000`.
 */
function nameOnMachine(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
