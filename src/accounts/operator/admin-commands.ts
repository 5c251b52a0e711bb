/**
 * What the operator does on the command line (§5: clients are issued on request): `admin create-account …`. Secrets are
 * made here, printed once and stored as hashes.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { UserDirectory } from '../../identity/directory/user-directory.ts';
import { addSigningKey } from '../../identity/keys/signing-keys.ts';
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { parseInput } from '../../platform/http/lenient.ts';
import { accountExists, accountSchema, saveAccount } from '../account/account.ts';
import { type AuditActor, writeAudit } from '../audit/audit.ts';
import { emailSchema, nameSchema } from '../field-schemas.ts';
import { insertUser } from '../users/save-user.ts';
import { getProfile } from '../users/user-profile.ts';
import type { RoleName } from '../users/user-rules.ts';
import { CLIENT_SCOPES, findClientProblem } from './client-rules.ts';
import { createAccount } from './create-account.ts';
import { insertClient, replaceClientSecret } from './register-client.ts';

export interface AdminServices {
  readonly database: Database;
  readonly directory: UserDirectory;
  /** Who runs the command, where `--as` does not say: the name they have on the machine. */
  readonly operatorName: string;
  /** Prints a line for the operator. */
  readonly say: (line: string) => void;
}

export const ADMIN_USAGE = `admin <command>

  create-account --name NAME --manager MAIL [--language en] [--time-zone Europe/Brussels] [--currency EUR]
                 [--client CLIENT_ID]    an account, its first manager and, if named, a client for it
  create-user --account ID --email MAIL [--user-name NAME] [--role USER|MANAGER|ADMIN]
  create-client --client CLIENT_ID [--scope SCOPE]… [--grant GRANT]… [--redirect-uri URL]… [--logout-uri URL]…
                [--public] [--name NAME]  a program; after signing out a browser may return to a --logout-uri
  rotate-client-secret --client CLIENT_ID
  rotate-keys                            a new signing key; it signs once it has been published for a quarter of an hour
  help                                   this

  --as NAME                              who you are, for the audit trail; default: your name on this machine
`;

const GRANTS = ['password', 'refresh_token'];
const SECRET_BYTES = 24;
const MAX_ACCOUNT_ID = 2 ** 31 - 1;

const OPTIONS = {
  name: { type: 'string' },
  manager: { type: 'string' },
  email: { type: 'string' },
  'user-name': { type: 'string' },
  role: { type: 'string' },
  account: { type: 'string' },
  language: { type: 'string' },
  'time-zone': { type: 'string' },
  currency: { type: 'string' },
  client: { type: 'string' },
  scope: { type: 'string', multiple: true },
  grant: { type: 'string', multiple: true },
  'redirect-uri': { type: 'string', multiple: true },
  'logout-uri': { type: 'string', multiple: true },
  public: { type: 'boolean' },
  as: { type: 'string' },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>>['values'];
type Command = (services: CommandServices, values: Values) => Promise<void>;

interface CommandServices extends Omit<AdminServices, 'operatorName'> {
  /** Who runs it; what concerns no account is for the operator alone to read. */
  readonly auditor: (accountId?: number) => AuditActor;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  help: async ({ say }) => say(ADMIN_USAGE.trimEnd()),
  'create-account': createAccountCommand,
  'create-user': createUserCommand,
  'create-client': createClientCommand,
  'rotate-client-secret': rotateClientSecret,
  'rotate-keys': rotateKeys,
};

/** @throws DomainError for anything the operator can put right, with the usage where the words are not understood. */
export async function runAdminCommand(services: AdminServices, argv: readonly string[]): Promise<void> {
  const { values, name } = parseCommand(argv.includes('--help') ? ['help'] : argv);
  const command = COMMANDS[name];
  if (!command) throw new DomainError('invalid_input', ADMIN_USAGE);
  const userName = parseInput(nameSchema, values.as ?? services.operatorName, '--as');
  const caller = { userId: 'operator', userName };
  const auditor = (accountId?: number) => ({ caller: { ...caller, accountId: accountId ?? null }, requestId: null });
  await command({ ...services, auditor }, values);
}

function parseCommand(argv: readonly string[]): { readonly values: Values; readonly name: string } {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
    return { values, name: positionals.length === 1 ? (positionals[0] ?? '') : '' };
  } catch (error) {
    throw new DomainError('invalid_input', `${(error as Error).message}\n\n${ADMIN_USAGE}`);
  }
}

async function createAccountCommand(services: CommandServices, values: Values): Promise<void> {
  const { database, say } = services;
  const name = parseInput(nameSchema, values.name, '--name');
  const email = parseInput(emailSchema, values.manager, '--manager');
  const { language, 'time-zone': timeZoneId, currency, client } = values;
  const settings = parseInput(accountSchema, { language, timeZoneId, currency }, '--');
  const lines = await withTransaction(database, async (transaction) => {
    const accountId = await createAccount(transaction, { name });
    await saveAccount(transaction, accountId, settings);
    const made = { action: 'AccountCreated', targetId: String(accountId), targetName: name } as const;
    await writeAudit(transaction, services.auditor(accountId), made);
    const manager = { accountId, email, userName: email, role: 'MANAGER', language: settings.language } as const;
    const password = await makeUser(transaction, services, manager);
    const told = [`account ${accountId}: ${name}`, `manager ${email}, temporary password ${password}`];
    if (client === undefined) return told;
    return [...told, await makeClient(transaction, services.auditor(accountId), { clientId: client })];
  });
  lines.push(`sign in for the first time at ${services.directory.signInLink()}`);
  for (const line of lines) say(line);
}

