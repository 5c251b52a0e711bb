/**
 * Hashes and verifies passwords and client secrets (R-B11) with argon2id. The PHC string stores the parameters with the
 * hash, so that the parameters can be raised later. Hashing runs in the thread pool, not on the event loop.
 */
import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const argon2Async = promisify(argon2) as (algorithm: 'argon2id', parameters: Argon2Parameters) => Promise<Buffer>;

// OWASP's parameters for argon2id with little memory: 19 MiB, two passes. A hash takes about 40 ms on the
// two-core reference machine.
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const PHC_PATTERN = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;

/** @returns the PHC string of a secret, with a new salt (R-B11). */
export async function hashSecret(secret: string): Promise<string> {
  const nonce = randomBytes(SALT_BYTES);
  const hash = await argon2Async('argon2id', {
    message: secret,
    nonce,
    memory: MEMORY_KIB,
    passes: PASSES,
    parallelism: LANES,
    tagLength: HASH_BYTES,
  });
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${base64(nonce)}$${base64(hash)}`;
}

/**
 * Returns true when `secret` matches the hash in `phc` (R-B11). When `phc` is missing, because the name is unknown or
 * has no password, does the same work and returns false, so that the duration does not reveal whether a name exists.
 * @throws {Error} when `phc` is not an argon2id PHC string.
 */
export async function verifySecret(secret: string, phc: string | null | undefined): Promise<boolean> {
  if (!phc) {
    await hashSecret(secret);
    return false;
  }
  const [, memory, passes, parallelism, nonce, expected] = PHC_PATTERN.exec(phc) ?? [];
  if (!nonce || !expected) throw new Error('a stored secret must be an argon2id PHC string');
  const expectedHash = Buffer.from(expected, 'base64');
  const hash = await argon2Async('argon2id', {
    message: secret,
    nonce: Buffer.from(nonce, 'base64'),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expectedHash.length,
  });
  return timingSafeEqual(hash, expectedHash);
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
