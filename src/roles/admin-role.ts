/** The operator's command line: runs one command on the database and ends. */
import { userInfo } from 'node:os';
import { type AdminServices, runAdminCommand } from '../accounts/operator/admin-commands.ts';
import type { Config } from '../config.ts';
import { createDirectory } from '../identity/directory/create-directory.ts';
import { openDatabase, type Transaction } from '../platform/database/database.ts';
import type { Log } from '../platform/log.ts';
import { retryBatches } from '../push/store/failed-batches.ts';

/** @throws DomainError for what the operator can put right. */
export async function runAdmin(config: Config, log: Log, argv: readonly string[]): Promise<void> {
  const database = openDatabase({ url: config.DATABASE_URL, poolSize: 2, applicationName: 'tidemark-admin', log });
  const print: AdminServices['print'] = (line) => void process.stdout.write(`${line}\n`);
  try {
    const operatorName = nameOnMachine();
    const directory = createDirectory(config);
    await runAdminCommand({ database, directory, operatorName, print, retryBatches: countRetried }, argv);
  } finally {
    await database.end();
  }
}

async function countRetried(transaction: Transaction, accountId: number | undefined): Promise<number> {
  return (await retryBatches(transaction, accountId === undefined ? {} : { accountId })).batches;
}

/** In a container there may be nobody of the number the process runs as. */
function nameOnMachine(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
