/**
 * The database connections of point reads, long listings and exports, shared by accounts (R-A14): each account has a
 * bounded share of the connections and of the memory for reading ahead. REST and gRPC of one process use the same pool.
 */

import { type FairSemaphore, openFairSemaphore } from '../shares/fair-semaphore.ts';
import type { Database, SnapshotSource } from './database.ts';
import type { ReadAheadBudget } from './read-ahead.ts';

export interface ReadPoolOptions {
  /** Pool for the snapshots and for nothing else. The number of its sessions is `connections`. */
  readonly readDatabase: Database;
  /** Pool for the short statements that precede a snapshot. */
  readonly database: Database;
  readonly connections: number;
  readonly connectionsPerAccount: number;
  /** Memory that all reads together may use to read ahead; one account may use a quarter of it. */
  readonly aheadBytes: number;
}

export interface ReadPool {
  /** @returns a source of snapshots that counts their connections and memory against the share of the account. */
  of(accountId: number): SnapshotSource;
  /** Number of reads that wait for a connection. */
  waiting(): number;
}

const MAX_WAIT_MS = 5000;
const WAITERS_PER_ACCOUNT = 100;
const ACCOUNT_PART = 4;
/**
 * Maximum number of bytes that one query may fetch before its consumer asks for them; 2 MiB hold about 65,000 points.
 */
const MAX_AHEAD_BYTES = 2 << 20;

/** Creates the read pool; `readDatabase` opens the connections. */
export function openReadPool(options: ReadPoolOptions): ReadPool {
  const { readDatabase, database, connections, connectionsPerAccount, aheadBytes } = options;
  const semaphore = openFairSemaphore({
    resource: 'connections for reads',
    permits: connections,
    // At least one connection remains for other accounts, unless the pool has only one.
    permitsPerAccount: Math.min(connectionsPerAccount, Math.max(1, connections - 1)),
    waitersPerAccount: WAITERS_PER_ACCOUNT,
    maxWaitMs: MAX_WAIT_MS,
  });
  const budgetOf = openBudgets(aheadBytes);
  return {
    of: (accountId) => ({
      query: database.query.bind(database),
      borrow: (signal) => borrow(readDatabase, semaphore, accountId, signal),
      readLimits: { ...readDatabase.readLimits, isContended: () => semaphore.isWantedByOthers(accountId) },
      ahead: { maxBytes: MAX_AHEAD_BYTES, budget: budgetOf(accountId) },
    }),
    waiting: semaphore.waiting,
  };
}

async function borrow(
  readDatabase: Database,
  semaphore: FairSemaphore,
  accountId: number,
  signal: AbortSignal | undefined,
): ReturnType<SnapshotSource['borrow']> {
  const leave = await semaphore.enter(accountId, signal);
  try {
    const connection = await readDatabase.connect();
    const release = connection.release.bind(connection);
    // Replacing `release` is safe: the pool sets it again at each checkout.
    connection.release = (error) => {
      release(error);
      leave();
    };
    return connection;
  } catch (error) {
    leave();
    throw error;
  }
}

function openBudgets(totalBytes: number): (accountId: number) => ReadAheadBudget {
  const shareBytes = Math.floor(totalBytes / ACCOUNT_PART);
  const taken = new Map<number, number>();
  let total = 0;
  return (accountId) => ({
    take: (bytes) => {
      const own = (taken.get(accountId) ?? 0) + bytes;
      if (own > shareBytes || total + bytes > totalBytes) return false;
      taken.set(accountId, own);
      total += bytes;
      return true;
    },
    give: (bytes) => {
      const own = (taken.get(accountId) ?? 0) - bytes;
      if (own === 0) taken.delete(accountId);
      else taken.set(accountId, own);
      total -= bytes;
    },
  });
}
