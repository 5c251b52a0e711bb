/**
 * Which of our users a token of another issuer means (R-B5): whoever was linked to its `sub`; else the user of that id,
 * as when users were copied; else, as configured, the one of the mail address the issuer has verified, or of the
 * BusinessId. A user found in the last way is linked, so that an address given to somebody else later opens nothing.
 */
import type { Queryable } from '../../platform/database/database.ts';
import { isStorableText } from '../../platform/database/storable-text.ts';
import type { VerifiedToken } from './verify-token.ts';

export type ExternalUsers = 'sub' | 'email' | 'businessId';

type Identified = Pick<VerifiedToken, 'issuer' | 'subject' | 'verifiedEmail' | 'businessId'>;

/** undefined when nobody, or more than one, is meant. */
export async function findExternalUser(
  database: Queryable,
  token: Identified,
  how: ExternalUsers,
): Promise<string | undefined> {
  const { issuer, subject } = token;
  if (!isStorableText(subject)) return undefined;
  const { rows } = await database.query<{ id: string }>(
    `select user_id as id from user_identity where issuer = $1 and subject = $2
     union all
     select id from app_user where id = $2 and not exists (
       select from user_identity where issuer = $1 and subject = $2)`,
    [issuer, subject],
  );
  return rows[0]?.id ?? (await linkUser(database, token, how));
}

async function linkUser(database: Queryable, token: Identified, how: ExternalUsers): Promise<string | undefined> {
  const [condition, value] = wanted(token, how);
  if (value === undefined || !isStorableText(value)) return undefined;
  const { rows } = await database.query<{ id: string }>(`select id from app_user where ${condition} limit 2`, [value]);
  const [user, another] = rows;
  if (!user || another) return undefined;
  await database.query(
    'insert into user_identity (issuer, subject, user_id) values ($1, $2, $3) on conflict do nothing',
    [token.issuer, token.subject, user.id],
  );
  return user.id;
}

function wanted(
  { subject, verifiedEmail, businessId }: Identified,
  how: ExternalUsers,
): readonly [condition: string, value: string | undefined] {
  switch (how) {
    case 'sub':
      return ['false', undefined];
    case 'email':
      return ['lower(email) = lower($1)', verifiedEmail];
    case 'businessId':
      // Where users chose their identifier it was their sub, and is their BusinessId now (§5).
      return ['business_id = $1', businessId ?? subject];
  }
}
