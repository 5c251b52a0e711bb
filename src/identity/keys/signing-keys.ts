/**
 * The issuer's keys, stored in the database, so that all processes use the same keys and verify tokens without calling
 * the issuer. The first start creates the keys; signing keys are rotated later. An advisory lock ensures that only one
 * process at a time creates or rotates keys.
 */
import { randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JSONWebKeySet, type JWK } from 'jose';
import { type Database, type Queryable, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { type KeyPlan, type KeyPolicy, planSigningKeys } from './signing-key-rules.ts';

const FIRST_START_LOCK_KEY = 0x6964_6b79;
const COOKIE_KEY_BYTES = 32;
/** RS256 rather than ES256: tokens are verified more often than signed, and RSA verifies faster. */
export const SIGNING_ALGORITHM = 'RS256';

const DAY_MS = 86_400_000;
/**
 * `publishAheadMs` exceeds the time for which verifiers cache a key set (key-cache.ts); `keepMs` exceeds the lifetime
 * of an access token.
 */
export const DEFAULT_KEY_POLICY: KeyPolicy = {
  rotateAfterMs: 90 * DAY_MS,
  publishAheadMs: 900_000,
  keepMs: 2 * DAY_MS,
};

const PUBLIC_MEMBERS = ['kty', 'n', 'e', 'crv', 'x', 'y', 'kid', 'alg', 'use'] as const;

export interface IssuerKeys {
  /** Private signing keys; the first one signs. */
  readonly jwks: { readonly keys: readonly JWK[] };
  /** Secrets that sign cookies. The first one signs new cookies; a cookie signed with any of them is valid. */
  readonly cookieKeys: readonly string[];
}

/**
 * Updates the issuer's keys and returns them. Creates a signing key when none exists or the newest one needs a
 * successor, and deletes expired signing keys (`planSigningKeys`). Creates a cookie key when none exists.
 */
export async function getIssuerKeys(database: Database, policy: KeyPolicy = DEFAULT_KEY_POLICY): Promise<IssuerKeys> {
  return withTransaction(database, async (transaction) => {
    await transaction.query('select pg_advisory_xact_lock($1)', [FIRST_START_LOCK_KEY]);
    const keys = await maintainKeys(transaction, policy);
    if ((await findCookieKeys(transaction)).length === 0) await writeCookieKey(transaction);
    return { jwks: { keys }, cookieKeys: await findCookieKeys(transaction) };
  });
}

/**
 * Creates a key. The key begins to sign after it has been published for long enough, or immediately if it is the only
 * key.
 * @returns the id of the key.
 */
export async function addSigningKey(transaction: Transaction): Promise<string> {
  await transaction.query('select pg_advisory_xact_lock($1)', [FIRST_START_LOCK_KEY]);
  return writeSigningKey(transaction);
}

/** A signing key as administrators see it. */
export interface DescribedKey {
  readonly kid: string;
  readonly algorithm: string;
  /**
   * - Next: is published, and will sign later.
   * - Signing: signs new tokens.
   * - Verifying: only verifies the tokens that it signed earlier.
   */
  readonly state: 'Next' | 'Signing' | 'Verifying';
  readonly createdDate: string;
  /** The instant at which a key in the state Next begins to sign; null in the other states. */
  readonly signsFrom: string | null;
}

/** @returns the signing keys with their states, the newest first. */
export async function describeSigningKeys(database: Queryable): Promise<readonly DescribedKey[]> {
  const policy = DEFAULT_KEY_POLICY;
  const stored = await findStoredKeys(database);
  const { signingKid } = plan(stored, policy);
  const signing = stored.findIndex(({ kid }) => kid === signingKid);
  return stored.map(({ kid, algorithm, createdDate }, index) => {
    const state = index < signing ? 'Next' : index === signing ? 'Signing' : 'Verifying';
    const signsFrom = new Date(Date.parse(createdDate) + policy.publishAheadMs).toISOString();
    return { kid, algorithm, state, createdDate, signsFrom: state === 'Next' ? signsFrom : null };
  });
}

async function maintainKeys(database: Queryable, policy: KeyPolicy): Promise<readonly JWK[]> {
  let stored = await findStoredKeys(database);
  if (plan(stored, policy).isNewDue) {
    await writeSigningKey(database);
    stored = await findStoredKeys(database);
  }
  const { signingKid, expiredKids } = plan(stored, policy);
  await database.query('delete from signing_key where kid = any($1)', [expiredKids]);
  const kept = stored.filter(({ kid }) => !expiredKids.includes(kid));
  const [signing, others] = [
    kept.filter(({ kid }) => kid === signingKid),
    kept.filter(({ kid }) => kid !== signingKid),
  ];
  return [...signing, ...others].map(({ jwk }) => jwk);
}

/**
 * Applies the policy to the ages of the keys. The database measures the ages, because the clocks of processes differ.
 */
function plan(stored: readonly StoredKey[], policy: KeyPolicy): KeyPlan {
  const ages = stored.map(({ kid, ageMs }) => ({ kid, createdMs: -ageMs }));
  return planSigningKeys(ages, 0, policy);
}

/** @returns the public keys as a JWKS; empty before the issuer's first start. */
export async function findPublicKeys(database: Queryable): Promise<JSONWebKeySet> {
  const keys = (await findStoredKeys(database)).map(({ jwk }) => jwk);
  const publicEntries = (key: JWK) => PUBLIC_MEMBERS.flatMap((name) => (key[name] ? [[name, key[name]]] : []));
  return { keys: keys.map((key) => Object.fromEntries(publicEntries(key)) as JWK) };
}

interface StoredKey {
  readonly kid: string;
  readonly algorithm: string;
  readonly createdDate: string;
  readonly jwk: JWK;
  readonly ageMs: number;
}

async function findStoredKeys(database: Queryable): Promise<readonly StoredKey[]> {
  const { rows } = await database.query<StoredKey>(
    `select kid, algorithm, created_date as "createdDate", private_jwk as jwk,
       (extract(epoch from clock_timestamp() - created_date) * 1000)::float8 as "ageMs"
     from signing_key order by created_date desc`,
  );
  return rows;
}

async function writeSigningKey(database: Queryable): Promise<string> {
  const { privateKey } = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  await database.query('insert into signing_key (kid, algorithm, private_jwk) values ($1, $2, $3)', [
    kid,
    SIGNING_ALGORITHM,
    { ...jwk, kid, alg: SIGNING_ALGORITHM, use: 'sig' },
  ]);
  return kid;
}

async function findCookieKeys(database: Queryable): Promise<readonly string[]> {
  const { rows } = await database.query<{ value: string }>('select value from cookie_key order by id desc');
  return rows.map((row) => row.value);
}

async function writeCookieKey(database: Queryable): Promise<void> {
  await database.query('insert into cookie_key (value) values ($1)', [
    randomBytes(COOKIE_KEY_BYTES).toString('base64url'),
  ]);
}
