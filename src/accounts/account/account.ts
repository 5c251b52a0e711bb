/** Reads and changes accounts (§4.1, R-C1). */
import { z } from 'zod';
import type { Caller } from '../../identity/caller/caller.ts';
import { isReached, readReach } from '../../identity/caller/site-reach.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { lenientObject } from '../../platform/http/lenient.ts';
import { MAX_VERSION_LIMIT } from '../../platform/limits.ts';
import type { Listing } from '../../platform/streaming/stream-listing.ts';
import { timeZoneSchema } from '../../structure/catalogue/time-zones.ts';
import { emailSchema, languageSchema, nameSchema, shortTextSchema, shown } from '../field-schemas.ts';
import { IS_ALLOWED_ACCOUNT } from '../users/user-info.ts';

export type AccountDisplayLevel = 'Light' | 'Normal' | 'Verbose';
export const ACCOUNT_DISPLAY_LEVEL: Readonly<Record<AccountDisplayLevel, number>> = { Light: 0, Normal: 1, Verbose: 2 };

/**
 * SQL of each JSON member of an account. Only sites, sources and variables that the caller may see are counted:
 * parameters 3 to 5 are the id lists of `Reach` (R-B9).
 */
const MEMBERS = {
  id: 'a.id',
  name: 'a.name',
  language: 'a.language',
  timeZoneId: 'a.time_zone_id',
  currency: 'a.currency',
  smsSettings: `jsonb_build_object('senderName', a.sms_sender_name)`,
  emailSettings: `jsonb_build_object('senderName', a.email_sender_name, 'replyTo', a.email_reply_to)`,
  versionLimit: 'a.version_limit',
  createdDate: 'a.created_date',
  siteCount: `(select count(*)::int from site s where s.account_id = a.id
    and ($5::int[] is null or s.id = any($5)))`,
  sourceCount: `(select count(*)::int from source s where s.account_id = a.id
    and ${isReached('s.site_id', 's.id', '$3', '$4')})`,
  variableCount: `(select count(*)::int from variable v join source s on s.id = v.source_id where v.account_id = a.id
    and ${isReached('s.site_id', 's.id', '$3', '$4')})`,
  userCount: '(select count(*)::int from account_member m where m.account_id = a.id)',
} as const;

export type AccountMember = keyof typeof MEMBERS;
export const ACCOUNT_MEMBERS = Object.keys(MEMBERS) as readonly AccountMember[];

const LIGHT = ['id', 'name'] as const;
const COUNTS = ['siteCount', 'sourceCount', 'variableCount', 'userCount'] as const;

export const ACCOUNT_LEVELS: Readonly<Record<AccountDisplayLevel, readonly AccountMember[]>> = {
  Light: LIGHT,
  Normal: ACCOUNT_MEMBERS.filter((name) => !COUNTS.some((count) => count === name)),
  Verbose: ACCOUNT_MEMBERS,
};

export type AccountObject = Readonly<Partial<Record<AccountMember, unknown>>>;

export const currencySchema = z
  .string()
  .trim()
  .toUpperCase()
  .regex(/^[A-Z]{3}$/, { error: ({ input }) => `must be an ISO 4217 currency code such as EUR, got ${shown(input)}` });

/**
 * JSON members that a client may write. An absent member keeps its value; null clears `currency`, `smsSettings`,
 * `emailSettings` and their members. Members that are not listed here are ignored.
 */
export const accountSchema = lenientObject({
  name: nameSchema.optional(),
  language: languageSchema.optional(),
  timeZoneId: timeZoneSchema.optional(),
  currency: currencySchema.nullish(),
  smsSettings: lenientObject({ senderName: shortTextSchema.nullish() }).nullish(),
  emailSettings: lenientObject({ senderName: shortTextSchema.nullish(), replyTo: emailSchema.nullish() }).nullish(),
  versionLimit: z.int().min(1).max(MAX_VERSION_LIMIT).optional(),
});

export type WrittenAccount = z.output<typeof accountSchema>;

