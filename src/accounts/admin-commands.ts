/**
 * What the operator does on the command line (§5: clients are issued on request): `admin create-account …`. Secrets are
 * made here, printed once and stored as hashes.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { addSigningKey } from '../identity/signing-keys.ts';
import type { UserDirectory } from '../identity/user-directory.ts';
import { type Database, withTransaction } from '../platform/database.ts';
import { DomainError } from '../platform/errors.ts';
import { parseInput } from '../platform/lenient.ts';
import { accountExists, accountSchema, saveAccount } from './account.ts';
import { type Auditor, writeAudit } from './audit.ts';
import { createAccount } from './create-account.ts';
import { emailSchema, nameSchema } from './field-schemas.ts';
import { insertClient, replaceClientSecret } from './register-client.ts';
import { insertUser } from './users/save-user.ts';
import { getProfile } from './users/user-profile.ts';
import type { RoleName } from './users/user-rules.ts';

export interface AdminServices {
  readonly database: Database;
  readonly directory: UserDirectory;
  /** Prints a line for the operator. */
  readonly say: (line: string) => void;
}

export const ADMIN_USAGE = `admin <command>

  create-account --name NAME --manager MAIL [--language en] [--time-zone Europe/Brussels] [--currency EUR]
                 [--client CLIENT_ID]    an account, its first manager and, if named, a client for it
  create-user --account ID --email MAIL [--user-name NAME] [--role USER|MANAGER|ADMIN]
  create-client --client CLIENT_ID [--scope SCOPE]… [--grant GRANT]… [--redirect-uri URL]… [--public] [--name NAME]
  rotate-client-secret --client CLIENT_ID
  rotate-keys                            a new signing key; it signs once it has been published for a quarter of an hour
  help                                   this
`;

const SCOPES = ['datahub-api', 'push-data'];
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
  public: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>>['values'];
type Command = (services: AdminServices, values: Values) => Promise<void>;

const COMMANDS: Readonly<Record<string, Command>> = {
  help: async ({ say }) => say(ADMIN_USAGE.trimEnd()),
  'create-account': createAccountCommand,
  'create-user': createUserCommand,
  'create-client': createClientCommand,
  'rotate-client-secret': rotateClientSecret,
  'rotate-keys': async ({ database, say }) =>
    say(`key ${await addSigningKey(database)} is published and will sign soon`),
};

/** @throws DomainError for anything the operator can put right, with the usage where the words are not understood. */
export async function runAdminCommand(services: AdminServices, argv: readonly string[]): Promise<void> {
  const { values, name } = parseCommand(argv.includes('--help') ? ['help'] : argv);
  const command = COMMANDS[name];
  if (!command) throw new DomainError('invalid_input', ADMIN_USAGE);
  await command(services, values);
}

function parseCommand(argv: readonly string[]): { readonly values: Values; readonly name: string } {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
    return { values, name: positionals.length === 1 ? (positionals[0] ?? '') : '' };
  } catch (error) {
    throw new DomainError('invalid_input', `${(error as Error).message}\n\n${ADMIN_USAGE}`);
  }
}

async function createAccountCommand({ database, directory, say }: AdminServices, values: Values): Promise<void> {
  const name = parseInput(nameSchema, values.name, '--name');
  const email = parseInput(emailSchema, values.manager, '--manager');
  const { language, 'time-zone': timeZoneId, currency, client } = values;
  const settings = parseInput(accountSchema, { language, timeZoneId, currency }, '--');
  const lines = await withTransaction(database, async (transaction) => {
    const accountId = await createAccount(transaction, { name });
    await saveAccount(transaction, accountId, settings);
    const made = { action: 'AccountCreated', targetId: String(accountId), targetName: name } as const;
    await writeAudit(transaction, operatorOf(accountId), made);
    const manager = { accountId, email, userName: email, role: 'MANAGER', language: settings.language } as const;
    const password = await makeUser(transaction, directory, manager);
    const told = [`account ${accountId}: ${name}`, `manager ${email}, temporary password ${password}`];
    return client === undefined ? told : [...told, await makeClient(transaction, { clientId: client })];
  });
  lines.push(`sign in for the first time at ${directory.signInLink()}`);
  for (const line of lines) say(line);
}

async function createUserCommand({ database, directory, say }: AdminServices, values: Values): Promise<void> {
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
    makeUser(transaction, directory, { accountId, email, userName, role }),
  );
  say(`${role} ${userName}, temporary password ${password}`);
  say(`sign in for the first time at ${directory.signInLink()}`);
}

async function createClientCommand({ database, say }: AdminServices, values: Values): Promise<void> {
  const clientId = parseInput(nameSchema, values.client, '--client');
  say(
    await makeClient(database, {
      clientId,
      name: values.name,
      scopes: values.scope,
      grantTypes: values.grant,
      redirectUris: values['redirect-uri'],
      isPublic: values.public,
    }),
  );
}

async function rotateClientSecret({ database, say }: AdminServices, values: Values): Promise<void> {
  const clientId = parseInput(nameSchema, values.client, '--client');
  const secret = makeSecret();
  await replaceClientSecret(database, clientId, secret);
  say(`client ${clientId}, new secret ${secret}`);
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
  transaction: Parameters<typeof insertUser>[0],
  directory: UserDirectory,
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
  await writeAudit(transaction, operatorOf(accountId), made);
  return password;
}

/** Who has this command line is no user of the service. */
function operatorOf(accountId: number): Auditor {
  return { caller: { userId: 'operator', userName: 'operator', accountId }, requestId: null };
}

interface MadeClient {
  readonly clientId: string;
  readonly name?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly grantTypes?: readonly string[] | undefined;
  readonly redirectUris?: readonly string[] | undefined;
  readonly isPublic?: boolean | undefined;
}

async function makeClient(database: Parameters<typeof insertClient>[0], client: MadeClient): Promise<string> {
  const { clientId, name, scopes = SCOPES, redirectUris = [], isPublic = false } = client;
  const unknown = scopes.filter((scope) => !SCOPES.includes(scope));
  if (unknown.length > 0) throw new DomainError('invalid_input', `--scope must be one of ${SCOPES.join(', ')}`);
  const byBrowser = redirectUris.length > 0 ? ['authorization_code'] : [];
  const grantTypes = client.grantTypes ?? [...(isPublic ? ['refresh_token'] : GRANTS), ...byBrowser];
  if (grantTypes.includes('authorization_code') && redirectUris.length === 0) {
    throw new DomainError('invalid_input', '--redirect-uri is needed for the grant authorization_code');
  }
  const secret = isPublic ? undefined : makeSecret();
  await insertClient(database, { clientId, secret, name, scopes, grantTypes, redirectUris });
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
