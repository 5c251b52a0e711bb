/**
 * The operator's commands (§5), such as `admin create-account …`. Generated passwords and client secrets are printed
 * once, and only their hashes are stored. With `--password-stdin`, the operator chooses a user's password.
 */
import { parseArgs } from 'node:util';
import type { UserDirectory } from '../../identity/directory/user-directory.ts';
import { addSigningKey } from '../../identity/keys/signing-keys.ts';
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { parseInput } from '../../platform/http/lenient.ts';
import { MAX_INT4 } from '../../platform/limits.ts';
import { accountExists, saveAccount } from '../account/account.ts';
import { type AuditActor, writeAudit } from '../audit/audit.ts';
import { CLIENT_SCOPES, type ClientRegistration, defaultGrants, findClientProblem } from '../clients/client-rules.ts';
import { insertClient, makeClientSecret, replaceClientSecret } from '../clients/client-store.ts';
import { emailSchema, nameSchema } from '../field-schemas.ts';
import { createAccount, parseAccountOptions } from './create-account.ts';
import { createUser, type SetPassword, toRole } from './create-user.ts';
import { describeFeatures } from './set-feature.ts';

export interface AdminServices {
  readonly database: Database;
  readonly directory: UserDirectory;
  /** Name for the audit trail when `--as` is absent: the user name on the machine. */
  readonly operatorName: string;
  /**
   * Requeues the failed batches (dead letters) of one account or of all accounts. @returns the number of these batches.
   */
  readonly retryBatches: (transaction: Transaction, accountId: number | undefined) => Promise<number>;
  /** Encrypts secrets and headers of webhooks with the first key of WEBHOOK_KEYS. @returns a line for the operator. */
  readonly renewWebhookSecrets: () => Promise<string>;
  /** @returns the lines of a table that shows the disk space of stored points. */
  readonly describeStorage: () => Promise<readonly string[]>;
  /**
   * @returns lines that describe every retention policy, and what the policy would delete now.
   * @param accountId undefined means all accounts.
   */
  readonly describeRetention: (accountId: number | undefined) => Promise<readonly string[]>;
  /** @returns lines about variables that share a mappingConfig in a source. The database need not be migrated yet. */
  readonly describeRepeatedMappings: () => Promise<readonly string[]>;
  /**
   * @returns lines about the variables whose `divider` is not 1. Readings that arrive for such a variable are divided
   * by the `divider`.
   */
  readonly describeDividers: () => Promise<readonly string[]>;
  /**
   * Commands that make, list and restore backups of the database, and archive its WAL. The keys are the names of the
   * commands.
   */
  readonly backups: Readonly<Record<string, FileCommand>>;
  /** Prints a line for the operator. */
  readonly print: (line: string) => void;
  /** @returns the first line of standard input, without the line end; an empty text when standard input is empty. */
  readonly readLine: () => Promise<string>;
  /**
   * Sets a password that stays valid after the first sign-in. Undefined when Keycloak administers the passwords.
   * @returns the reason why the password is refused; undefined when the password was set.
   */
  readonly setPassword: SetPassword | undefined;
}

/** @param operands the arguments after the command's name, without the options. */
type FileCommand = (operands: readonly string[], values: Values) => Promise<void>;

