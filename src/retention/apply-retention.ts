/**
 * Background job of retention: rolls up the points that active retention policies no longer keep. Only one process
 * works at a time, and accounts take turns. A turn is one transaction of at most 100,000 points.
 */
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Connection,
  type Database,
  inTransaction,
  type Queryable,
  type Transaction,
  withConnection,
} from '../platform/database/database.ts';
import { withLease } from '../platform/database/session-lease.ts';
import type { Log } from '../platform/log.ts';
import type { Micros } from '../points/point.ts';
import { rollUpPoints } from '../points/rollups/roll-up-points.ts';
import { boundarySql } from './boundary.ts';

/** Result of one run of the job for an account. */
export interface RetentionCounts {
  readonly points: number;
  readonly versions: number;
  readonly rollups: number;
  /** Number of variables whose points the run rolled up. */
  readonly variables: number;
}

export interface RetentionJob {
  readonly database: Database;
  /** Writes to the audit trail what one run of the job did for the account. */
  readonly audit: (queryable: Queryable, accountId: number, counts: RetentionCounts) => Promise<void>;
  readonly log: Log;
  readonly isStopped: () => boolean;
  /** Points that were written less than this many seconds ago are not rolled up yet. Default: a day. */
  readonly settleSec?: number;
  /** Resolves after the given number of milliseconds. */
  readonly pause?: (ms: number) => Promise<void>;
}

/** Class of the advisory lock that serves as the lease; only one process at a time can hold it. */
const LOCK_CLASS = 0x7265_7465;
/** Length of the pause after a turn, as a multiple of the turn's duration. */
const REST = 3;
const MAX_REST_MS = 30_000;
const STEP_TIMEOUT_MS = 300_000;
/**
 * Default of `settleSec`. An old history may arrive in parts. After a rollup, points between its first and last date
 * are refused, so a rollup waits until all parts have probably arrived.
 */
const SETTLE_SEC = 86_400;
/** When a writer holds a variable's lock for longer than this, the run skips the variable; the next run tries again. */
const LOCK_TIMEOUT = `set local lock_timeout = '5s'`;

const ACTIVE_ACCOUNTS = `select distinct account_id as "accountId" from retention where is_active order by account_id`;

const NEXT_DUE = `
  select variable.id as "variableId", kept.id as "retentionId"
  from variable
  join series on series.variable_id = variable.id
  join lateral (
    select * from retention
    where retention.account_id = variable.account_id and (retention.variable_id = variable.id or retention.variable_id is null)
    order by retention.variable_id nulls last limit 1) kept on true
  where variable.account_id = $1 and variable.id > $2 and kept.is_active
    and coalesce(series.rollup_next, '-infinity') < ${boundarySql('kept.keep_raw_years')}
  order by variable.id limit 1`;

// `for share` locks the policy, so that a request to change or remove the policy waits until the step ends.
const LOCK_RULE = `
  select rollup, time_zone_id as "timeZoneId",
         (extract(epoch from ${boundarySql('keep_raw_years')}) * 1000000)::int8 as "untilMicros"
  from retention where id = $1 and is_active for share`;

interface Due {
  readonly variableId: number;
  readonly retentionId: number;
}

interface Turn {
  readonly accountId: number;
  /**
   * Id of the last variable that this run is done with: the variable needs no more steps, or its step failed. The run
   * takes the variables in the order of their ids.
   */
  cursor: number;
  /** Id of the last variable whose points this run rolled up. */
  rolledUpId: number;
  readonly counts: { -readonly [Key in keyof RetentionCounts]: RetentionCounts[Key] };
}

/**
 * Runs the job once: rolls up the points of every variable that is due, but stops early when `isStopped` returns true.
 * @returns false when another process holds the lease.
 */
export async function applyRetention(job: RetentionJob): Promise<boolean> {
  const done = await withConnection(job.database, (connection) =>
    withLease(connection, LOCK_CLASS, 0, async () => {
      await takeTurns(connection, job);
      return true;
    }),
  );
  return done === true;
}

async function takeTurns(connection: Connection, job: RetentionJob): Promise<void> {
  const { rows } = await connection.query<{ accountId: number }>(ACTIVE_ACCOUNTS);
  let turns = rows.map(({ accountId }): Turn => {
    return { accountId, cursor: 0, rolledUpId: 0, counts: { points: 0, versions: 0, rollups: 0, variables: 0 } };
  });
  while (turns.length > 0) {
    const left: Turn[] = [];
    for (const turn of turns) {
      if (!job.isStopped() && (await takeTurn(connection, job, turn))) left.push(turn);
      else await endTurns(connection, job, turn);
    }
    turns = left;
  }
}

/**
 * Runs one step for the next due variable of the account.
 * @returns false when the account has no further due variable.
 */
async function takeTurn(connection: Connection, job: RetentionJob, turn: Turn): Promise<boolean> {
  const { rows } = await connection.query<Due>(NEXT_DUE, [turn.accountId, turn.cursor]);
  const [due] = rows;
  if (!due) return false;
  const startMs = performance.now();
  try {
    const step = await inTransaction(connection, (transaction) => runStep(transaction, due, job.settleSec), {
      statementTimeoutMs: STEP_TIMEOUT_MS,
    });
    for (const name of ['points', 'versions', 'rollups'] as const) turn.counts[name] += step?.[name] ?? 0;
    if (step && step.points > 0 && turn.rolledUpId !== due.variableId) {
      turn.rolledUpId = due.variableId;
      turn.counts.variables += 1;
    }
    if (!step || step.isDone) turn.cursor = due.variableId;
  } catch (error) {
    job.log.warn(
      { err: error, accountId: turn.accountId, variableId: due.variableId },
      'the points of a variable could not be rolled up; the next run of retention tries again',
    );
    turn.cursor = due.variableId;
  }
  const restMs = Math.min((performance.now() - startMs) * REST, MAX_REST_MS);
  await (job.pause ?? wait)(restMs);
  return true;
}

async function runStep(transaction: Transaction, { variableId, retentionId }: Due, settleSec = SETTLE_SEC) {
  await transaction.query(LOCK_TIMEOUT);
  const { rows } = await transaction.query<{ rollup: string; timeZoneId: string; untilMicros: Micros }>(LOCK_RULE, [
    retentionId,
  ]);
  const [rule] = rows;
  if (!rule) return undefined;
  const { rollup, timeZoneId, untilMicros } = rule;
  return rollUpPoints(transaction, {
    ...{ variableId, untilMicros, timeZoneId, settleSec },
    bucket: rollup === 'Hour' ? 'hour' : 'day',
  });
}

async function endTurns(connection: Connection, { audit, log }: RetentionJob, turn: Turn): Promise<void> {
  if (turn.counts.points === 0) return;
  log.info({ accountId: turn.accountId, ...turn.counts }, 'points rolled up');
  await audit(connection, turn.accountId, turn.counts);
}
