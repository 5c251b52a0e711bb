import { describe, expect, it } from 'vitest';
import { openPassingLanes } from '../../../src/ingest/passing-lanes.ts';
import { createLog } from '../../../src/platform/log.ts';
import { eventually } from '../../support/eventually.ts';

const log = createLog('silent', 'test');

/** Opens lanes with simulated writes. Each write ends when the test settles its promise. */
function openLanes() {
  const asked: boolean[] = [];
  const writes: PromiseWithResolvers<number>[] = [];
  const lanes = openPassingLanes((_accountId, isSmallOnly) => {
    asked.push(isSmallOnly);
    const write = Promise.withResolvers<number>();
    writes.push(write);
    return write.promise;
  }, log);
  return { lanes, asked, writes };
}

describe('ingester: during a long write, extra lanes write other batches of the account', () => {
  it('no lane is opened during a write that ends immediately (R-D6)', async () => {
    const { lanes, asked } = openLanes();
    await lanes.open(1, Promise.resolve());
    await lanes.close();
    expect(asked).toEqual([]);
  });

  it('an account gets at most two lanes, and the second lane writes only small batches (R-D6)', async () => {
    const { lanes, asked, writes } = openLanes();
    const long = Promise.withResolvers<void>();
    const opened = lanes.open(1, long.promise);
    await eventually('both lanes', async () => asked.length === 2);
    expect(asked).toEqual([false, true]);
    // Both lanes of the account are still busy when the account's next write begins. An account has at most two lanes,
    // so this write opens no third lane.
    const other = Promise.withResolvers<void>();
    const openedAgain = lanes.open(1, other.promise);
    writes[1]?.resolve(1);
    await eventually('the next small batches', async () => asked.length === 3);
    expect(asked).toEqual([false, true, true]);
    const openedElsewhere = lanes.open(2, long.promise);
    await eventually('both lanes of another account', async () => asked.length === 5);
    expect(asked.slice(3)).toEqual([false, true]);

    long.resolve();
    other.resolve();
    await Promise.all([opened, openedAgain, openedElsewhere]);
    let isClosed = false;
    const closed = lanes.close().then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    for (const { resolve } of writes) resolve(0);
    await closed;
    expect(asked).toHaveLength(5);
  });

  it('a lane continues after one of its writes has failed (R-A15)', async () => {
    const { lanes, asked, writes } = openLanes();
    const long = Promise.withResolvers<void>();
    const opened = lanes.open(1, long.promise);
    const ofFirstLane = () => asked.filter((isSmallOnly) => !isSmallOnly).length;
    await eventually('the first lane', async () => ofFirstLane() === 1);
    writes[0]?.reject(new Error('no room'));
    await eventually('its next attempt', async () => ofFirstLane() === 2);
    long.resolve();
    for (const { resolve } of writes) resolve(0);
    await opened;
    await lanes.close();
  });
});