export const ADMIN_USAGE = `admin <command>

  create-account --name NAME --manager MAIL [--language en] [--time-zone Europe/Brussels] [--currency EUR]
                 [--client CLIENT_ID] [--password-stdin]
                                         creates an account, its first manager and, with --client, a client
  create-user --account ID --email MAIL [--user-name NAME] [--role USER|MANAGER|ADMIN] [--password-stdin]
                                         creates a user; default role USER
  create-client --client CLIENT_ID [--scope SCOPE]… [--grant GRANT]… [--redirect-uri URL]… [--logout-uri URL]…
                [--public] [--name NAME] creates an OAuth client; browsers return to a --redirect-uri after
                                         sign-in and to a --logout-uri after sign-out
  feature --account ID [--name NAME] [--level None|Read|Write|Admin]
                                         prints the features of an account; with --name, adds the feature where the
                                         account has none of this name; with --level, limits the level of its users
  rotate-client-secret --client CLIENT_ID
                                         replaces the secret of a client; the old one stops working
  rotate-keys                            creates a signing key, which signs after 15 minutes of publication
  rotate-webhook-keys                    encrypts the secrets and headers of all webhooks with the first key of
                                         WEBHOOK_KEYS; the other keys may be removed 24 hours later
  retry-batches [--account ID]           queues failed batches of pushes again
  storage                                prints the disk space of stored points by account, in rows and in columns
  retention [--account ID]               prints every retention policy and what it would delete now; changes nothing
  repeated-mappings                      prints the variables that share a mappingConfig within a source, which must be
                                         changed before an upgrade
  dividers                               prints the variables whose readings are divided when they arrive
  backup DIR [--keep N]                  copies the running database into DIR; keeps the newest N copies, by default all
  archive DIR                            archives WAL into DIR until stopped, so that DIR restores to any instant
  backups DIR                            lists the backups of DIR; fails when no WAL is being archived
  restore DIR TARGET [--to INSTANT]      prepares the empty directory TARGET: PostgreSQL started on it recovers to the
                                         instant, by default to the end of the archive
  help                                   prints this text

  --password-stdin                       sets the first line of standard input as the user's password, which need not
                                         be changed; default: a temporary password, changed at the first sign-in
  --as NAME                              your name in the audit trail; default: your user name on this machine
`;

/** Option of `create-client` for each member of a registration. */
const CLIENT_OPTIONS: Readonly<Record<keyof ClientRegistration, string>> = {
  ...{ clientId: '--client', scopes: '--scope', grantTypes: '--grant' },
  ...{ redirectUris: '--redirect-uri', logoutUris: '--logout-uri' },
};

const OPTIONS = {
  name: { type: 'string' },
  manager: { type: 'string' },
  email: { type: 'string' },
  'user-name': { type: 'string' },
  role: { type: 'string' },
  account: { type: 'string' },
  level: { type: 'string' },
  language: { type: 'string' },
  'time-zone': { type: 'string' },
  currency: { type: 'string' },
  client: { type: 'string' },
  scope: { type: 'string', multiple: true },
  grant: { type: 'string', multiple: true },
  'redirect-uri': { type: 'string', multiple: true },
  'logout-uri': { type: 'string', multiple: true },
  public: { type: 'boolean' },
  'password-stdin': { type: 'boolean' },
  as: { type: 'string' },
  keep: { type: 'string' },
  to: { type: 'string' },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>>['values'];
type Command = (services: CommandServices, values: Values) => Promise<void>;

interface CommandServices extends Omit<AdminServices, 'operatorName'> {
  /**
   * @returns the operator, who is the actor of the audit entries.
   * @param accountId account of the entries. Only ADMIN users may read entries without an account.
   */
  readonly auditor: (accountId?: number) => AuditActor;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  help: async ({ print }) => print(ADMIN_USAGE.trimEnd()),
  'create-account': createAccountCommand,
  'create-user': createUserCommand,
  'create-client': createClientCommand,
  feature: featureCommand,
  'rotate-client-secret': rotateClientSecret,
  'rotate-keys': rotateKeys,
  'rotate-webhook-keys': async ({ renewWebhookSecrets, print }) => print(await renewWebhookSecrets()),
  'retry-batches': retryBatchesCommand,
  storage: async ({ describeStorage, print }) => printLines(print, await describeStorage()),
  retention: async ({ describeRetention, print }, { account }) =>
    printLines(print, await describeRetention(account === undefined ? undefined : toAccountId(account))),
  dividers: async ({ describeDividers, print }) => printLines(print, await describeDividers()),
  'repeated-mappings': async ({ describeRepeatedMappings, print }) =>
    printLines(print, await describeRepeatedMappings()),
};

function printLines(print: AdminServices['print'], lines: readonly string[]): void {
  for (const line of lines) print(line);
}

/**
 * Runs one command (§5).
 * @param argv arguments after `admin`.
 * @throws {DomainError} invalid_input, conflict, not_found; dependency_unavailable when Keycloak fails. The message of
 * invalid_input contains the usage when a command or an option is unknown, or when a command that takes only options
 * gets an operand.
 */
export async function runAdminCommand(services: AdminServices, argv: readonly string[]): Promise<void> {
  const { values, name, operands } = parseCommand(argv.includes('--help') ? ['help'] : argv);
  const fileCommand = Object.hasOwn(services.backups, name) && services.backups[name];
  if (fileCommand) return fileCommand(operands, values);
  const command = operands.length === 0 && Object.hasOwn(COMMANDS, name) && COMMANDS[name];
  if (!command) throw unknownWords(name, operands);
  const userName = parseInput(nameSchema, values.as ?? services.operatorName, '--as');
  const caller = { userId: 'operator', userName };
  const auditor = (accountId?: number) => ({ caller: { ...caller, accountId: accountId ?? null }, requestId: null });
  await command({ ...services, auditor }, values);
}

function unknownWords(name: string, operands: readonly string[]): DomainError {
  const problem = Object.hasOwn(COMMANDS, name)
    ? `${name} takes options only, got ${operands.join(' ')}`
    : `unknown command ${name}`;
  return new DomainError('invalid_input', `${name === '' ? 'a command is required' : problem}\n\n${ADMIN_USAGE}`);
}

interface ParsedCommand {
  readonly values: Values;
  readonly name: string;
  readonly operands: readonly string[];
}

function parseCommand(argv: readonly string[]): ParsedCommand {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
    const [name = '', ...operands] = positionals;
    return { values, name, operands };
  } catch (error) {
    throw new DomainError('invalid_input', `${(error as Error).message}\n\n${ADMIN_USAGE}`);
  }
}

