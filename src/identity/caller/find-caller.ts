/**
 * Finds the caller of a verified token. Role, lock, membership, permissions and sites come from the database, not from
 * the token (R-B5), and are cached for ACCESS_CACHE_SEC. So locking or removing a user takes effect before the user's
 * tokens expire.
 */
import { type Clock, systemClock } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { type ExternalUsers, findExternalUser } from '../authentication/find-external-user.ts';
import type { VerifiedToken } from '../authentication/verify-token.ts';
import { passwordFingerprintSql, tokensValidFromSql } from '../passwords/password-fingerprint.ts';
import type { Actor, Caller, Role, SiteGrant } from './caller.ts';

const MAX_CACHED = 10_000;
const REVOKED = 'the token was revoked; sign in again';
/** How users of other issuers are found, for each value of EXTERNAL_USERS. An error message quotes these texts. */
const IDENTIFYING: Readonly<Record<ExternalUsers, string>> = {
  sub: 'the user is identified by the claim "sub"',
  email: 'the user is identified by the claim "sub" or, if no user has this sub, by the verified email address',
  businessId: 'the user is identified by the claim "sub" or, if no user has this sub, by businessId',
};

/**
 * @throws {DomainError} invalid_token (user removed or locked, token revoked, impersonation ended); permission_denied
 *   (no access to the account).
 */
export type FindCaller = (token: VerifiedToken) => Promise<Caller>;

export interface CallerCache extends FindCaller {
  /** @returns the cached caller; undefined when none is cached or the token is revoked. */
  findCached(token: VerifiedToken): Caller | undefined;
  /** Removes users from the cache; undefined means all users. Call it after a change to the users is committed. */
  invalidate(userIds: readonly string[] | undefined): void;
}

export interface CallerCacheOptions {
  readonly database: Queryable;
  /** Seconds for which a caller is cached: config.ACCESS_CACHE_SEC. */
  readonly cacheSec: number;
  readonly clock?: Clock;
  /**
   * URL of the embedded issuer, in whose tokens `sub` is a user's id. If `ownIssuer` is undefined, `sub` is a user's id
   * in the tokens of every issuer.
   */
  readonly ownIssuer?: string;
  /** How users of other issuers are identified: config.EXTERNAL_USERS. */
  readonly externalUsers?: ExternalUsers;
}

interface Access {
  readonly caller: Omit<Caller, 'scopes'>;
  readonly validity: TokenValidity;
}

/** Values that decide which tokens of the user are still valid. */
interface TokenValidity {
  /** Unix seconds; tokens issued before this instant are revoked. */
  readonly tokensValidFromSec: number;
  /** Null when the user has no password or has a temporary password. */
  readonly passwordFingerprint: string | null;
}

interface Entry {
  readonly access: Promise<Access>;
  readonly untilMs: number;
  /** Result of the promise `access`; undefined until it resolves. */
  resolved?: Access;
}

interface AccessRow {
  readonly id: string;
  readonly user_name: string;
  readonly role: Role;
  readonly is_locked: boolean;
  readonly account_id: number | null;
  readonly permissions: readonly string[];
  readonly sites: readonly SiteGrant[];
  readonly tokens_valid_from_sec: number;
  readonly password_fingerprint: string | null;
}

/**
 * Creates the cache (R-B5). Concurrent calls for the same user, account and impersonating ADMIN share one query.
 * Refusals are not cached.
 * @returns the cache, which is itself a `FindCaller`.
 */
export function createCallerCache(options: CallerCacheOptions): CallerCache {
  const { cacheSec, clock = systemClock } = options;
  const cache = new Map<string, Entry>();
  const find: FindCaller = async (token) => {
    const now = clock.nowMillis();
    const key = keyOf(token);
    let entry = cache.get(key);
    if (!entry || entry.untilMs <= now) {
      const access = findAccess(options, token, new Date(now));
      const created: Entry = { access, untilMs: now + cacheSec * 1000 };
      entry = created;
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.set(key, created);
      access.then(
        (resolved) => {
          created.resolved = resolved;
        },
        () => {
          if (cache.get(key) === created) cache.delete(key);
        },
      );
    }
    const { caller, validity } = await entry.access;
    if (isRevoked(token, validity)) throw new DomainError('invalid_token', REVOKED);
    return { ...caller, scopes: token.scopes };
  };
  const findCached = (token: VerifiedToken): Caller | undefined => {
    const { resolved, untilMs = 0 } = cache.get(keyOf(token)) ?? {};
    if (!resolved || clock.nowMillis() >= untilMs || isRevoked(token, resolved.validity)) return undefined;
    return { ...resolved.caller, scopes: token.scopes };
  };
  return Object.assign(find, {
    findCached,
    invalidate: (userIds: readonly string[] | undefined) => invalidate(cache, userIds),
  });
}

/**
 * @returns true when the token was issued for a password that the user no longer has (R-B7), or when it was issued
 * before the user's tokens were revoked. A token that was issued in the same second as the revocation is valid, because
 * the token may be newer than the revocation.
 */
function isRevoked({ issuedSec, passwordFingerprint }: VerifiedToken, validity: TokenValidity): boolean {
  if (passwordFingerprint !== undefined && passwordFingerprint !== validity.passwordFingerprint) return true;
  return issuedSec !== undefined && issuedSec < validity.tokensValidFromSec;
}

/** @returns the cache key of the token. Building a key takes 0.2 µs. */
function keyOf({ issuer, subject, accountId, actorSubject }: VerifiedToken): string {
  return JSON.stringify([issuer, subject, accountId, actorSubject]);
}

