/**
 * Deletes old messages (R-I5), old trial sends (R-I7) and the messages of webhooks that are marked as deleted, all in
 * batches. Then deletes the marked webhooks that have no messages left.
 */
import type { Queryable } from '../../platform/database/database.ts';

const ROWS_PER_STATEMENT = 2000;
const TRIAL_HOURS = 24;

// Attempts are deleted with their message. A message with a waiting attempt stays, however old, unless its webhook is
// marked as deleted. To avoid deadlocks, the statements skip rows that are locked by a replay or by the purge of
// another process; a later purge deletes these rows.
const PURGE_EVENTS = `
  delete from webhook_event where id in (
    select id from webhook_event event
    where created_date < now() - make_interval(days => $1)
      and not exists (select from webhook_attempt where event_id = event.id and state = 'Pending')
    limit $2 for update skip locked)`;

const PURGE_TRIALS = `
  delete from webhook_test where id in (
    select id from webhook_test where created_date < now() - make_interval(hours => $1) order by created_date limit $2
    for update skip locked)`;

const PURGE_DELETED_EVENTS = `
  delete from webhook_event where id in (
    select event.id from webhook join webhook_event event on event.webhook_id = webhook.id
    where webhook.deleted_date is not null limit $1
    for update of event skip locked)`;

const PURGE_DELETED = `
  delete from webhook
  where deleted_date is not null and not exists (select from webhook_event where webhook_id = webhook.id)`;

/**
 * Deletes old messages, old trial sends and the webhooks that are marked as deleted (R-I5, R-I7).
 * @param days age in days after which messages are deleted.
 * @param isStopped is called before each batch; the purge ends when it returns true.
 */
export async function purgeHistory(database: Queryable, days: number, isStopped: () => boolean): Promise<void> {
  await purge(database, PURGE_EVENTS, [days, ROWS_PER_STATEMENT], isStopped);
  await purge(database, PURGE_TRIALS, [TRIAL_HOURS, ROWS_PER_STATEMENT], isStopped);
  await purge(database, PURGE_DELETED_EVENTS, [ROWS_PER_STATEMENT], isStopped);
  if (!isStopped()) await database.query(PURGE_DELETED);
}

async function purge(
  database: Queryable,
  statement: string,
  values: readonly number[],
  isStopped: () => boolean,
): Promise<void> {
  while (!isStopped()) {
    const { rowCount } = await database.query(statement, [...values]);
    if ((rowCount ?? 0) < ROWS_PER_STATEMENT) return;
  }
}