/**
 * @returns the caller's account with only the requested JSON members (R-C1).
 * @throws {DomainError} not_found when the account was deleted.
 */
export async function getAccount(
  database: Queryable,
  caller: Caller,
  members: readonly AccountMember[],
): Promise<AccountObject> {
  const { siteIds, sourceIds, shownSiteIds } = readReach(caller);
  const { rows } = await database.query<AccountObject>(
    `select ${columnsOf(members)} from account a
     where a.id = $1 and $2::text is not null and ($3::int[], $4::int[], $5::int[]) is not distinct from ($3, $4, $5)`,
    [caller.accountId, caller.userId, siteIds, sourceIds, shownSiteIds],
  );
  const [account] = rows;
  if (!account) throw new DomainError('not_found', `account ${caller.accountId} does not exist`);
  return account;
}

/** @returns the accounts the caller may use, sorted by name. An ADMIN may use all accounts (R-B8). */
export function listAccounts({ userId, role }: Caller): Listing<number, AccountObject> {
  const order = 'order by lower(a.name), a.id';
  return {
    keys: `select a.id as key, 2000 as bytes from account a where ${IS_ALLOWED_ACCOUNT} ${order}`,
    values: [userId, role],
    read: async (queryable, ids) => {
      const { rows } = await queryable.query<AccountObject>(
        `select ${columnsOf(ACCOUNT_LEVELS.Normal)} from account a where a.id = any($1::int[]) ${order}`,
        [ids],
      );
      return rows;
    },
  };
}

/** Counts the accounts that the caller may use. */
export async function countAccounts(database: Queryable, { userId, role }: Caller): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `select count(*) from account a where ${IS_ALLOWED_ACCOUNT}`,
    [userId, role],
  );
  return rows[0]?.count ?? 0;
}

/** @returns true when the caller may use the account: as a member, or as an ADMIN (R-B8). */
export async function isAllowedOn(database: Queryable, { userId, role }: Caller, accountId: number): Promise<boolean> {
  const { rowCount } = await database.query(`select from account a where a.id = $3 and ${IS_ALLOWED_ACCOUNT}`, [
    userId,
    role,
    accountId,
  ]);
  return rowCount === 1;
}

/** @returns true when an account with this id exists. */
export async function accountExists(database: Queryable, accountId: number): Promise<boolean> {
  const { rowCount } = await database.query('select from account where id = $1', [accountId]);
  return rowCount === 1;
}

/** Updates in the account's row only the members that the JSON object has (R-C1). @returns their names. */
export async function saveAccount(
  database: Queryable,
  accountId: number,
  written: WrittenAccount,
): Promise<readonly string[]> {
  const columns = Object.entries(toColumns(written)).filter(([, value]) => value !== undefined);
  if (columns.length === 0) return [];
  const assignments = columns.map(([column], index) => `${column} = $${index + 2}`).join(', ');
  await database.query(`update account set ${assignments} where id = $1`, [
    accountId,
    ...columns.map(([, value]) => value),
  ]);
  return Object.keys(written).filter((name) => written[name as keyof WrittenAccount] !== undefined);
}

/**
 * @returns the new value of each column; undefined for a column that keeps its stored value. `smsSettings: null` and
 * `emailSettings: null` clear every column of their group.
 */
function toColumns({ smsSettings: sms, emailSettings: email, ...account }: WrittenAccount) {
  const inGroup = (group: object | null | undefined, value: string | null | undefined) =>
    group === null ? null : value;
  return {
    name: account.name,
    language: account.language,
    time_zone_id: account.timeZoneId,
    currency: account.currency,
    sms_sender_name: inGroup(sms, sms?.senderName),
    email_sender_name: inGroup(email, email?.senderName),
    email_reply_to: inGroup(email, email?.replyTo),
    version_limit: account.versionLimit,
  };
}

function columnsOf(members: readonly AccountMember[]): string {
  return members.map((name) => `${MEMBERS[name]} as "${name}"`).join(', ');
}
