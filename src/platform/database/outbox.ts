/**
 * Transactional outbox: an event is appended in the transaction of the change that the event reports, and deleted in
 * the transaction in which the consumers handle the event. So each event is handled exactly once, whichever process
 * crashes (R-I8). Effects outside the database, such as a wake-up, run after the commit. When a wake-up is lost, the
 * process that was to be woken finds the work at its next sweep or poll.
 *
 * Each feature declares its own events in `OutboxEvents`; this module does not depend on the features.
 */
import type { Log } from '../log.ts';
import { type Database, type Transaction, withTransaction } from './database.ts';

/**
 * Maps the name of each event to the type of the event's payload. A feature adds its own events to this interface with
 * `declare module`, next to the code that appends the events. So a misspelt name or a wrong payload does not compile.
 */
// biome-ignore lint/suspicious/noEmptyInterface: features extend it.
export interface OutboxEvents {}

export type EventName = keyof OutboxEvents;

export type NewEvent = {
  readonly [Name in EventName]: {
    readonly accountId: number;
    readonly type: Name;
    /** The event's data, a JSON value. */
    readonly payload: OutboxEvents[Name];
  };
}[EventName];

export type OutboxEvent = NewEvent & {
  readonly id: number;
  /** Instant at which the event was appended, ISO 8601 in UTC. */
  readonly createdDate: string;
};

/** @returns the name of an event as an SQL literal. */
export function eventLiteral(name: EventName): string {
  return `'${name}'`;
}

/**
 * Handles events in the transaction of the relay; must ignore events of unknown types.
 * @returns a function that the relay calls after the commit; a crash may prevent the call. Undefined when there is
 * nothing to do after the commit.
 */
export type EventConsumer = (
  transaction: Transaction,
  events: readonly OutboxEvent[],
) => Promise<(() => Promise<unknown>) | undefined>;

export interface OutboxRelay {
  /** Passes the waiting events to the consumers. All calls that arrive during a pass share one further pass. */
  relay(): Promise<void>;
}

const EVENTS_PER_PASS = 500;

/** Appends events in the caller's transaction (R-I8). */
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

/**
 * Creates the relay that delivers every waiting event to every consumer (R-I8). Within a pass, the events are ordered
 * by id.
 */
export function createOutboxRelay(database: Database, consumers: readonly EventConsumer[], log: Log): OutboxRelay {
  let running: Promise<void> | undefined;
  let isRepeated = false;
  const drain = async (): Promise<void> => {
    do {
      isRepeated = false;
      while ((await relayPass(database, consumers, log)) === EVENTS_PER_PASS);
    } while (isRepeated);
  };
  return {
    relay: () => {
      isRepeated = true;
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
    await followUp().catch((error: unknown) => {
      log.warn({ err: error }, 'a wake-up was lost; the work waits for the next sweep or poll');
    });
  }
  return count;
}
