/** What an as-of reader waits for before its snapshot begins, so that it reads the same ever after (R-F5). */
import type { Queryable } from '../../platform/database/database.ts';
import type { PointSelection } from '../point.ts';
import { awaitWriters } from './await-writers.ts';

// The state of an instant to come is not known anyway; the margin is for clocks that differ.
const FUTURE_MARGIN_MICROS = 60_000_000;

/**
 * Waits until all is known of the instant the selection asks for.
 * @param queryable not inside the reader's snapshot.
 * @throws as `awaitWriters`.
 */
export async function awaitKnown(
  queryable: Queryable,
  { version: { asOfMicros }, variableIds: [variableId = 0] }: PointSelection,
  signal?: AbortSignal,
): Promise<void> {
  if (asOfMicros === undefined || asOfMicros > Date.now() * 1000 + FUTURE_MARGIN_MICROS) return;
  const { rows } = await queryable.query<{ accountId: number }>(
    'select account_id as "accountId" from variable where id = $1',
    [variableId],
  );
  const accountId = rows[0]?.accountId;
  if (accountId !== undefined) await awaitWriters(queryable, accountId, asOfMicros, signal);
}
