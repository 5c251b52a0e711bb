/** Waits for the pushes of an account that were accepted and are not written yet: who writes besides must not overtake them. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Queryable } from '../../platform/database/database.ts';

const LOOK_INTERVAL_MS = 50;

// A push that is set aside waits for an operator, and others go on without it.
const FIND_LAST = `
  select max(place) as place from push_batch where account_id = $1 and set_aside_date is null`;
const IS_WAITING = `
  select from push_batch where account_id = $1 and set_aside_date is null and place <= $2 limit 1`;

/**
 * Waits until what is accepted now is written; what comes meanwhile is not waited for.
 * @returns false when `signal` aborted first.
 */
export async function awaitPushes(queryable: Queryable, accountId: number, signal: AbortSignal): Promise<boolean> {
  const { rows } = await queryable.query<{ place: number | null }>(FIND_LAST, [accountId]);
  const place = rows[0]?.place ?? null;
  if (place === null) return true;
  while ((await queryable.query(IS_WAITING, [accountId, place])).rowCount !== 0) {
    if (signal.aborted) return false;
    await wait(LOOK_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
  return true;
}
