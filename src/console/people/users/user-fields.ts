/** Converts a stored user to the fields of the user form. Pure. */
import type { components } from '../../api/openapi.d.ts';
import type { Role } from '../../session/session.tsx';

export type User = components['schemas']['UserInfoViewModel'];

/** Claim types that permit pushing (R-B8). */
export const PERMISSIONS = ['datapusher.standard', 'datapusher.custom'] as const;

export interface UserFields {
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly phoneNumber: string;
  readonly language: string;
  readonly role: Role;
}

/** @returns the fields of a stored user. */
export function toUserFields({ firstName, lastName, email, phoneNumber, language, roles }: User): UserFields {
  const names = roles.map(({ name }) => name);
  return {
    ...{ firstName: firstName ?? '', lastName: lastName ?? '', email: email ?? '', phoneNumber: phoneNumber ?? '' },
    ...{ language, role: (['ADMIN', 'MANAGER'] as const).find((name) => names.includes(name)) ?? 'USER' },
  };
}

interface Named {
  readonly userName: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
}

/** @returns the first name and the last name. If neither is given, returns the user name. */
export function nameOf({ userName, firstName, lastName }: Named): string {
  return [firstName, lastName].filter(Boolean).join(' ') || userName;
}

/** @returns the roles that the signed-in user may assign. @param mine role of the signed-in user. */
export function rolesToGive(mine: Role): readonly Role[] {
  return mine === 'ADMIN' ? ['USER', 'MANAGER', 'ADMIN'] : ['USER', 'MANAGER'];
}
