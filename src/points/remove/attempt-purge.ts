/**
 * Queues of background purges, one entry per variable. Accounts take turns, so that a long queue of one account does
 * not delay the purges of another (R-A14); the purges of one account run in the order of their requests. A purge that
 * fails is retried after a growing delay (one minute to one day), so it does not delay other purges.
 */
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';

export type PurgeTable = 'point_purge' | 'version_purge';

/**
 * Account of the last attempted purge. The next attempt searches the accounts with greater ids first, then all
 * accounts.
 */
export type PurgeTurn = { readonly accountId: number };

/** Less than every account id, so the search starts from the first account. */
const BEFORE_ALL_ACCOUNTS = -1;
const PURGE_TIMEOUT_MS = 600_000;

interface Taken extends PurgeTurn {
  readonly variableId: number;
}

/** Error of a purge that was postponed. `cause` is the error of its step. */
export class PurgeFailure extends Error {
  /** The value of `last` for the next call of `attemptPurge`. */
  readonly turn: PurgeTurn;
  readonly variableId: number;

  constructor({ accountId, variableId }: Taken, cause: unknown) {
    super(`the purge of variable ${variableId} failed: ${cause instanceof Error ? cause.message : cause}`, { cause });
    this.turn = { accountId };
    this.variableId = variableId;
  }
}

type PurgeNext = (database: Database, last?: PurgeTurn) => Promise<PurgeTurn | undefined>;

/**
 * Performs the due purges of a queue, one step at a time, until none is due or `isStopped` returns true. After a failed
 * purge, continues with the next account.
 * @throws any error other than a PurgeFailure.
 */
export async function performDuePurges(
  database: Database,
  purgeNext: PurgeNext,
  isStopped: () => boolean,
  noteFailure: (failure: PurgeFailure) => void,
): Promise<void> {
  let turn: PurgeTurn | undefined;
  do {
    turn = await purgeNext(database, turn).catch((error: unknown) => {
      if (!(error instanceof PurgeFailure)) throw error;
      noteFailure(error);
      return error.turn;
    });
  } while (turn && !isStopped());
}

/**
 * @returns the statement that selects and locks one due purge: the earliest due purge of the next account. The next
 * account is the account with the smallest id above $1 that has a due purge. Purges that are locked are skipped.
 */
export const takeFrom = (table: PurgeTable) => `
  select variable_id as "variableId", account_id as "accountId" from ${table}
  where account_id > $1 and next_attempt_date <= clock_timestamp()
  order by account_id, greatest(requested_date, next_attempt_date), variable_id limit 1 for update skip locked`;

// Statement that delays the retry of a purge: by one minute after the first failure, then by twice the previous delay
// after each further failure, but never by more than a day.
const postpone = (table: PurgeTable) => `
  update ${table}
  set attempt_count = attempt_count + 1,
      next_attempt_date = clock_timestamp() + least(interval '1 minute' * 2 ^ least(attempt_count, 20), interval '1 day')
  where variable_id = $1`;

/**
 * Runs one step of the next due purge in a transaction.
 * @param last result of the previous call; when undefined, the search starts from the first account.
 * @param work runs the step; returns true when the purge is complete.
 * @returns the value of `last` for the next call; undefined when no unlocked purge is due.
 * @throws {PurgeFailure} when a step fails; its purge is then postponed.
 */
export async function attemptPurge(
  database: Database,
  table: PurgeTable,
  last: PurgeTurn | undefined,
  work: (transaction: Transaction, variableId: number) => Promise<boolean>,
): Promise<PurgeTurn | undefined> {
  let taken: Taken | undefined;
  const attempt = async (transaction: Transaction): Promise<void> => {
    taken = await takeNext(transaction, table, last);
    if (!taken || !(await work(transaction, taken.variableId))) return;
    await transaction.query(`delete from ${table} where variable_id = $1`, [taken.variableId]);
  };
  try {
    await withTransaction(database, attempt, { statementTimeoutMs: PURGE_TIMEOUT_MS });
  } catch (error) {
    const failed = taken as Taken | undefined;
    if (!failed) throw error;
    await database.query(postpone(table), [failed.variableId]);
    throw new PurgeFailure(failed, error);
  }
  return taken;
}

async function takeNext(transaction: Transaction, table: PurgeTable, last?: PurgeTurn): Promise<Taken | undefined> {
  const takeAfter = async (accountId: number) => (await transaction.query<Taken>(takeFrom(table), [accountId])).rows[0];
  return (last && (await takeAfter(last.accountId))) ?? takeAfter(BEFORE_ALL_ACCOUNTS);
}
