/**
 * Lets only one save at a time add edges to the calculation graph of an account. Otherwise, two saves could together
 * form a cycle that neither save detects. A save that waits in `GraphTurns.run` holds no database connection.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { openAccountPace } from '../../platform/shares/account-pace.ts';

export interface GraphTurns {
  /**
   * Runs `work` in a transaction, after the earlier saves of the account in this process have ended. When `work` throws
   * GraphBusyError, repeats `work` in a new transaction.
   * @throws {DomainError} dependency_unavailable when other saves delay `work` for longer than `maxWaitMs`.
   */
  run<Result>(accountId: number, work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
}

/** First key of the advisory locks that let one transaction at a time add edges to the graph of an account. */
export const GRAPH_LOCK_CLASS = 0x6772;
const MAX_WAIT_MS = 5000;
const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 160;
/** Maximum fraction of time that the saves of one account may use while other accounts save. */
const SAVING_SHARE = 0.5;

/** Other saves are changing the graph of the account, or wait to change the graph. */
export class GraphBusyError extends DomainError {
  constructor() {
    super('dependency_unavailable', 'other calculated variables of the account are being saved; retry the request');
  }
}

/**
 * Locks the graph of an account until the end of the transaction.
 * @throws {GraphBusyError} immediately when another transaction holds the lock.
 */
export async function lockGraph(transaction: Transaction, accountId: number): Promise<void> {
  const { rows } = await transaction.query<{ isLocked: boolean }>(
    'select pg_try_advisory_xact_lock($1, $2) as "isLocked"',
    [GRAPH_LOCK_CLASS, accountId],
  );
  if (!rows[0]?.isLocked) throw new GraphBusyError();
}

/**
 * Opens the queues in which the saves of this process wait, one queue per account.
 * @param maxWaitMs number of milliseconds after which a waiting save gives up.
 */
export function openGraphTurns(database: Database, maxWaitMs = MAX_WAIT_MS): GraphTurns {
  // Account → the saves that wait behind the current save.
  const lines = new Map<number, (() => void)[]>();
  const pace = openAccountPace({ share: SAVING_SHARE });
  const enter = async (accountId: number): Promise<void> => {
    const line = lines.get(accountId);
    if (line) return waitInLine(line, maxWaitMs);
    lines.set(accountId, []);
  };
  const leave = (accountId: number): void => {
    const next = lines.get(accountId)?.shift();
    if (next) next();
    else lines.delete(accountId);
  };
  return {
    run: async (accountId, work) => {
      const deadline = performance.now() + maxWaitMs;
      await enter(accountId);
      try {
        return await retryWhileBusy(() => pace.run(accountId, () => withTransaction(database, work)), deadline);
      } finally {
        leave(accountId);
      }
    },
  };
}

function waitInLine(line: (() => void)[], maxWaitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const grant = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      line.splice(line.indexOf(grant), 1);
      reject(new GraphBusyError());
    }, maxWaitMs);
    line.push(grant);
  });
}

/** @param deadline value of `performance.now()` after which a GraphBusyError is rethrown. */
async function retryWhileBusy<Result>(work: () => Promise<Result>, deadline: number): Promise<Result> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof GraphBusyError) || performance.now() >= deadline) throw error;
    }
    // Jitter, so that the processes do not retry in step.
    await pause(pauseMs * (0.5 + Math.random() / 2));
  }
}
