/** Ends the waiting attempts of a disabled webhook. */
import type { Queryable } from '../../platform/database/database.ts';

// Ends only attempts that wait. An attempt in flight ends later, with its own outcome, and is not retried.
const END = `
  update webhook_attempt set state = 'Failed', error = $2, claimed_until = null, date = clock_timestamp()
  where webhook_id = $1 and state = 'Pending' and (claimed_until is null or claimed_until < clock_timestamp())`;

// Ends the failure period and the pause, so that a re-enabled webhook has another WEBHOOK_DISABLE_AFTER_DAYS days.
const FORGET_FAILURES = 'update webhook set failing_since = null, paused_until = null where id = $1';

/**
 * Ends the waiting attempts as Failed, so that a manager can replay them. Also resets the webhook's failure period and
 * pause.
 * @param reason error text of these attempts, which the webhook's history shows.
 */
export async function endPending(transaction: Queryable, webhookId: string, reason: string): Promise<void> {
  await transaction.query(FORGET_FAILURES, [webhookId]);
  await transaction.query(END, [webhookId, reason]);
}
