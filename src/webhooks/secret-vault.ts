/**
 * Envelope encryption of the secrets of webhooks: signing secrets, and headers, which may hold credentials for the
 * receiver. Each text is encrypted with a data key of its own, which is random; a key of WEBHOOK_KEYS wraps the data
 * key. Both encryptions are AES-256-GCM (NIST SP 800-38D). A rotation wraps the data key again and keeps the encrypted
 * text. A text belongs to its account: a row copied to another account cannot be opened.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export interface VaultKey {
  readonly id: string;
  /** Key of 32 bytes. */
  readonly key: Buffer;
}

export interface SecretVault {
  /** Id of the key that seals texts. Undefined when the vault has no keys; `seal` then returns texts unsealed. */
  readonly keyId: string | undefined;
  seal(text: string, accountId: number): string;
  /**
   * @returns the plain text; `stored` itself when `stored` was never sealed.
   * @throws {Error} when the key is missing, or when the sealed text was altered or belongs to another account.
   */
  open(stored: string, accountId: number): string;
  /**
   * Seals a stored text with the key `keyId`. If the text is already sealed with another key, only its data key is
   * unwrapped with that key, and wrapped again with `keyId`.
   * @returns the sealed text; undefined when `stored` is already sealed with `keyId`, or when the vault has no keys.
   */
  renew(stored: string, accountId: number): string | undefined;
}

/**
 * Prefix of a sealed text. A sealed text is `sealed:1:<key id>:<wrapped data key>:<encrypted text>`. No secret and no
 * JSON has this prefix.
 */
const PREFIX = 'sealed:1:';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** @param keys all keys. The first key seals and opens texts; each further key only opens texts that it once sealed. */
export function openSecretVault(keys: readonly VaultKey[]): SecretVault {
  const [current] = keys;
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  const keyOf = (id: string): Buffer => {
    const key = byId.get(id);
    if (key) return key;
    throw new Error(`WEBHOOK_KEYS must have the key "${id}", with which secrets or headers of webhooks are sealed`);
  };
  const unwrap = ({ keyId, dataKey }: Sealed, accountId: number): Buffer => {
    const causes = 'the key with this id was replaced, or the stored text was changed';
    const refusal = `the key "${keyId}" of WEBHOOK_KEYS cannot decrypt the secret or headers of a webhook of account ${accountId}: ${causes}`;
    return decrypt(keyOf(keyId), dataKey, keyId, refusal);
  };
  const wrap = ({ id, key }: VaultKey, dataKey: Buffer): string => `${id}:${encrypt(key, dataKey, id)}`;
  const seal = (text: string, accountId: number): string => {
    if (!current) return text;
    const dataKey = randomBytes(KEY_BYTES);
    return `${PREFIX}${wrap(current, dataKey)}:${encrypt(dataKey, Buffer.from(text), owner(accountId))}`;
  };
  return {
    keyId: current?.id,
    seal,
    open: (stored, accountId) => {
      const sealed = parse(stored);
      if (!sealed) return stored;
      const refusal = `the stored secret or headers of a webhook of account ${accountId} are damaged, or belong to another account`;
      return decrypt(unwrap(sealed, accountId), sealed.text, owner(accountId), refusal).toString();
    },
    renew: (stored, accountId) => {
      const sealed = parse(stored);
      if (!current || sealed?.keyId === current.id) return undefined;
      if (!sealed) return seal(stored, accountId);
      return `${PREFIX}${wrap(current, unwrap(sealed, accountId))}:${sealed.text}`;
    },
  };
}

const owner = (accountId: number): string => `webhook of account ${accountId}`;

/** Parts of a sealed text. */
interface Sealed {
  readonly keyId: string;
  /** The wrapped data key. */
  readonly dataKey: string;
  /** The encrypted text. */
  readonly text: string;
}

function parse(stored: string): Sealed | undefined {
  if (!stored.startsWith(PREFIX)) return undefined;
  const [keyId = '', dataKey = '', text = ''] = stored.slice(PREFIX.length).split(':');
  return { keyId, dataKey, text };
}

/** @returns base64url of nonce, ciphertext and tag. @param context a text; `decrypt` needs the same text. */
function encrypt(key: Buffer, bytes: Buffer, context: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

/** @throws {Error} with the message `refusal` unless `text` is a result of `encrypt` with this key and context. */
function decrypt(key: Buffer, text: string, context: string, refusal: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch (error) {
    throw new Error(refusal, { cause: error });
  }
}
