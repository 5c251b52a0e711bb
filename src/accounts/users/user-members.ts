/**
 * Writable members of a user, and the columns that store them. POST accepts a user in the form that GET returns (R-C,
 * R-C2).
 */
import { z } from 'zod';
import type { Queryable } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { lenientObject } from '../../platform/http/lenient.ts';
import {
  claimsSchema,
  emailSchema,
  featuresSchema,
  languageSchema,
  roleSchema,
  shortTextSchema,
  sitesSchema,
  userNameSchema,
} from '../field-schemas.ts';
import { takenText } from './create-user.ts';

/**
 * An absent member keeps its value. Null clears pseudo, first name, last name, email address, phone number and business
 * id, and resets the language of an existing user to English. A null for any other member has no effect. Read-only
 * members (lock, accounts, dates) are ignored.
 */
export const userSchema = lenientObject({
  userName: z.preprocess((name) => name ?? undefined, userNameSchema.optional()),
  pseudo: shortTextSchema.nullish(),
  firstName: shortTextSchema.nullish(),
  lastName: shortTextSchema.nullish(),
  email: emailSchema.nullish(),
  phoneNumber: shortTextSchema.nullish(),
  language: languageSchema.nullish(),
  roles: z.array(roleSchema).nullish(),
  claims: claimsSchema.nullish(),
  features: featuresSchema.nullish(),
  secondaryAccesses: featuresSchema.nullish(),
  sites: sitesSchema.nullish(),
  businessKeys: lenientObject({ businessId: shortTextSchema.nullish() }).nullish(),
});

export type WrittenUser = z.output<typeof userSchema>;

const COLUMNS = {
  userName: 'user_name',
  pseudo: 'pseudo',
  firstName: 'first_name',
  lastName: 'last_name',
  email: 'email',
  phoneNumber: 'phone_number',
  language: 'language',
} as const satisfies Partial<Record<keyof WrittenUser, string>>;

const UNIQUE_VIOLATION = '23505';

/**
 * @returns the columns of `app_user` that `user` sets, each with its new value (R-C2). Never returns the column `role`.
 */
export function givenColumns(user: WrittenUser): readonly (readonly [column: string, value: string | null])[] {
  const entries = Object.entries(COLUMNS).flatMap(([name, column]) => {
    const value = user[name as keyof typeof COLUMNS];
    return value === undefined ? [] : [[column, name === 'language' ? (value ?? 'en') : value] as const];
  });
  const businessId = user.businessKeys?.businessId;
  return businessId === undefined ? entries : [...entries, ['business_id', businessId || null] as const];
}

/**
 * Writes the columns that `givenColumns` returns (R-C2).
 * @throws {DomainError} conflict when the user name is taken.
 */
export async function writeUserColumns(database: Queryable, userId: string, user: WrittenUser): Promise<void> {
  const columns = givenColumns(user);
  if (columns.length === 0) return;
  const assignments = columns.map(([column], index) => `${column} = $${index + 2}`).join(', ');
  await guardUserName(user.userName ?? '', () =>
    database.query(`update app_user set ${assignments} where id = $1`, [userId, ...columns.map(([, value]) => value)]),
  );
}

/**
 * Runs a statement that sets a user name.
 * @throws {DomainError} conflict when another user has this name; letter case is ignored.
 */
export async function guardUserName<Result>(userName: string, write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
    throw new DomainError('conflict', takenText(userName));
  }
}
