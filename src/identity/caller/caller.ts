/**
 * The caller of a request: user, account, role and permissions. Features use only this value to decide what a request
 * may do. The value depends neither on the token's issuer, nor on whether the request came over HTTP or gRPC.
 */
import { DomainError } from '../../platform/errors.ts';

/**
 * A role and its reach. ADMIN: all accounts. MANAGER: the accounts of the user. USER: the sites and sources that the
 * user has access to (R-B8, R-B9).
 */
export type Role = 'ADMIN' | 'MANAGER' | 'USER';

/** Claim type that grants a permission (R-B8). */
export type Permission = 'datapusher.standard' | 'datapusher.custom';

export interface Caller {
  readonly userId: string;
  readonly userName: string;
  readonly accountId: number;
  readonly role: Role;
  readonly permissions: ReadonlySet<string>;
  readonly scopes: ReadonlySet<string>;
  /** Site access in all accounts. Read it through site-reach.ts, together with `accountId` (R-B9). */
  readonly sites: 'all' | readonly SiteGrant[];
  /** The ADMIN who impersonates the user; absent without impersonation (R-B14). */
  readonly actor?: Actor;
}

/** Access to a site. With Read, the user sees the site; with Write or Admin, the user may also push to it (R-C3). */
export interface SiteGrant {
  readonly siteId: number;
  readonly level: 'Read' | 'Write' | 'Admin';
  /** The user may access only these sources of the site; null means all sources of the site. */
  readonly sourceIds: readonly number[] | null;
}

/** An ADMIN who impersonates another user. */
export interface Actor {
  readonly userId: string;
  readonly userName: string;
}

const RANK: Readonly<Record<Role, number>> = { USER: 0, MANAGER: 1, ADMIN: 2 };

/**
 * Requires that the caller has the given role or a higher role (R-B8).
 * @throws {DomainError} permission_denied when the role of the caller is lower
 */
export function assertRole(caller: Caller, role: Role): void {
  if (RANK[caller.role] >= RANK[role]) return;
  throw new DomainError('permission_denied', `the caller must have the role ${role}, got ${caller.role}`);
}

/**
 * Requires that the caller has a permission in the caller's account. Users get permissions through claims (R-B8).
 * @throws {DomainError} permission_denied when the caller lacks the permission
 */
export function assertPermission(caller: Caller, permission: Permission): void {
  if (caller.permissions.has(permission)) return;
  throw new DomainError(
    'permission_denied',
    `the caller must have the permission ${permission} in account ${caller.accountId}; ask a manager or an ADMIN to grant it`,
  );
}
