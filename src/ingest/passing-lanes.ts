/**
 * Lets batches of an account overtake a long write of that account (R-D6). `takeBatches` decides which batches need not
 * wait for the long write. One ingester runs at most three writes of an account at the same time: the long write, one
 * write in the first lane, and one in the second. The second lane takes only small batches; it is used when the write
 * in the first lane is long too.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../platform/log.ts';

/** A write that takes longer than this is a long write: other batches may be written while it continues. */
const OPEN_AFTER_MS = 100;
const POLL_MS = 50;
const PAUSE_AFTER_FAILURE_MS = 1000;
/** The lanes of an account, in the order in which they open. True: the lane takes only small batches. */
const LANES = [false, true] as const;

export interface PassingLanes {
  /**
   * Waits until the operation `write` ends. If it takes long, the lanes store other batches of the account in the
   * meantime.
   */
  open(accountId: number, write: Promise<unknown>): Promise<void>;
  /**
   * Starts no further write in the lanes, and waits for the writes that the lanes have started. Does not wait for the
   * long write that was passed to `open`.
   */
  close(): Promise<void>;
}

/**
 * @param writeNext writes waiting batches of an account beside its running write; with `isSmallOnly`, only small ones.
 *   Resolves to the number of batches written.
 */
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
      // A lane runs one write at a time, and an earlier write of this lane may still be running.
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
        'processing more batches of the account during a long write failed; batches that were not written stay queued and are retried, unless they are set aside',
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
