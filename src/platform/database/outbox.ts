/**
 * The outbox: an event is written in the transaction of what it reports, and deleted in the transaction of what its
 * consumers do about it. So each is handled exactly once, whatever dies in between (R-I8). Only what cannot be part of
 * a transaction, such as waking a queue, happens after the commit; a sweeper repeats it when it got lost.
 */

import type { Log } from '../log.ts';
import { type Database, type Transaction, withTransaction } from './database.ts';

export interface NewEvent {
  readonly accountId: number;
  /** Name of the event, defined by the feature that writes it. */
  readonly type: string;
  /** Plain JSON. */
  readonly payload: unknown;
}

export interface OutboxEvent extends NewEvent {
  readonly id: number;
  /** Instant it was written, ISO 8601 in UTC. */
  readonly createdDate: string;
}

/** Handles events inside the relay's transaction. What it returns is run after the commit, and may be lost. */
export type EventConsumer = (
  transaction: Transaction,
  events: readonly OutboxEvent[],
) => Promise<(() => Promise<unknown>) | undefined>;

export interface OutboxRelay {
  /** Hands every waiting event to the consumers. Calls that overlap share one pass. */
  relay(): Promise<void>;
}

const EVENTS_PER_PASS = 500;

/** Appends events to the outbox within the caller's transaction. */
export async function appendEvents(transaction: Transaction, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await transaction.query(
    `insert into outbox_event (account_id, type, payload)
     select * from unnest($1::int[], $2::text[], $3::jsonb[])`,
    [
      events.map((event) => event.accountId),
      events.map((event) => event.type),
      events.map((event) => JSON.stringify(event.payload)),
    ],
  );
}

/** @param consumers each sees every event, in the order of ids within a pass. */
export function createOutboxRelay(database: Database, consumers: readonly EventConsumer[], log: Log): OutboxRelay {
  let running: Promise<void> | undefined;
  let isAgainWanted = false;
  const drain = async (): Promise<void> => {
    do {
      isAgainWanted = false;
      while ((await relayPass(database, consumers, log)) === EVENTS_PER_PASS);
    } while (isAgainWanted);
  };
  return {
    relay: () => {
      isAgainWanted = true;
      running ??= drain().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}

async function relayPass(database: Database, consumers: readonly EventConsumer[], log: Log): Promise<number> {
  const followUps: (() => Promise<unknown>)[] = [];
  const count = await withTransaction(database, async (transaction) => {
    const { rows } = await transaction.query<OutboxEvent>(
      `select id, account_id as "accountId", type, payload, created_date as "createdDate" from outbox_event
       order by id limit $1 for update skip locked`,
      [EVENTS_PER_PASS],
    );
    if (rows.length === 0) return 0;
    for (const consume of consumers) {
      const followUp = await consume(transaction, rows);
      if (followUp) followUps.push(followUp);
    }
    await transaction.query('delete from outbox_event where id = any($1::int8[])', [rows.map(({ id }) => id)]);
    return rows.length;
  });
  for (const followUp of followUps) {
    await followUp().catch((error: unknown) => log.warn({ err: error }, 'a wake-up got lost; the sweeper repeats it'));
  }
  return count;
}
