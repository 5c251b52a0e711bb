/**
 * The retention policy of an account or a variable: the number of years that raw points are kept before rollups replace
 * them. Managers save policies; points are rolled up only under a policy with `isActive`. The policy of a variable
 * replaces the policy of its account, even when the variable's policy is not active.
 */
import { z } from 'zod';
import type { Queryable, Transaction } from '../platform/database/database.ts';
import { booleanSchema, enumerationSchema, lenientObject } from '../platform/http/lenient.ts';
import { numberedFrom0 } from '../platform/http/query-parameters.ts';
import { timeZoneSchema } from '../structure/catalogue/time-zones.ts';

/** Lengths of rollups, shortest first. */
export const ROLLUPS = ['Hour', 'Day'] as const;
/** Maximum number of years for which a policy may keep raw points. */
export const MAX_YEARS = 200;

/**
 * The owner of a policy: a variable or, when `variableId` is null, an account. An account's policy applies to its
 * variables without a policy of their own.
 */
export interface RetentionOwner {
  readonly accountId: number;
  readonly variableId: number | null;
}

/** A policy as clients write it. Absent optional members get defaults, not the values of the saved policy. */
export const retentionSchema = lenientObject({
  keepRawYears: z.int().min(1).max(MAX_YEARS),
  rollup: enumerationSchema(numberedFrom0(ROLLUPS)).default('Day'),
  timeZoneId: timeZoneSchema.optional(),
  isActive: booleanSchema.default(false),
});

export type WrittenRetention = z.output<typeof retentionSchema>;

export interface Retention {
  readonly keepRawYears: number;
  readonly rollup: (typeof ROLLUPS)[number];
  /** IANA zone whose civil time delimits the rollups. */
  readonly timeZoneId: string;
  readonly isActive: boolean;
  readonly modifiedDate: string;
  readonly userName: string;
}

/** Retention of an account or variable: the saved policy, and its results so far. */
export interface RetentionState {
  /** The policy saved for this account or variable; null when none is saved. */
  readonly retention: Retention | null;
  /** Number of variables whose points have been rolled up. */
  readonly variableCount: number;
  readonly rollupCount: number;
  /** Number of points that the rollups replaced. */
  readonly pointCount: number;
  /**
   * Date before which rollups have replaced the raw points; for an account, the latest such date of its variables. Null
   * when no points have been rolled up.
   */
  readonly rawFrom: string | null;
  /** Number of points that were not written, because their dates are rolled up. */
  readonly refusedPointCount: number;
  readonly lastRefusedDate: string | null;
}

const MEMBERS = `
  keep_raw_years as "keepRawYears", rollup, time_zone_id as "timeZoneId", is_active as "isActive",
  modified_date as "modifiedDate", user_name as "userName"`;

const IS_OWNER = 'account_id = $1 and variable_id is not distinct from $2::int';

/** @returns the policy saved for this owner, if there is one. For a variable, ignores the policy of the account. */
export async function findRetention(queryable: Queryable, owner: RetentionOwner): Promise<Retention | undefined> {
  const { rows } = await queryable.query<Retention>(
    `select ${MEMBERS} from retention where ${IS_OWNER}`,
    valuesOf(owner),
  );
  return rows[0];
}

/**
 * Saves the policy of an owner and replaces an earlier policy.
 * @param written a policy; its time zone defaults to the zone of the owner.
 */
export async function saveRetention(
  transaction: Transaction,
  owner: RetentionOwner,
  { keepRawYears, rollup, timeZoneId, isActive }: WrittenRetention,
  userName: string,
): Promise<void> {
  await transaction.query(
    `insert into retention (account_id, variable_id, keep_raw_years, rollup, time_zone_id, is_active, user_name)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (account_id, variable_id) do update
     set keep_raw_years = excluded.keep_raw_years, rollup = excluded.rollup, time_zone_id = excluded.time_zone_id,
         is_active = excluded.is_active, user_name = excluded.user_name, modified_date = clock_timestamp()`,
    [...valuesOf(owner), keepRawYears, rollup, timeZoneId ?? (await zoneOf(transaction, owner)), isActive, userName],
  );
}

/**
 * Removes the policy of an owner; rollups remain. If a step of the retention job is applying the policy, this function
 * waits for the end of the step.
 * @returns false when there was no policy.
 */
export async function removeRetention(transaction: Transaction, owner: RetentionOwner): Promise<boolean> {
  const { rowCount } = await transaction.query(`delete from retention where ${IS_OWNER}`, valuesOf(owner));
  return rowCount === 1;
}

/** @returns the IANA zone of the variable's source, else of its site, else of the account, else UTC. */
export async function zoneOf(queryable: Queryable, owner: RetentionOwner): Promise<string> {
  const { rows } = await queryable.query<{ zone: string | null }>(
    `select coalesce((select coalesce(source.time_zone_id, site.time_zone_id) from variable
                      join source on source.id = source_id join site on site.id = site_id where variable.id = $2),
                     (select time_zone_id from account where id = $1)) as zone`,
    valuesOf(owner),
  );
  return rows[0]?.zone ?? 'UTC';
}

const STATE = `
  select count(*) filter (where raw_from is not null)::int as "variableCount",
         coalesce(sum(rollups), 0)::float8 as "rollupCount", coalesce(sum(points), 0)::float8 as "pointCount",
         max(raw_from) as "rawFrom", coalesce(sum(refused_count), 0)::float8 as "refusedPointCount",
         max(refused_date) as "lastRefusedDate"
  from variable
  join series on series.variable_id = variable.id
  left join lateral (select count(*) as rollups, sum(point_count) as points
                     from point_rollup where raw_from is not null and point_rollup.variable_id = series.variable_id) kept on true
  where account_id = $1 and ($2::int is null or variable.id = $2)`;

/**
 * @returns the policy of an owner, and the counts of rollups and refused points so far. @throws {Error} when
 * the database returns no row.
 */
export async function readRetentionState(queryable: Queryable, owner: RetentionOwner): Promise<RetentionState> {
  const retention = (await findRetention(queryable, owner)) ?? null;
  const { rows } = await queryable.query<Omit<RetentionState, 'retention'>>(STATE, valuesOf(owner));
  const [state] = rows;
  if (!state) throw new Error('the database returned no row for the state of the rollups');
  return { retention, ...state };
}

const valuesOf = ({ accountId, variableId }: RetentionOwner): [number, number | null] => [accountId, variableId];
