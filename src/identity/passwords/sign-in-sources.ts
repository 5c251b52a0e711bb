/**
 * Counts wrong passwords per user and per network of the client (R-B11). So a guesser does not block the user's devices
 * in other networks. A network is known if the user has signed in from the network during the last 30 days. The code
 * calls the unknown networks strangers.
 *
 * - After `maxFailures` consecutive wrong passwords from one network, sign-in from this network is blocked.
 * - In a known network, a device (a client that uses HTTP Basic) is blocked only after 20 × `maxFailures` wrong
 *   passwords. So a guesser behind the same address does not stop the device. In an unknown network, a device is
 *   blocked after `maxFailures` wrong passwords, like any other client.
 * - If a device repeats one of the last 16 wrong passwords counted for the network, the password is not counted again.
 * - When wrong passwords from all unknown networks together reach 20 × `maxFailures`, sign-in from every unknown
 *   network is blocked. The wrong passwords from an unknown network count until `lockSec` seconds after the last wrong
 *   password from this network.
 * - A wrong password counts only after it has been checked, so parallel guesses can exceed a limit by a few.
 */
import { createHash } from 'node:crypto';
import type { Queryable } from '../../platform/database/database.ts';
import { eventLiteral } from '../../platform/database/outbox.ts';
import { isStorableText } from '../../platform/database/storable-text.ts';

export interface SignInPolicy {
  /** After this many consecutive wrong passwords from one network, sign-in from this network is blocked. */
  readonly maxFailures: number;
  /** Seconds for which sign-in stays blocked. */
  readonly lockSec: number;
  /** How many of the operator's proxies append to X-Forwarded-For. `clientNetwork` needs this number. */
  readonly proxyHops: number;
}

export interface Attempt {
  readonly network: string;
  readonly isDevice: boolean;
  readonly policy: SignInPolicy;
  readonly now: Date;
}

/** A user, and the number of wrong passwords that were entered for this user from the client's network. */
export interface SignInSource {
  readonly userId: string;
  readonly passwordHash: string | null;
  readonly mustChangePassword: boolean;
  /** Counter of wrong passwords for this user from all networks; shows whether one was counted meanwhile. */
  readonly failureCount: number;
  readonly wrongCount: number;
  readonly isLocked: boolean;
  /** Whether the user signed in with the right password from the client's network in the last 30 days. */
  readonly isKnown: boolean;
  readonly areStrangersLocked: boolean;
}

const MANY = 20;
const isKnown = (source: string, now: string) =>
  `coalesce(${source}.last_success_date > ${now}::timestamptz - interval '30 days', false)`;

const FIND = `
  select u.id as "userId", u.password_hash as "passwordHash", u.must_change_password as "mustChangePassword",
         u.failed_password_count as "failureCount", coalesce(source.wrong_count, 0) as "wrongCount",
         coalesce(source.locked_until > $2, false) as "isLocked", ${isKnown('source', '$2')} as "isKnown",
         coalesce(u.sign_in_locked_until > $2, false) as "areStrangersLocked"
  from app_user u left join sign_in_source source on source.user_id = u.id and source.network = $3
  where lower(u.user_name) = lower($1)`;

/**
 * Finds the user of a sign-in attempt, and the number of wrong passwords that `network` has sent for this user.
 * @returns undefined when no user has the name `userName`.
 */
export async function findSource(
  database: Queryable,
  userName: string,
  { network, now }: Attempt,
): Promise<SignInSource | undefined> {
  if (!isStorableText(userName)) return undefined;
  const { rows } = await database.query<SignInSource>(FIND, [userName.trim(), now, network]);
  return rows[0];
}

/** @returns true when the sign-in must be refused even if the password is right. */
export function isBlocked(source: SignInSource, { isDevice, policy }: Attempt): boolean {
  if (source.areStrangersLocked && !source.isKnown) return true;
  const isTrusted = isDevice && source.isKnown && source.wrongCount < MANY * policy.maxFailures;
  return source.isLocked && !isTrusted;
}

const SUCCEED = `
  with signed_in as (
    update app_user set last_login_date = $2
    where id = $1 and password_hash = $3 and failed_password_count = $4
    returning id
  )
  insert into sign_in_source (user_id, network, last_success_date, changed_date) select id, $5, $2, $2 from signed_in
  on conflict (user_id, network) do update
  set wrong_count = 0, wrong_marks = '{}', locked_until = null, last_success_date = excluded.last_success_date,
      changed_date = excluded.changed_date`;

/**
 * Records a sign-in, but only if the password and the failure count have not changed since `findSource`. So parallel
 * guesses cannot evade a block.
 * @returns false when nothing was recorded; the caller then calls `findSource` again.
 */
