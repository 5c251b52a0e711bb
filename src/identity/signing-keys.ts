/**
 * The issuer's keys live in the database: every process signs with the same ones, and a process without the issuer can
 * verify tokens without reaching it. Made at first start; several first starts at once agree through a lock.
 */
import { randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JSONWebKeySet, type JWK } from 'jose';
import { type Database, type Queryable, withTransaction } from '../platform/database.ts';

const FIRST_START_LOCK_KEY = 0x6964_6b79;
const COOKIE_KEY_BYTES = 32;
/** RS256 rather than ES256: a token is signed once and verified on every call, and RSA verifies faster. */
export const SIGNING_ALGORITHM = 'RS256';

const PUBLIC_MEMBERS = ['kty', 'n', 'e', 'crv', 'x', 'y', 'kid', 'alg', 'use'] as const;

export interface IssuerKeys {
  /** Private keys, the one to sign with first. */
  readonly jwks: { readonly keys: readonly JWK[] };
  /** The first signs, all verify. */
  readonly cookieKeys: readonly string[];
}

/** The keys of the issuer, made now if there are none. */
export async function getIssuerKeys(database: Database): Promise<IssuerKeys> {
  return withTransaction(database, async (transaction) => {
    await transaction.query('select pg_advisory_xact_lock($1)', [FIRST_START_LOCK_KEY]);
    return {
      jwks: {
        keys: await findOrMake(
          () => findPrivateKeys(transaction),
          () => writeSigningKey(transaction),
        ),
      },
      cookieKeys: await findOrMake(
        () => findCookieKeys(transaction),
        () => writeCookieKey(transaction),
      ),
    };
  });
}

/** The public halves, as a JWKS; empty before the issuer's first start. */
export async function findPublicKeys(database: Queryable): Promise<JSONWebKeySet> {
  const keys = await findPrivateKeys(database);
  const publicEntries = (key: JWK) => PUBLIC_MEMBERS.flatMap((name) => (key[name] ? [[name, key[name]]] : []));
  return { keys: keys.map((key) => Object.fromEntries(publicEntries(key)) as JWK) };
}

async function findOrMake<Key>(find: () => Promise<readonly Key[]>, make: () => Promise<void>) {
  const found = await find();
  if (found.length > 0) return found;
  await make();
  return find();
}

async function findPrivateKeys(database: Queryable): Promise<readonly JWK[]> {
  const { rows } = await database.query<{ private_jwk: JWK }>(
    `select private_jwk from signing_key order by state = 'active' desc, created_date desc`,
  );
  return rows.map((row) => row.private_jwk);
}

async function writeSigningKey(database: Queryable): Promise<void> {
  const { privateKey } = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  await database.query('insert into signing_key (kid, algorithm, private_jwk) values ($1, $2, $3)', [
    kid,
    SIGNING_ALGORITHM,
    { ...jwk, kid, alg: SIGNING_ALGORITHM, use: 'sig' },
  ]);
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
