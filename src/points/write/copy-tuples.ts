/** Encoded rows → a hypertable, by COPY BINARY. */
import { once } from 'node:events';
import { from as copyFrom } from 'pg-copy-streams';
import type { Transaction } from '../../platform/database/database.ts';
import { COPY_HEADER, COPY_TRAILER } from '../copy-codec.ts';

const COLUMNS = 'date, value, version_timestamp, variable_id, version_tag_id, tag_set_id';

export async function copyTuples(transaction: Transaction, table: string, batches: readonly Buffer[]): Promise<void> {
  if (batches.length === 0) return;
  const stream = transaction.query(copyFrom(`copy ${table} (${COLUMNS}) from stdin (format binary)`));
  const finished = once(stream, 'finish');
  // Awaited below; this keeps a failure in between from being reported as unhandled.
  finished.catch(() => {});
  for (const part of [COPY_HEADER, ...batches, COPY_TRAILER]) {
    if (!stream.write(part)) await Promise.race([once(stream, 'drain'), finished]);
  }
  stream.end();
  await finished;
}
