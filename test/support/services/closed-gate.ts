/**
 * Locks `point_gate` as if a chunk were being compressed. Tests use this lock to show that an operation waits for the
 * gate.
 */
import { type Database, withConnection } from '../../../src/platform/database/database.ts';
import { eventually } from '../eventually.ts';

const WAITS_FOR_GATE = `
  select from pg_locks
  where relation = 'point_gate'::regclass and not granted and database = (select oid from pg_database where datname = current_database())`;

/**
 * Starts `work` while the gate is closed, and opens the gate when the work waits for it.
 * @throws {Error} when the work does not wait for the gate.
 */
export function behindClosedGate<Result>(database: Database, work: () => Promise<Result>): Promise<Result> {
  return withConnection(database, async (connection) => {
    await connection.query('begin; lock table point_gate in access exclusive mode');
    const result = work();
    result.catch(() => {});
    try {
      const isWaiting = async () => ((await connection.query(WAITS_FOR_GATE)).rowCount ?? 0) > 0;
      await eventually('the wait for point_gate', isWaiting, 5000);
    } finally {
      await connection.query('commit');
    }
    return result;
  });
}
