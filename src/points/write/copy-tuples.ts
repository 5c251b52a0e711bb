/** Writes encoded points into a table by COPY BINARY. */
import { once } from 'node:events';
import { from as copyFrom } from 'pg-copy-streams';
import type { Transaction } from '../../platform/database/database.ts';
import { COPY_HEADER, COPY_TRAILER } from '../copy-codec.ts';

const COLUMNS = 'date, value, version_timestamp, variable_id, version_tag_id, tag_set_id';

/**
 * @param table quoted name of a hypertable or chunk.
 * @param batches COPY tuples (`copy-codec`); empty writes nothing.
 */
export async function copyTuples(transaction: Transaction, table: string, batches: readonly Buffer[]): Promise<void> {
  if (batches.length === 0) return;
  const stream = transaction.query(copyFrom(`copy ${table} (${COLUMNS}) from stdin (format binary)`));
  const finished = once(stream, 'finish');
  // Awaited below; without this, a failure before that would be an unhandled rejection.
  finished.catch(() => {});
  for (const part of [COPY_HEADER, ...batches, COPY_TRAILER]) {
    if (!stream.write(part)) await Promise.race([once(stream, 'drain'), finished]);
  }
  stream.end();
  await finished;
}