async function createUserCommand(services: CommandServices, values: Values): Promise<void> {
  const { database, directory, say } = services;
  const email = parseInput(emailSchema, values.email, '--email');
  const userName = parseInput(nameSchema, values['user-name'] ?? email, '--user-name');
  const role = toRole(values.role ?? 'USER');
  const accountId = Number(values.account);
  if (!(accountId > 0 && accountId <= MAX_ACCOUNT_ID && Number.isInteger(accountId))) {
    const given = values.account ?? 'none';
    throw new DomainError('invalid_input', `--account must be the number of an account, got ${given}`);
  }
  if (!(await accountExists(database, accountId))) {
    throw new DomainError('invalid_input', `there is no account ${accountId}; create-account makes one`);
  }
  const password = await withTransaction(database, (transaction) =>
    makeUser(transaction, services, { accountId, email, userName, role }),
  );
  say(`${role} ${userName}, temporary password ${password}`);
  say(`sign in for the first time at ${directory.signInLink()}`);
}

async function createClientCommand({ database, say, auditor }: CommandServices, values: Values): Promise<void> {
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
  say(await withTransaction(database, (transaction) => makeClient(transaction, auditor(), client)));
}

async function rotateClientSecret({ database, say, auditor }: CommandServices, values: Values): Promise<void> {
  const clientId = parseInput(nameSchema, values.client, '--client');
  const secret = makeSecret();
  await withTransaction(database, async (transaction) => {
    await replaceClientSecret(transaction, clientId, secret);
    await writeAudit(transaction, auditor(), { action: 'ClientSecretReplaced', targetId: clientId });
  });
  say(`client ${clientId}, new secret ${secret}`);
}

async function rotateKeys({ database, say, auditor }: CommandServices): Promise<void> {
  const kid = await withTransaction(database, async (transaction) => {
    const targetId = await addSigningKey(transaction);
    await writeAudit(transaction, auditor(), { action: 'SigningKeyAdded', targetId });
    return targetId;
  });
  say(`key ${kid} is published and will sign soon`);
}

interface MadeUser {
  readonly accountId: number;
  readonly email: string;
  readonly userName: string;
  readonly role: RoleName;
  readonly language?: string | undefined;
}

/** The operator hands the password over: there may be no mail server yet. */
async function makeUser(
  transaction: Transaction,
  { directory, auditor }: CommandServices,
  { accountId, email, userName, role, language }: MadeUser,
): Promise<string> {
  const written = { userName, email, ...(language !== undefined && { language }) };
  const userId = await insertUser(transaction, written, role, accountId);
  await directory.create(transaction, await getProfile(transaction, userId));
  const password = await directory.setTemporaryPassword(transaction, userId);
  // The operator hands it to who has the address.
  await transaction.query('update app_user set secret_sent_to = email where id = $1', [userId]);
  if (password === undefined) throw new DomainError('conflict', `${userName} already has a password at the issuer`);
  const made = { action: 'UserCreated', targetId: userId, targetName: userName, details: { role } } as const;
  await writeAudit(transaction, auditor(accountId), made);
  return password;
}

interface MadeClient {
  readonly clientId: string;
  readonly name?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly grantTypes?: readonly string[] | undefined;
  readonly redirectUris?: readonly string[] | undefined;
  readonly logoutUris?: readonly string[] | undefined;
  readonly isPublic?: boolean | undefined;
}

async function makeClient(transaction: Transaction, auditor: AuditActor, client: MadeClient): Promise<string> {
  const { clientId, name, scopes = CLIENT_SCOPES, redirectUris = [], logoutUris = [], isPublic = false } = client;
  const byBrowser = redirectUris.length > 0 ? ['authorization_code'] : [];
  const grantTypes = client.grantTypes ?? [...(isPublic ? ['refresh_token'] : GRANTS), ...byBrowser];
  const wish = { clientId, scopes, grantTypes, redirectUris, logoutUris };
  const problem = findClientProblem(wish);
  if (problem !== undefined) throw new DomainError('invalid_input', problem);
  const secret = isPublic ? undefined : makeSecret();
  await insertClient(transaction, { ...wish, secret, name });
  const details = { scopes, grantTypes, redirectUris, logoutUris, isPublic };
  const targetName = name ?? clientId;
  await writeAudit(transaction, auditor, { action: 'ClientCreated', targetId: clientId, targetName, details });
  return `client ${clientId}, ${secret === undefined ? 'public' : `secret ${secret}`}, scopes ${scopes.join(' ')}`;
}

function makeSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function toRole(text: string): RoleName {
  const role = (['USER', 'MANAGER', 'ADMIN'] as const).find((name) => name === text.toUpperCase());
  if (role) return role;
  throw new DomainError('invalid_input', `--role must be USER, MANAGER or ADMIN, got ${text}`);
}
