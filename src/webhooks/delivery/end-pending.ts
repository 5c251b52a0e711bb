/** Gives up what waits to be sent to a webhook that is no longer enabled. */
import type { Queryable } from '../../platform/database/database.ts';

// What is on its way just now ends by itself, and is not tried again.
const END = `
  update webhook_attempt set state = 'Failed', error = $2, claimed_until = null, date = clock_timestamp()
  where webhook_id = $1 and state = 'Pending' and (claimed_until is null or claimed_until < clock_timestamp())`;

// A webhook that is enabled again later has five days of its own.
const FORGET_FAILURES = 'update webhook set failing_since = null, paused_until = null where id = $1';

/**
 * Ends the messages that wait as Failed, for a manager to replay, and forgets how long the receiver has been failing.
 * Call it in the transaction that disables the webhook.
 * @param reason shown in the history.
 */
export async function endPending(transaction: Queryable, webhookId: string, reason: string): Promise<void> {
  await transaction.query(FORGET_FAILURES, [webhookId]);
  await transaction.query(END, [webhookId, reason]);
}
