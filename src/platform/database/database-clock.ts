/**
 * The clock of the database. Webhook messages are signed with its time, because the machine's own clock may be wrong,
 * and receivers reject messages that were signed with a wrong time. Between two queries of the database's clock, the
 * monotonic clock measures the time, so a step of the machine's clock has no effect.
 */
import { type Clock, systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import { type Sweeper, startSweeper } from '../sweep.ts';
import { throttle } from '../throttle.ts';
import type { Queryable } from './database.ts';

const READ_INTERVAL_MS = 30_000;
const NOTEWORTHY_MS = 5000;
const WARN_INTERVAL_MS = 600_000;

export interface DatabaseClock extends Clock, Sweeper {}

/**
 * Reads the database's clock immediately, then every 30 s.
 * @returns a clock that shows the machine's time until the database has answered for the first time.
 */
export async function openDatabaseClock(database: Queryable, log: Log): Promise<DatabaseClock> {
  let offsetMs: number | undefined;
  const warn = throttle(WARN_INTERVAL_MS, (aheadMs: number) =>
    log.warn(
      { aheadMs },
      'the clock of this machine differs from the clock of the database; the field aheadMs says by how many milliseconds this machine is ahead (negative: behind); webhooks use the database clock; correct the wrong clock',
    ),
  );
  const read = async (): Promise<void> => {
    const sentMs = performance.now();
    const { rows } = await database.query<{ millis: number }>(
      'select extract(epoch from clock_timestamp())::float8 * 1000 as millis',
    );
    const receivedMs = performance.now();
    const millis = rows[0]?.millis ?? 0;
    // Ignores slow answers, because an answer can be wrong by half of the duration of the query. The first answer is
    // always used.
    if (receivedMs - sentMs > 1000 && offsetMs !== undefined) return;
    offsetMs = millis - (sentMs + receivedMs) / 2;
    const aheadMs = Math.round(systemClock.nowMillis() - (offsetMs + performance.now()));
    // Subtracts the greatest possible error, so that a slow query alone causes no warning.
    if (Math.abs(aheadMs) - (receivedMs - sentMs) / 2 > NOTEWORTHY_MS) warn(aheadMs);
  };
  const first = Promise.withResolvers<void>();
  const sweeper = startSweeper('database clock', READ_INTERVAL_MS, () => read().finally(first.resolve), log);
  await first.promise;
  return {
    nowMillis: () => (offsetMs === undefined ? systemClock.nowMillis() : Math.round(offsetMs + performance.now())),
    stop: sweeper.stop,
  };
}
