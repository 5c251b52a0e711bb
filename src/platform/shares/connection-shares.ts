/**
 * Divides the connections of a pool among accounts (R-A14), so that requests of one account cannot take all. For its
 * first connection, a request takes a permit of its account. While it holds a connection, further connections need no
 * permit, so that requests cannot deadlock. Background work needs no permit.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Connection, Database } from '../database/database.ts';
import { openFairSemaphore } from './fair-semaphore.ts';

interface Holder {
  readonly accountId: number;
  /** Number of connections that this request holds. */
  held: number;
  /**
   * Functions that give back the permits of this request: one function for each permit, and at most `held` functions.
   */
  readonly permits: (() => void)[];
}

export interface ConnectionShareOptions {
  /** Maximum number of requests that hold connections at the same time. */
  readonly permits: number;
  /** Maximum number of requests of one account that hold connections at the same time. */
  readonly permitsPerAccount: number;
}

type ConnectCallback = (
  error: Error | undefined,
  connection: Connection | undefined,
  release: (error?: Error | boolean) => void,
) => void;

const MAX_WAIT_MS = 5000;
const WAITERS_PER_ACCOUNT = 1000;

const holders = new AsyncLocalStorage<Holder | undefined>();

/**
 * Runs the work of one request. The first database connection of this work takes a permit from the share of the
 * account.
 */
export function runForAccount<Result>(accountId: number, work: () => Result): Result {
  return holders.getStore()?.accountId === accountId ? work() : holders.run({ accountId, held: 0, permits: [] }, work);
}

/** Runs work that serves all accounts, such as a group commit. The work takes connections without a permit. */
export function runForAll<Result>(work: () => Result): Result {
  return holders.run(undefined, work);
}

/** Changes `pool` so that the first connection of a request takes a permit from the share of the request's account. */
export function shareConnections(pool: Database, { permits, permitsPerAccount }: ConnectionShareOptions): void {
  const semaphore = openFairSemaphore({
    ...{ resource: 'database connections', permits, permitsPerAccount },
    ...{ waitersPerAccount: WAITERS_PER_ACCOUNT, maxWaitMs: MAX_WAIT_MS },
  });
  const connect = pool.connect.bind(pool);
  const lend = async (holder: Holder): Promise<Connection> => {
    if (holder.held === 0) holder.permits.push(await semaphore.enter(holder.accountId));
    holder.held += 1;
    // While the request holds a connection, the request keeps at least one permit.
    const end = (): void => {
      holder.held -= 1;
      if (holder.permits.length > holder.held) holder.permits.pop()?.();
    };
    try {
      const connection = await connect();
      const release = connection.release.bind(connection);
      // Wrappers do not accumulate: the pool sets a new `release` at each checkout.
      connection.release = (error) => {
        release(error);
        end();
      };
      return connection;
    } catch (error) {
      end();
      throw error;
    }
  };
  const connectShared = (callback?: ConnectCallback): Promise<Connection> | undefined => {
    const holder = holders.getStore();
    if (!holder && callback) return void connect(callback);
    const lent = holder ? lend(holder) : connect();
    if (!callback) return lent;
    // `pool.query` calls `connect` with a callback.
    lent.then(
      (connection) => callback(undefined, connection, connection.release),
      (error: Error) => callback(error, undefined, () => {}),
    );
    return undefined;
  };
  pool.connect = connectShared as Database['connect'];
}