/**
 * Removes the entries whose caller, or the ADMIN who impersonates the caller, is one of the changed users. Also removes
 * every entry whose query still runs, because that query may have read the user before the change.
 * @param userIds ids of the changed users; undefined removes all entries.
 */
function invalidate(cache: Map<string, Entry>, userIds: readonly string[] | undefined): void {
  for (const [key, { resolved }] of cache) {
    const concerns = (id: string) => id === resolved?.caller.userId || id === resolved?.caller.actor?.userId;
    if (userIds === undefined || resolved === undefined || userIds.some(concerns)) cache.delete(key);
  }
}

async function findAccess(options: CallerCacheOptions, token: VerifiedToken, now: Date): Promise<Access> {
  const { database } = options;
  const userId = await findUserId(options, token);
  const { rows } = await database.query<AccessRow>(ACCESS_SQL, [userId, token.accountId ?? null, now]);
  const [row] = rows;
  if (!row) throw new DomainError('invalid_token', `the user of the token, ${userId}, does not exist`);
  if (row.is_locked) throw new DomainError('invalid_token', `the user ${row.user_name} is locked`);
  if (row.account_id === null) throw new DomainError('permission_denied', noAccess(row.user_name, token.accountId));
  const found = await findActor(options, token, now);
  const tokensValidFromSec = Math.max(row.tokens_valid_from_sec, found?.tokensValidFromSec ?? 0);
  return {
    caller: { ...toCaller(row), accountId: row.account_id, ...(found && { actor: found.actor }) },
    validity: { tokensValidFromSec, passwordFingerprint: row.password_fingerprint },
  };
}

function noAccess(userName: string, accountId: number | undefined): string {
  if (accountId !== undefined) return `the user ${userName} has no access to account ${accountId}`;
  return `the user ${userName} has no accessible active account; put the id of an accessible account in the claim "account" of the token, or ask an ADMIN to add the user to an account`;
}

function toCaller(row: AccessRow) {
  return {
    userId: row.id,
    userName: row.user_name,
    role: row.role,
    permissions: new Set(row.permissions),
    sites: row.role === 'USER' ? row.sites : ('all' as const),
  };
}

/** @throws {DomainError} invalid_token when a token of another issuer matches no user or several users. */
async function findUserId(options: CallerCacheOptions, token: VerifiedToken): Promise<string> {
  const { database, ownIssuer, externalUsers = 'sub' } = options;
  if (ownIssuer === undefined || token.issuer === ownIssuer) return token.subject;
  const userId = await findExternalUser(database, token, externalUsers);
  if (userId !== undefined) return userId;
  const subject = `the token of ${token.issuer} with the sub ${JSON.stringify(token.subject)}`;
  const rule = `must match exactly one user; ${IDENTIFYING[externalUsers]} (EXTERNAL_USERS=${externalUsers})`;
  throw new DomainError('invalid_token', `${subject} ${rule}`);
}

/**
 * Finds the ADMIN who impersonates the user of a token (R-B14).
 * @returns undefined without impersonation.
 * @throws {DomainError} invalid_token when a token of another issuer names an impersonator, or when the impersonator is
 * not an unlocked ADMIN.
 */
async function findActor(
  { database, ownIssuer }: CallerCacheOptions,
  { actorSubject, issuer }: VerifiedToken,
  now: Date,
): Promise<{ readonly actor: Actor; readonly tokensValidFromSec: number } | undefined> {
  if (actorSubject === undefined) return undefined;
  const isOwn = ownIssuer === undefined || issuer === ownIssuer;
  const { rows } = await database.query<Actor & Pick<TokenValidity, 'tokensValidFromSec'>>(
    `select id as "userId", user_name as "userName", ${tokensValidFromSql('u')} as "tokensValidFromSec" from app_user u
     where id = $1 and role = 'ADMIN' and not (is_locked and coalesce(locked_until > $2, true))`,
    [isOwn ? actorSubject : null, now],
  );
  const [found] = rows;
  if (!found)
    throw new DomainError(
      'invalid_token',
      'impersonation requires a token of the embedded issuer, and an unlocked ADMIN as impersonator',
    );
  const { tokensValidFromSec, ...actor } = found;
  return { actor, tokensValidFromSec };
}

// Reads what the user may do in the account of the token, or in the active account when the token names none.
// Membership is required, except for an ADMIN.
const ACCESS_SQL = `
  select u.id, u.user_name, u.role, u.is_locked and coalesce(u.locked_until > $3, true) as is_locked,
         a.id as account_id, ${tokensValidFromSql('u')} as tokens_valid_from_sec, ${passwordFingerprintSql('u')} as password_fingerprint,
         array(select c.claim_type from user_claim c
               where c.account_id = a.id and c.user_id = u.id and lower(c.claim_value) <> 'false') as permissions,
         coalesce((select jsonb_agg(jsonb_build_object('siteId', s.site_id, 'level', s.level, 'sourceIds',
                     case when s.source_ids is not null
                          then array(select o.id from source o where o.site_id = s.site_id and o.id = any(s.source_ids)
                                     order by o.id) end) order by s.site_id)
                   from site_access s where s.user_id = u.id), '[]') as sites
  from app_user u
  left join account a on a.id = coalesce($2::int, u.active_account_id)
    and (u.role = 'ADMIN' or exists (select from account_member m where m.account_id = a.id and m.user_id = u.id))
  where u.id = $1`;