export async function writeSuccess(
  database: Queryable,
  { userId, passwordHash, failureCount }: SignInSource,
  { network, now }: Attempt,
): Promise<boolean> {
  const { rowCount } = await database.query(SUCCEED, [userId, now, passwordHash, failureCount, network]);
  return rowCount === 1;
}

const IS_REPEATED = `($8::boolean and $3::int = any(source.wrong_marks))`;
const NEW_COUNT = `case when source.locked_until <= $4 then 1 else source.wrong_count + 1 end`;

const REASON = 'too many wrong passwords';
const UNTIL = `to_char(until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

// Counts a wrong password, and sets the locks described at the top of this file. Announces each new lock as an event
// and in the audit trail. The commit is asynchronous, so its duration does not show whether the user exists. A crash
// may lose the last counts.
const FAIL = `
  with soon as materialized (select set_config('synchronous_commit', 'off', true)
  ), strangers as (
    select coalesce(sum(wrong_count), 0) + 1 as wrong_count,
           coalesce(bool_or(network = $2 and (${isKnown('source', '$4')} or ${IS_REPEATED})), false) as is_exempt
    from sign_in_source source
    where user_id = $1 and (network = $2 or changed_date > $7) and (network = $2 or not ${isKnown('source', '$4')})
  ), counted as (
    update app_user
    set failed_password_count = (failed_password_count + 1) % 1000000000,
        sign_in_locked_until = case when not strangers.is_exempt and strangers.wrong_count >= ${MANY} * $5::int
                                    then $6::timestamptz else sign_in_locked_until end
    from soon, strangers where id = $1
    returning id
  ), forgotten as (
    delete from sign_in_source where user_id = $1 and network <> $2 and changed_date < $4::timestamptz - interval '30 days'
  ), written as (
  insert into sign_in_source as source (user_id, network, wrong_count, wrong_marks, changed_date, locked_until)
  select id, $2, 1, array[$3::int], $4, case when $5 <= 1 then $6::timestamptz end from counted
  on conflict (user_id, network) do update
  set wrong_count = case when ${IS_REPEATED} then source.wrong_count else ${NEW_COUNT} end,
      wrong_marks = case when ${IS_REPEATED} then source.wrong_marks else ($3::int || source.wrong_marks)[1:16] end,
      changed_date = $4,
      locked_until = case when ${IS_REPEATED} then source.locked_until when ${NEW_COUNT} >= $5 then $6::timestamptz end
  returning user_id, wrong_count, locked_until
  ), locked as (
    select u.id, u.user_name, account_member.account_id, $6::timestamptz as until
    from written join strangers on true join app_user u on u.id = user_id join account_member using (user_id)
    where (written.wrong_count = $5 and written.locked_until = $6)
       or (not strangers.is_exempt and strangers.wrong_count >= ${MANY} * $5::int)
  ), announced as (
    insert into outbox_event (account_id, type, payload)
    select account_id, ${eventLiteral('UserLocked')},
           jsonb_build_object('id', id, 'userName', user_name, 'until', ${UNTIL}, 'reason', '${REASON}') from locked
  )
  insert into audit_entry (account_id, user_id, user_name, action, target_id, target_name, details)
  select account_id, 'service', 'service', 'UserLocked', id, user_name,
         jsonb_build_object('until', ${UNTIL}, 'reason', '${REASON}', 'network', $2::text) from locked`;

/**
 * Counts a wrong password.
 * @param source the user of the attempt. Undefined when the user is unknown or the sign-in is already blocked; then
 *   nothing is counted.
 */
export async function writeFailure(
  database: Queryable,
  source: SignInSource | undefined,
  password: string,
  { network, isDevice, policy, now }: Attempt,
): Promise<void> {
  const at = (seconds: number): Date => new Date(now.getTime() + seconds * 1000);
  await database.query(FAIL, [
    ...[source?.userId ?? null, network, markOf(source?.passwordHash ?? '', password), now],
    ...[policy.maxFailures, at(policy.lockSec), at(-policy.lockSec), isDevice],
  ]);
}

/** @returns two bytes of a hash: enough to recognise a repeated password, too few to guess the password. */
function markOf(salt: string, password: string): number {
  return createHash('sha256')
    .update(JSON.stringify([salt, password]))
    .digest()
    .readUInt16BE(0);
}

/**
 * Forgets the user's wrong passwords and ends the locks of the user's known networks. The common lock of all unknown
 * networks (described at the top of this file) stays; to end it too, set the user's `sign_in_locked_until` to null.
 */
export async function clearFailures(database: Queryable, userId: string): Promise<void> {
  await database.query(
    `update sign_in_source set wrong_count = 0, wrong_marks = '{}', locked_until = null where user_id = $1`,
    [userId],
  );
}
