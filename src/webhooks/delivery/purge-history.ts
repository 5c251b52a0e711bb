/** Forgets what was told long ago (R-I5), tests (R-I7) and webhooks that were deleted, a few at a time: nobody waits for it. */
import type { Queryable } from '../../platform/database/database.ts';

const ROWS_PER_STATEMENT = 2000;
const TEST_HOURS = 24;

// The tries go with the message. What still waits to be sent stays, however old. What somebody else is at, such as the purge
// of another process or a replay, is left for the next time, so that nobody waits for the other in a circle.
const PURGE_EVENTS = `
  delete from webhook_event where id in (
    select id from webhook_event event
    where created_date < now() - make_interval(days => $1)
      and not exists (select from webhook_attempt where event_id = event.id and state = 'Pending')
    limit $2 for update skip locked)`;

const PURGE_TESTS = `
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

/** @param isStopped asked between two portions. */
export async function purgeHistory(database: Queryable, days: number, isStopped: () => boolean): Promise<void> {
  await purge(database, PURGE_EVENTS, [days, ROWS_PER_STATEMENT], isStopped);
  await purge(database, PURGE_TESTS, [TEST_HOURS, ROWS_PER_STATEMENT], isStopped);
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
