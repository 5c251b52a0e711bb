/** The outbox: each event is handled once (R-I8). */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Database, openDatabase, withTransaction } from '../../../src/platform/database/database.ts';
import {
  appendEvents,
  createOutboxRelay,
  type EventConsumer,
  type NewEvent,
  type OutboxEvent,
} from '../../../src/platform/database/outbox.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createTestDatabase, type TestDatabase } from '../../support/services/stack.ts';

const LOG = createLog('silent', 'test');

let test_: TestDatabase;
let database: Database;

beforeAll(async () => {
  test_ = await createTestDatabase();
  database = openDatabase({ url: test_.url, poolSize: 8, applicationName: 'test', log: LOG });
});

afterEach(() => database.query('delete from outbox_event'));

afterAll(async () => {
  await database?.end();
  await test_?.drop();
});

const append = (...names: string[]) =>
  withTransaction(database, (transaction) =>
    appendEvents(
      transaction,
      names.map((name) => ({ accountId: 1, type: 'SiteCreated', payload: { name } })),
    ),
  );

/** This array is only type-checked. The file compiles only if the type checker refuses both elements. */
const _misspelt: readonly NewEvent[] = [
  // @ts-expect-error no feature declares this event
  { accountId: 1, type: 'SiteCreatd', payload: {} },
  // @ts-expect-error the payload lists the variables
  { accountId: 1, type: 'DataPointsWritten', payload: { variableId: 1 } },
];

async function waiting(): Promise<number> {
  return (await database.query('select from outbox_event')).rowCount ?? 0;
}

/** Makes a consumer that records the names of its events unless `handle` throws. */
function recorder(
  handle: (events: readonly OutboxEvent[]) => Promise<(() => Promise<void>) | undefined> = async () => undefined,
) {
  const seen: string[] = [];
  const consume: EventConsumer = async (_transaction, events) => {
    const followUp = await handle(events);
    seen.push(...events.map(({ payload }) => (payload as { name: string }).name));
    return followUp;
  };
  return { seen, consume };
}

describe('outbox: events (R-I8)', () => {
  test('an event of a rolled-back transaction is not relayed', async () => {
    const failing = withTransaction(database, async (transaction) => {
      await appendEvents(transaction, [{ accountId: 1, type: 'SiteCreated', payload: {} }]);
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await waiting()).toBe(0);
  });

  test('events reach every consumer in the order in which they were appended, and are then deleted', async () => {
    await append('a', 'b', 'c');
    const [first, second] = [recorder(), recorder()];
    await createOutboxRelay(database, [first.consume, second.consume], LOG).relay();
    expect([first.seen, second.seen]).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ]);
    expect(await waiting()).toBe(0);
  });

  test('when a consumer fails, the writes of earlier consumers are rolled back, and the event is relayed again', async () => {
    await append('a');
    let attempts = 0;
    const writing: EventConsumer = async (transaction) => {
      await appendEvents(transaction, [{ accountId: 1, type: 'SiteDeleted', payload: { name: 'effect' } }]);
      return undefined;
    };
    const failing = recorder(async (events) => {
      attempts += 1;
      if (attempts === 1 && events.length > 0) throw new Error('not now');
      return undefined;
    });
    const relay = createOutboxRelay(database, [writing, failing.consume], LOG);
    await expect(relay.relay()).rejects.toThrow('not now');
    expect(await waiting()).toBe(1);
    await createOutboxRelay(database, [failing.consume], LOG).relay();
    expect(failing.seen).toEqual(['a']);
  });

  test('each event is handled exactly once, even when several relays run concurrently', async () => {
    const names = Array.from({ length: 1200 }, (_, index) => `event ${index}`);
    await append(...names);
    const shared = recorder();
    const relays = Array.from({ length: 4 }, () => createOutboxRelay(database, [shared.consume], LOG));
    await Promise.all(relays.map((relay) => relay.relay()));
    expect(shared.seen.toSorted()).toEqual(names.toSorted());
    expect(await waiting()).toBe(0);
  });

  test('a call of `relay` during a pass ensures that events appended during this pass are handled', async () => {
    await append('a');
    const events = recorder(async (taken) => {
      if (taken.some(({ payload }) => (payload as { name: string }).name === 'a')) await append('b');
      return undefined;
    });
    const relay = createOutboxRelay(database, [events.consume], LOG);
    await Promise.all([relay.relay(), relay.relay()]);
    expect(events.seen).toEqual(['a', 'b']);
  });

  test('an event leaves the outbox even if a consumer of the event fails after the commit', async () => {
    await append('a');
    const events = recorder(async () => async () => {
      throw new Error('Redis is away');
    });
    await createOutboxRelay(database, [events.consume], LOG).relay();
    expect(await waiting()).toBe(0);
  });
});
