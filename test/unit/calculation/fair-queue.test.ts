/** The fair queue decides which waiting run or preview (a turn) takes a free slot of a calculator. */
import { describe, expect, test } from 'vitest';
import { FairQueue, type Turn, type Urgency } from '../../../src/calculation/turns/fair-queue.ts';

const [A, B, C] = [1, 2, 3];

function open(slots: number) {
  let nowMs = 0;
  const queue = new FairQueue(slots, () => nowMs);
  let lastId = 0;
  const add = (accountId: number, urgency: Urgency = 'triggered', id?: number): number => {
    lastId += 1;
    queue.add({ accountId, urgency, id: id ?? lastId });
    return id ?? lastId;
  };
  const startAll = (): Turn[] => {
    const turns: Turn[] = [];
    for (let turn = queue.start(); turn; turn = queue.start()) turns.push(turn);
    return turns;
  };
  /** Runs one turn after another. @returns the accounts in the order they were served. */
  const serve = (durations: Readonly<Record<number, number>>, turns: number): number[] =>
    Array.from({ length: turns }, () => {
      const turn = queue.start();
      if (!turn) throw new Error('a turn must wait');
      nowMs += durations[turn.accountId] ?? 0;
      queue.end(turn);
      return turn.accountId;
    });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { queue, add, startAll, serve, pass };
}

const accounts = (turns: readonly Turn[]) => turns.map(({ accountId }) => accountId);

describe('fair queue: accounts', () => {
  test('accounts share the slots about equally by time, not by number of runs (R-A14)', () => {
    const { add, serve } = open(1);
    for (let turn = 0; turn < 200; turn += 1) for (const account of [A, B]) add(account);
    const served = serve({ [A]: 1000, [B]: 100 }, 110);
    const [ofA, ofB] = [A, B].map((account) => served.filter((it) => it === account).length);
    expect(ofA).toBeLessThan(14);
    expect(ofB).toBeGreaterThan(90);
  });

  test('an account gains no credit while it has no waiting run (R-A14)', () => {
    const { add, serve } = open(1);
    add(B);
    expect(serve({ [B]: 100 }, 1)).toEqual([B]);
    for (let turn = 0; turn < 40; turn += 1) add(A);
    serve({ [A]: 100 }, 20);
    for (let turn = 0; turn < 40; turn += 1) add(B);
    const served = serve({ [A]: 100, [B]: 100 }, 20);
    expect(served.filter((account) => account === B).length).toBeLessThanOrEqual(14);
    expect(served.filter((account) => account === A).length).toBeGreaterThanOrEqual(6);
  });

  test('a thousand accounts are forgotten once they are idle (R-A14)', () => {
    const { queue, add, serve } = open(2);
    for (let account = 1; account <= 1000; account += 1) add(account);
    serve({}, 999);
    expect(queue.size).toBe(1);
    serve({}, 1);
    expect(queue.size).toBe(0);
  });

  test('an account in debt is served when no other account waits (R-A14)', () => {
    const { queue, add, serve } = open(1);
    add(A);
    add(A);
    expect(serve({ [A]: 60_000 }, 2)).toEqual([A, A]);
    expect(queue.size).toBe(0);
  });
});

describe('fair queue: slots', () => {
  test('an account borrows all slots while no other account has runs; when a second account waits, the newest run of the first is stopped to free a slot (R-A14)', () => {
    const { queue, add, startAll } = open(4);
    for (let turn = 0; turn < 5; turn += 1) add(A);
    const started = startAll();
    expect(accounts(started)).toEqual([A, A, A, A]);
    expect(queue.takeBack()).toBeUndefined();
    add(B);
    expect(startAll()).toEqual([]);
    const returned = queue.takeBack();
    expect(returned).toBe(started[3]);
    expect(queue.takeBack(), 'one slot is enough').toBeUndefined();
    if (returned) queue.end(returned);
    expect(accounts(startAll())).toEqual([B]);
  });

  test('an account that has borrowed no slot need not give up a slot (R-A14)', () => {
    const { queue, add, startAll } = open(2);
    add(A);
    add(B);
    startAll();
    add(C);
    expect(queue.takeBack()).toBeUndefined();
  });

  test('a variable that gave back a borrowed slot waits ten minutes before it borrows again (R-A14)', () => {
    const { queue, add, startAll, pass } = open(2);
    const first = add(A);
    const second = add(A);
    const [one] = startAll();
    add(B);
    const returned = queue.takeBack();
    expect(returned?.id).toBe(second);
    if (returned) queue.end(returned);
    add(A, 'triggered', second);
    const [ofB] = startAll();
    if (ofB) queue.end(ofB);
    expect(startAll(), 'B is idle, yet the slot is not lent again').toEqual([]);
    pass(599_999);
    expect(startAll(), 'ten minutes have not passed').toEqual([]);
    pass(1);
    expect(startAll()).toMatchObject([{ id: second }]);
    expect(one?.id).toBe(first);
  });

  test('a variable does not run twice at the same time (R-H5)', () => {
    const { queue, add, startAll } = open(2);
    const id = add(A);
    const [turn] = startAll();
    add(A, 'triggered', id);
    add(A, 'background', id);
    expect(startAll()).toEqual([]);
    if (turn) queue.end(turn);
    expect(startAll()).toMatchObject([{ id, urgency: 'triggered' }]);
  });
});

describe('fair queue: runs and previews of an account', () => {
  test('previews alternate with runs; every tenth run is a background run, the others are triggered runs (R-H5, R-H9)', () => {
    const { queue, add } = open(1);
    const order: Urgency[] = [];
    for (let turn = 0; turn < 20; turn += 1) add(A, 'triggered');
    for (let turn = 0; turn < 3; turn += 1) add(A, 'background');
    for (let turn = 0; turn < 2; turn += 1) add(A, 'preview');
    for (let turn = queue.start(); turn; turn = queue.start()) {
      order.push(turn.urgency);
      queue.end(turn);
    }
    expect(order.slice(0, 5)).toEqual(['preview', 'triggered', 'preview', 'triggered', 'triggered']);
    const runs = order.filter((urgency) => urgency !== 'preview');
    expect(runs.indexOf('background')).toBe(9);
    expect(runs.slice(10).indexOf('background')).toBe(9);
    expect(order).toHaveLength(25);
  });

  test('previews also alternate with runs when only background runs wait (R-H5, R-H9)', () => {
    const { queue, add } = open(1);
    const order: Urgency[] = [];
    for (const urgency of ['background', 'preview'] as const) for (let turn = 0; turn < 2; turn += 1) add(A, urgency);
    for (let turn = queue.start(); turn; turn = queue.start()) {
      order.push(turn.urgency);
      queue.end(turn);
    }
    expect(order).toEqual(['preview', 'background', 'preview', 'background']);
  });
});
