/** Waits for accepted pushes of an account that are not written yet, so that a file does not overtake them (R-D6). */
import { setTimeout as wait } from 'node:timers/promises';
import type { Queryable } from '../../platform/database/database.ts';

const POLL_INTERVAL_MS = 50;

// Batches that are set aside wait for an operator and do not block.
const FIND_LAST = `
  select max(place) as place from push_batch where account_id = $1 and set_aside_date is null`;
const IS_WAITING = `
  select from push_batch where account_id = $1 and set_aside_date is null and place <= $2 limit 1`;

/**
 * Waits until the pushes accepted so far are written; does not wait for later ones.
 * @returns false if `signal` aborted first.
 */
export async function awaitPushes(queryable: Queryable, accountId: number, signal: AbortSignal): Promise<boolean> {
  const { rows } = await queryable.query<{ place: number | null }>(FIND_LAST, [accountId]);
  const place = rows[0]?.place ?? null;
  if (place === null) return true;
  while ((await queryable.query(IS_WAITING, [accountId, place])).rowCount !== 0) {
    if (signal.aborted) return false;
    await wait(POLL_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
  return true;
}
