/**
 * Generates the secrets of this checkout's stack (random passwords and the webhook key) once, and stores them in
 * `.local/secrets.json`, a file that only its owner can read.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LOCAL_DIRECTORY } from './paths.ts';

const SECRET_NAMES = ['postgres', 'redis', 'clientSecret', 'admin', 'manager', 'user', 'webhookKey'] as const;
const PASSWORD_BYTES = 12;
/** Length of a key of WEBHOOK_KEYS, in bytes. */
const KEY_BYTES = 32;

export type SecretName = (typeof SECRET_NAMES)[number];
export type Secrets = Readonly<Record<SecretName, string>>;

/** Reads the secrets, and generates and stores the missing ones. */
export function readOrMakeSecrets(path: string = join(LOCAL_DIRECTORY, 'secrets.json')): Secrets {
  const known = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Partial<Secrets>) : {};
  const secrets = makeSecrets(known);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  return secrets;
}

/** @returns the secrets of `known`; for every other name, a random text that needs no escaping in URLs and shells. */
export function makeSecrets(known: Partial<Secrets> = {}): Secrets {
  const entries = SECRET_NAMES.map((name) => [
    name,
    known[name] ?? randomBytes(name === 'webhookKey' ? KEY_BYTES : PASSWORD_BYTES).toString('base64url'),
  ]);
  return Object.fromEntries(entries) as Secrets;
}

/** @returns the value of WEBHOOK_KEYS for the stack of this checkout. */
export function localWebhookKeys({ webhookKey }: Secrets): string {
  return `local:${webhookKey}`;
}
