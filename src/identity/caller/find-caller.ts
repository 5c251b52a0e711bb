/**
 * From a verified token to the caller: role, lock, membership, permissions and sites are the database's to say, not the
 * token's (R-B5). An answer is reused for a short while only, so that locking or removing somebody takes effect while
 * their token still lives.
 */
import { type Clock, systemClock } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { type ExternalUsers, findExternalUser } from '../authentication/find-external-user.ts';
import type { VerifiedToken } from '../authentication/verify-token.ts';
import { passwordFingerprintSql, tokensValidFromSql } from '../passwords/password-fingerprint.ts';
import type { Actor, Caller, Role, SiteGrant } from './caller.ts';

const MAX_CACHED = 10_000;

/** @throws DomainError invalid_token (removed, locked, of a password that was changed), permission_denied (no member). */
export type FindCaller = (token: VerifiedToken) => Promise<Caller>;

export interface CallerCache extends FindCaller {
  /** The caller as remembered; undefined: the database has to be asked. */
  findCached(token: VerifiedToken): Caller | undefined;
  /** Looks again at these users before the next answer, or at all; call it once their change is committed. */
  invalidate(userIds: readonly string[] | undefined): void;
}

export interface CallerCacheOptions {
  readonly database: Queryable;
  /** Seconds an answer may be reused: config.ACCESS_CACHE_SEC. */
  readonly cacheSec: number;
  readonly clock?: Clock;
  /** The embedded issuer, whose `sub` is our own id; undefined: every issuer's is. */
  readonly ownIssuer?: string;
  /** How users of other issuers are known: config.EXTERNAL_USERS. */
  readonly externalUsers?: ExternalUsers;
}

interface Access {
  readonly caller: Omit<Caller, 'scopes'>;
  readonly standing: Standing;
}

/** What a token is measured by, besides what its user may do. */
interface Standing {
  /** In seconds; tokens of before are void. */
  readonly tokensValidFromSec: number;
  /** null: the user has no password of their own choosing. */
  readonly passwordFingerprint: string | null;
}

interface Entry {
  readonly access: Promise<Access>;
  readonly untilMs: number;
  /** What the database has answered; undefined until then. */
  known?: Access;
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

/** Looks callers up; one user and account is asked for once at a time. Refusals are not kept. */
export function createCallerCache(options: CallerCacheOptions): CallerCache {
  const { cacheSec, clock = systemClock } = options;
  const cache = new Map<string, Entry>();
  const find: FindCaller = async (token) => {
    const now = clock.nowMillis();
    const key = keyOf(token);
    let entry = cache.get(key);
    if (!entry || entry.untilMs <= now) {
      const access = findAccess(options, token, new Date(now));
      const made: Entry = { access, untilMs: now + cacheSec * 1000 };
      entry = made;
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.set(key, made);
      access.then(
        (known) => {
          made.known = known;
        },
        () => {
          if (cache.get(key) === made) cache.delete(key);
        },
      );
    }
    const { caller, standing } = await entry.access;
    if (isVoid(token, standing)) throw new DomainError('invalid_token', 'the password has been changed since');
    return { ...caller, scopes: token.scopes };
  };
  const findCached = (token: VerifiedToken): Caller | undefined => {
    const { known, untilMs = 0 } = cache.get(keyOf(token)) ?? {};
    if (!known || clock.nowMillis() >= untilMs || isVoid(token, known.standing)) return undefined;
    return { ...known.caller, scopes: token.scopes };
  };
  return Object.assign(find, {
    findCached,
    invalidate: (userIds: readonly string[] | undefined) => invalidate(cache, userIds),
  });
}

/** Of a second in which the password was changed tokens are believed: it may have been the new one. */
function isVoid({ issuedSec, passwordFingerprint }: VerifiedToken, standing: Standing): boolean {
  if (passwordFingerprint !== undefined && passwordFingerprint !== standing.passwordFingerprint) return true;
  return issuedSec !== undefined && issuedSec < standing.tokensValidFromSec;
}

/** Key of the cache; making it takes 0.3 µs. */
function keyOf({ issuer, subject, accountId, actorSubject }: VerifiedToken): string {
  return JSON.stringify([issuer, subject, accountId, actorSubject]);
}

/** What is still being looked up may have been read before the change: it goes too. */
function invalidate(cache: Map<string, Entry>, userIds: readonly string[] | undefined): void {
  for (const [key, { known }] of cache) {
    const concerns = (id: string) => id === known?.caller.userId || id === known?.caller.actor?.userId;
    if (userIds === undefined || known === undefined || userIds.some(concerns)) cache.delete(key);
  }
}

async function findAccess(options: CallerCacheOptions, token: VerifiedToken, now: Date): Promise<Access> {
  const { database } = options;
  const userId = await findUserId(options, token);
  const { rows } = await database.query<AccessRow>(ACCESS_SQL, [userId ?? null, token.accountId ?? null, now]);
  const [row] = rows;
  if (!row) throw new DomainError('invalid_token', 'the user of the token does not exist');
  if (row.is_locked) throw new DomainError('invalid_token', `the user ${row.user_name} is locked`);
  if (row.account_id === null) throw new DomainError('permission_denied', 'the user has no access to the account');
  const found = await findActor(options, token, now);
  const tokensValidFromSec = Math.max(row.tokens_valid_from_sec, found?.tokensValidFromSec ?? 0);
  return {
    caller: { ...toCaller(row), accountId: row.account_id, ...(found && { actor: found.actor }) },
    standing: { tokensValidFromSec, passwordFingerprint: row.password_fingerprint },
  };
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

async function findUserId(options: CallerCacheOptions, token: VerifiedToken): Promise<string | undefined> {
  const { database, ownIssuer, externalUsers = 'sub' } = options;
  if (ownIssuer === undefined || token.issuer === ownIssuer) return token.subject;
  return findExternalUser(database, token, externalUsers);
}

/** Whoever acts as somebody else must still be allowed to (R-B14). @throws DomainError invalid_token. */
async function findActor(
  { database, ownIssuer }: CallerCacheOptions,
  { actorSubject, issuer }: VerifiedToken,
  now: Date,
): Promise<{ readonly actor: Actor; readonly tokensValidFromSec: number } | undefined> {
  if (actorSubject === undefined) return undefined;
  const isOwn = ownIssuer === undefined || issuer === ownIssuer;
  const { rows } = await database.query<Actor & Pick<Standing, 'tokensValidFromSec'>>(
    `select id as "userId", user_name as "userName", ${tokensValidFromSql('u')} as "tokensValidFromSec" from app_user u
     where id = $1 and role = 'ADMIN' and not (is_locked and coalesce(locked_until > $2, true))`,
    [isOwn ? actorSubject : null, now],
  );
  const [found] = rows;
  if (!found) throw new DomainError('invalid_token', 'the impersonation has ended');
  const { tokensValidFromSec, ...actor } = found;
  return { actor, tokensValidFromSec };
}

// The account of the token, or the active one for issuers that name none; membership is needed except for an ADMIN.
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
