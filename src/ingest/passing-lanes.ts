/**
 * Lets batches of an account overtake a long write of that account (R-D6). While the long write runs, a lane (a second
 * sequence of writes) takes batches that need not wait for it, whatever their size. While a write of this lane is long
 * too, a second lane takes small batches. `takeBatches` decides which batches need not wait; the lanes only decide when
 * to call it. One ingester thus runs at most three writes of an account at the same time.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../platform/log.ts';

/** A write counts as long after this time; from then on, other batches may be written at the same time. */
const OPEN_AFTER_MS = 100;
const POLL_MS = 50;
const PAUSE_AFTER_FAILURE_MS = 1000;
/** The lanes of an account; true for a lane that takes small batches only. */
const LANES = [false, true] as const;

export interface PassingLanes {
  /** Waits for a write of an account. If the write is long, other batches of the account are written meanwhile. */
  open(accountId: number, write: Promise<unknown>): Promise<void>;
  /** Waits for all writes that were started during a long write. */
  close(): Promise<void>;
}

/** @param writeNext writes batches of an account that need not wait; resolves to the number of written batches. */
export function openPassingLanes(
  writeNext: (accountId: number, isSmallOnly: boolean) => Promise<number>,
  log: Log,
): PassingLanes {
  const underWay = new Map<string, Promise<unknown>>();
  let isClosed = false;

  const open = async (accountId: number, write: Promise<unknown>, lane: number): Promise<void> => {
    const over = new AbortController();
    void run(accountId, lane, over.signal);
    await write.catch(() => {}).finally(() => over.abort());
  };
  const run = async (accountId: number, lane: number, over: AbortSignal): Promise<void> => {
    const isSmallOnly = LANES[lane];
    if (isSmallOnly === undefined) return;
    const key = `${accountId}/${lane}`;
    await pause(OPEN_AFTER_MS, over);
    while (!over.aborted && !isClosed) {
      // An earlier long write of the account may have started a write in this lane that is still under way.
      const count = underWay.has(key) ? 0 : await writeIn(key, accountId, lane, isSmallOnly);
      if (count === 0) await pause(POLL_MS, over);
      if (count === undefined) await pause(PAUSE_AFTER_FAILURE_MS, over);
    }
  };
  /** @returns the number of batches written; undefined after a failure. */
  const writeIn = async (key: string, accountId: number, lane: number, isSmallOnly: boolean) => {
    const write = writeNext(accountId, isSmallOnly);
    underWay.set(key, write);
    try {
      await open(accountId, write, lane + 1);
      return await write;
    } catch (error) {
      log.warn(
        { err: error, accountId },
        'could not write the batches that may overtake a long write of the account; the batches that still wait are retried',
      );
      return undefined;
    } finally {
      underWay.delete(key);
    }
  };

  return {
    open: (accountId, write) => open(accountId, write, 0),
    close: async () => {
      isClosed = true;
      await Promise.allSettled(underWay.values());
    },
  };
}

/** Pauses for `ms` milliseconds; ends early when `over` aborts. */
async function pause(ms: number, over: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal: over }).catch(() => {});
}
