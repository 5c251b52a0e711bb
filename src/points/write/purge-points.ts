/** Removes the points of deleted variables, in the background (R-C7): a variable's points may be millions. */
import { type Database, withTransaction } from '../../platform/database.ts';

const PURGE_TIMEOUT_MS = 600_000;

/** Purges one deleted variable. @returns whether there was one. */
export async function purgeDeletedVariable(database: Database): Promise<boolean> {
  return withTransaction(
    database,
    async (transaction) => {
      const { rows } = await transaction.query<{ variableId: number }>(
        `select variable_id as "variableId" from point_purge order by requested_date limit 1 for update skip locked`,
      );
      const [purge] = rows;
      if (!purge) return false;
      // A writer under way holds the row of `series`, or has just inserted it: inserting it too waits for either, and
      // none begins without it while this transaction has it.
      await transaction.query('insert into series (variable_id) values ($1) on conflict do nothing', [
        purge.variableId,
      ]);
      for (const table of ['series', 'point', 'point_version', 'point_purge']) {
        await transaction.query(`delete from ${table} where variable_id = $1`, [purge.variableId]);
      }
      return true;
    },
    { statementTimeoutMs: PURGE_TIMEOUT_MS },
  );
}
