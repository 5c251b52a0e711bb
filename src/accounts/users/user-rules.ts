/** Who may change whom, and into what (R-B8). Pure; who is who comes from the database. */

export type RoleName = 'ADMIN' | 'MANAGER' | 'USER';

export interface Changer {
  readonly userId: string;
  readonly role: RoleName;
  /** Accounts the changer is a member of. */
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

/** An ADMIN may change everybody; a MANAGER whoever is in no account but theirs, and is no ADMIN; a USER nobody. */
export function planUserChange(changer: Changer, changed: Changed): ChangeDecision {
  if (changer.role === 'ADMIN') return ALLOWED;
  if (changer.role === 'USER') return refuse('users are changed by managers');
  if (changed.role === 'ADMIN') return refuse('an ADMIN is changed by an ADMIN');
  const isAllTheirs = changed.accountIds.every((id) => changer.accountIds.includes(id));
  return isAllTheirs ? ALLOWED : refuse('the user also belongs to accounts that are not yours');
}

/** Nobody gives a role above their own. */
export function planRoleGrant(changer: Pick<Changer, 'role'>, granted: RoleName): ChangeDecision {
  return RANK[granted] <= RANK[changer.role] ? ALLOWED : refuse(`the role ${granted} is given by an ADMIN`);
}

/** The highest of several roles; USER when there is none. */
export function highestRole(roles: readonly RoleName[]): RoleName {
  return roles.reduce<RoleName>((highest, role) => (RANK[role] > RANK[highest] ? role : highest), 'USER');
}

function refuse(reason: string): ChangeDecision {
  return { kind: 'refused', reason };
}
