/**
 * Maps a token of another issuer to a user (R-B5). Tries these users in order:
 * - the user who is linked to the token's `sub`;
 * - the user whose id is the `sub`;
 * - with EXTERNAL_USERS=email, the user with the token's verified email address;
 * - with EXTERNAL_USERS=businessId, the user with the token's BusinessId.
 * A user found by email address or BusinessId is linked to the token's `sub`, so later tokens find the same user.
 */
import type { Queryable } from '../../platform/database/database.ts';
import { isStorableText } from '../../platform/database/storable-text.ts';
import type { VerifiedToken } from './verify-token.ts';

export type ExternalUsers = 'sub' | 'email' | 'businessId';

type Identified = Pick<VerifiedToken, 'issuer' | 'subject' | 'verifiedEmail' | 'businessId'>;

/** @returns the user's id; undefined when no user or more than one matches (R-B5). */
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
  const [condition, value] = conditionOf(token, how);
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

function conditionOf(
  { subject, verifiedEmail, businessId }: Identified,
  how: ExternalUsers,
): readonly [condition: string, value: string | undefined] {
  switch (how) {
    case 'sub':
      return ['false', undefined];
    case 'email':
      return ['lower(email) = lower($1)', verifiedEmail];
    case 'businessId':
      // If the token has no claim `businessId`, the `sub` counts as the BusinessId (§5).
      return ['business_id = $1', businessId ?? subject];
  }
}
