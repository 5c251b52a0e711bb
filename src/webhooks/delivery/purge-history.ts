/** Forgets what was told long ago (R-I5), and tests (R-I7), a few at a time: nobody waits for it. */
import type { Queryable } from '../../platform/database.ts';

const ROWS_PER_STATEMENT = 2000;
const TEST_HOURS = 24;

// The tries go with the message. What still waits to be sent stays, however old.
const PURGE_EVENTS = `
  delete from webhook_event where id in (
    select id from webhook_event event
    where created_date < now() - make_interval(days => $1)
      and not exists (select from webhook_attempt where event_id = event.id and state = 'Pending')
    limit $2)`;

const PURGE_TESTS = `
  delete from webhook_test where id in (
    select id from webhook_test where created_date < now() - make_interval(hours => $1) order by created_date limit $2)`;

/** @param isStopped asked between two portions. */
export async function purgeHistory(database: Queryable, days: number, isStopped: () => boolean): Promise<void> {
  await purge(database, PURGE_EVENTS, days, isStopped);
  await purge(database, PURGE_TESTS, TEST_HOURS, isStopped);
}

async function purge(database: Queryable, statement: string, age: number, isStopped: () => boolean): Promise<void> {
  while (!isStopped()) {
    const { rowCount } = await database.query(statement, [age, ROWS_PER_STATEMENT]);
    if ((rowCount ?? 0) < ROWS_PER_STATEMENT) return;
  }
}