async function createAccountCommand(services: CommandServices, values: Values): Promise<void> {
  const { database, print } = services;
  const name = parseInput(nameSchema, values.name, '--name');
  const email = parseInput(emailSchema, values.manager, '--manager');
  const { client } = values;
  const settings = parseAccountOptions(values);
  const password = await readPassword(services, values);
  const lines = await withTransaction(database, async (transaction) => {
    const accountId = await createAccount(transaction, { name });
    await saveAccount(transaction, accountId, settings);
    const entry = { action: 'AccountCreated', targetId: String(accountId), targetName: name } as const;
    await writeAudit(transaction, services.auditor(accountId), entry);
    const { language } = settings;
    const manager = { accountId, email, userName: email, role: 'MANAGER', language, password } as const;
    const secret = await createUser(transaction, services, manager);
    const created = [`account ${accountId}: ${name}`, `manager ${email}, ${secret}`];
    if (client === undefined) return created;
    return [...created, await createClient(transaction, services.auditor(accountId), { clientId: client })];
  });
  lines.push(`sign in at ${services.directory.signInLink()}`);
  for (const line of lines) print(line);
}

async function createUserCommand(services: CommandServices, values: Values): Promise<void> {
  const { database, directory, print } = services;
  const email = parseInput(emailSchema, values.email, '--email');
  const userName = parseInput(nameSchema, values['user-name'] ?? email, '--user-name');
  const role = toRole(values.role ?? 'USER');
  const accountId = toAccountId(values.account);
  await assertAccount(database, accountId);
  const password = await readPassword(services, values);
  const secret = await withTransaction(database, (transaction) =>
    createUser(transaction, services, { accountId, email, userName, role, password }),
  );
  print(`${role} ${userName}, ${secret}`);
  print(`sign in at ${directory.signInLink()}`);
}

async function createClientCommand({ database, print, auditor }: CommandServices, values: Values): Promise<void> {
  const clientId = parseInput(nameSchema, values.client, '--client');
  const client = {
    clientId,
    name: values.name,
    scopes: values.scope,
    grantTypes: values.grant,
    redirectUris: values['redirect-uri'],
    logoutUris: values['logout-uri'],
    isPublic: values.public,
  };
  print(await withTransaction(database, (transaction) => createClient(transaction, auditor(), client)));
}

