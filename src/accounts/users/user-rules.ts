/** Decides which users a caller may change and which roles a caller may grant (R-B8). Pure. */

export type RoleName = 'ADMIN' | 'MANAGER' | 'USER';

export interface Changer {
  readonly userId: string;
  readonly role: RoleName;
  /** Ids of the accounts of the user who makes the change. */
  readonly accountIds: readonly number[];
}

export interface Changed {
  readonly userId: string;
  readonly role: RoleName;
  readonly accountIds: readonly number[];
}

export type ChangeDecision = { readonly kind: 'allowed' } | { readonly kind: 'refused'; readonly reason: string };

const RANK: Readonly<Record<RoleName, number>> = { USER: 0, MANAGER: 1, ADMIN: 2 };
const ALLOWED: ChangeDecision = { kind: 'allowed' };

/**
 * Decides whether a user may change another. An ADMIN may change every user (R-B8). A MANAGER may change a user other
 * than an ADMIN when the MANAGER is a member of all accounts of that user. A USER may change no user.
 */
export function planUserChange(changer: Changer, changed: Changed): ChangeDecision {
  if (changer.role === 'ADMIN') return ALLOWED;
  if (changer.role === 'USER') return refuse('only a MANAGER or an ADMIN may change users');
  if (changed.role === 'ADMIN') return refuse('only an ADMIN may change an ADMIN');
  const isAllTheirs = changed.accountIds.every((id) => changer.accountIds.includes(id));
  return isAllTheirs
    ? ALLOWED
    : refuse('the user also belongs to accounts you do not manage; only an ADMIN may change the user');
}

/** Decides whether a user may grant a role. A user may grant roles up to their own (R-B8). */
export function planRoleGrant(changer: Pick<Changer, 'role'>, granted: RoleName): ChangeDecision {
  return RANK[granted] <= RANK[changer.role]
    ? ALLOWED
    : refuse(`a user must not grant a role above their own, got ${granted}`);
}

/** @returns the highest of several roles; USER for an empty list (R-B8). */
export function highestRole(roles: readonly RoleName[]): RoleName {
  return roles.reduce<RoleName>((highest, role) => (RANK[role] > RANK[highest] ? role : highest), 'USER');
}

function refuse(reason: string): ChangeDecision {
  return { kind: 'refused', reason };
}
