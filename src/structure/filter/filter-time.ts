/**
 * Limits the time of a query with a customFilter (R-C10, R-A14). A filter may compare each row of an account with up to
 * 200 values. A timer here cancels the statement. A `statement_timeout` would need a transaction, and thus two more
 * round trips.
 */
import type { Connection, Database, Queryable } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { runForAll } from '../../platform/shares/connection-shares.ts';
import { PARAMETER } from './custom-filter.ts';

/** The README of this folder documents this limit. */
const MAX_TIME_MS = 10_000;
const RETRY_MS = 1000;
const QUERY_CANCELED = '57014';

/**
 * @param maxTimeMs maximum time of a statement; default: 10 s.
 * @returns a database whose `query` throws DomainError invalid_input when the statement takes longer than `maxTimeMs`.
 */
export function limitFilterTime(database: Database, maxTimeMs: number = MAX_TIME_MS): Queryable {
  const query = async (...statement: Parameters<Connection['query']>) => {
    const connection = await database.connect();
    const limit = cancelAfter(database, connection, maxTimeMs);
    try {
      return await connection.query(...statement);
    } catch (error) {
      if ((error as { readonly code?: string }).code !== QUERY_CANCELED) throw error;
      const message = `took longer than ${maxTimeMs / 1000} s; use fewer comparisons, or select fewer resources with a parameter such as siteIds`;
      throw new DomainError('invalid_input', `${PARAMETER} ${message}`, [{ path: `query.${PARAMETER}`, message }]);
    } finally {
      await limit.end();
    }
  };
  return { query: query as Queryable['query'] };
}

/**
 * After `maxTimeMs`, cancels the statement of `connection` through another connection. Repeats the cancellation every
 * RETRY_MS until the statement ends, because PostgreSQL ignores a cancellation that arrives before the statement.
 * @returns `end`, which stops the timer and releases `connection`.
 */
function cancelAfter(database: Database, connection: Connection, maxTimeMs: number) {
  let cancelling: Promise<unknown> | undefined;
  let isEnded = false;
  const cancelAgain = (): void => {
    if (!isEnded) timer = setTimeout(cancel, RETRY_MS);
  };
  const cancel = (): void => {
    const { processID } = connection as Connection & { readonly processID: number };
    // The cancellation uses a connection outside the account's share, because the slow statement may occupy the whole
    // share.
    const cancelled = runForAll(() => database.query('select pg_cancel_backend($1)', [processID]));
    cancelling = cancelled.then(cancelAgain, cancelAgain);
  };
  let timer = setTimeout(cancel, maxTimeMs);
  return {
    end: async () => {
      isEnded = true;
      clearTimeout(timer);
      await cancelling;
      // Closes the connection after a cancellation, because a late cancellation could hit the next statement.
      connection.release(cancelling !== undefined);
    },
  };
}