async function rotateClientSecret({ database, print, auditor }: CommandServices, values: Values): Promise<void> {
  const clientId = parseInput(nameSchema, values.client, '--client');
  const secret = makeClientSecret();
  await withTransaction(database, async (transaction) => {
    await replaceClientSecret(transaction, clientId, secret, 0);
    await writeAudit(transaction, auditor(), { action: 'ClientSecretReplaced', targetId: clientId });
  });
  print(`client ${clientId}, new secret ${secret}`);
}

async function featureCommand({ database, print, auditor }: CommandServices, values: Values): Promise<void> {
  const accountId = toAccountId(values.account);
  await assertAccount(database, accountId);
  printLines(print, await describeFeatures(database, auditor(accountId), accountId, values));
}

async function assertAccount(database: Database, accountId: number): Promise<void> {
  if (await accountExists(database, accountId)) return;
  throw new DomainError('invalid_input', `account ${accountId} does not exist; create-account creates one`);
}

async function rotateKeys({ database, print, auditor }: CommandServices): Promise<void> {
  const kid = await withTransaction(database, async (transaction) => {
    const targetId = await addSigningKey(transaction);
    await writeAudit(transaction, auditor(), { action: 'SigningKeyAdded', targetId });
    return targetId;
  });
  print(`key ${kid} is published; it starts to sign tokens in 15 minutes`);
}

async function retryBatchesCommand(services: CommandServices, values: Values): Promise<void> {
  const { database, print, auditor } = services;
  const accountId = values.account === undefined ? undefined : toAccountId(values.account);
  const count = await withTransaction(database, async (transaction) => {
    const retried = await services.retryBatches(transaction, accountId);
    const members = { batches: retried };
    if (retried > 0) await writeAudit(transaction, auditor(accountId), { action: 'BatchesRetried', details: members });
    return retried;
  });
  print(`${count} ${count === 1 ? 'batch is' : 'batches are'} queued again`);
}

/** @throws {DomainError} invalid_input unless the text is an integer from 1 to MAX_INT4. The account need not exist. */
function toAccountId(text: string | undefined): number {
  const accountId = Number(text);
  if (accountId > 0 && accountId <= MAX_INT4 && Number.isInteger(accountId)) return accountId;
  throw new DomainError('invalid_input', `--account must be the id of an account, got ${text ?? 'nothing'}`);
}

/** @returns the password that the operator gives on standard input; undefined without `--password-stdin`. */
async function readPassword(services: CommandServices, values: Values): Promise<string | undefined> {
  if (!values['password-stdin']) return undefined;
  if (services.setPassword) return services.readLine();
  throw new DomainError(
    'invalid_input',
    '--password-stdin needs USER_DIRECTORY=embedded; with Keycloak, set the password there',
  );
}

interface NewClient {
  readonly clientId: string;
  readonly name?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly grantTypes?: readonly string[] | undefined;
  readonly redirectUris?: readonly string[] | undefined;
  readonly logoutUris?: readonly string[] | undefined;
  readonly isPublic?: boolean | undefined;
}

/** @returns a line for the operator. When the client is not public, the line contains the client's secret. */
async function createClient(transaction: Transaction, auditor: AuditActor, client: NewClient): Promise<string> {
  const { clientId, name, scopes = CLIENT_SCOPES, redirectUris = [], logoutUris = [], isPublic = false } = client;
  const grantTypes = client.grantTypes ?? defaultGrants(isPublic, redirectUris);
  const registration = { clientId, scopes, grantTypes, redirectUris, logoutUris };
  const problem = findClientProblem(registration);
  if (problem) throw new DomainError('invalid_input', `${CLIENT_OPTIONS[problem.member]} ${problem.rule}`);
  const secret = isPublic ? undefined : makeClientSecret();
  await insertClient(transaction, { ...registration, secret, name });
  const details = { scopes, grantTypes, redirectUris, logoutUris, isPublic };
  const targetName = name ?? clientId;
  await writeAudit(transaction, auditor, { action: 'ClientCreated', targetId: clientId, targetName, details });
  return `client ${clientId}, ${secret === undefined ? 'public' : `secret ${secret}`}, scopes ${scopes.join(' ')}`;
}
