/**
 * Who is calling, in which account, and what they may do. Features decide on this value alone; where it came from
 * (which issuer, which transport) does not concern them.
 */
import { DomainError } from '../../platform/errors.ts';

/** ADMIN: operator, all accounts. MANAGER: their accounts. USER: what site access grants (R-B8, R-B9). */
export type Role = 'ADMIN' | 'MANAGER' | 'USER';

/** What may be granted by a claim (R-B8). */
export type Permission = 'datapusher.standard' | 'datapusher.custom';

export interface Caller {
  readonly userId: string;
  readonly userName: string;
  readonly accountId: number;
  readonly role: Role;
  readonly permissions: ReadonlySet<string>;
  readonly scopes: ReadonlySet<string>;
  /** What site access grants, in whichever account: read it through site-reach.ts, beside `accountId` (R-B9). */
  readonly sites: 'all' | readonly SiteGrant[];
  /** Who really calls, when this is an impersonation (R-B14). */
  readonly actor?: Actor;
}

/** Access to a site: Read to see it, Write to push to it as well (R-C3). */
export interface SiteGrant {
  readonly siteId: number;
  readonly level: 'Read' | 'Write' | 'Admin';
  /** Those of the site, where only they were granted; null: all. */
  readonly sourceIds: readonly number[] | null;
}

/** An ADMIN who acts as somebody else. */
export interface Actor {
  readonly userId: string;
  readonly userName: string;
}

const RANK: Readonly<Record<Role, number>> = { USER: 0, MANAGER: 1, ADMIN: 2 };

/** @throws DomainError permission_denied unless the caller has the role or a higher one. */
export function assertRole(caller: Caller, role: Role): void {
  if (RANK[caller.role] >= RANK[role]) return;
  throw new DomainError('permission_denied', `this needs the role ${role}, the user is ${caller.role}`);
}

/** @throws DomainError permission_denied unless the permission was granted by a claim in this account (R-B8). */
export function assertPermission(caller: Caller, permission: Permission): void {
  if (caller.permissions.has(permission)) return;
  throw new DomainError('permission_denied', `this needs the permission ${permission} in account ${caller.accountId}`);
}
