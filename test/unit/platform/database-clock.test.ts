/** Tests the warning that the clock of the database differs from the clock of this machine. */
import { afterEach, expect, test, vi } from 'vitest';
import type { Queryable } from '../../../src/platform/database/database.ts';
import { openDatabaseClock } from '../../../src/platform/database/database-clock.ts';
import { createLog } from '../../../src/platform/log.ts';

afterEach(() => vi.restoreAllMocks());

/**
 * Opens a clock on a simulated database. The clock queries the time immediately.
 * @param readMs milliseconds that the query takes.
 * @param behindMs milliseconds by which the database is behind this machine when the query ends.
 * @returns the fields of the warnings that the clock logs.
 */
async function warningsOf(readMs: number, behindMs: number): Promise<readonly unknown[]> {
  const warnings: unknown[] = [];
  const log = Object.assign(createLog('silent', 'test'), { warn: (fields: unknown) => warnings.push(fields) });
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const query = async () => {
    now += readMs;
    return { rows: [{ millis: Date.now() - behindMs }] };
  };
  const clock = await openDatabaseClock({ query } as unknown as Queryable, log);
  await clock.stop();
  return warnings;
}

test('database clock: when the clock of this machine is a minute ahead, a warning gives the difference in milliseconds', async () => {
  const warnings = (await warningsOf(10, 60_000)) as readonly { readonly aheadMs: number }[];
  expect(warnings).toHaveLength(1);
  expect(Math.abs((warnings[0]?.aheadMs ?? 0) - 60_000)).toBeLessThan(1000);
});

test('database clock: when the clocks agree, no warning is given, even if reading the clock of the database takes 16 s', async () => {
  expect(await warningsOf(16_000, 16_000)).toEqual([]);
  expect(await warningsOf(16_000, 0)).toEqual([]);
});
