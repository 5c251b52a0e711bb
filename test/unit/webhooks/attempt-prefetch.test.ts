/** Tests what the prefetch of attempts does when a claim of attempts fails while no consumer is waiting. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Database } from '../../../src/platform/database/database.ts';
import type { RowLeases } from '../../../src/platform/database/row-leases.ts';
import { openPrefetch } from '../../../src/webhooks/delivery/attempt-prefetch.ts';
import type { ClaimedAttempt } from '../../../src/webhooks/delivery/claim-attempts.ts';
import { openSecretVault } from '../../../src/webhooks/secret-vault.ts';

const RECEIVER = {
  accountId: 1,
  isEnabled: true,
  isFailing: false,
  url: 'https://a.example/',
  headers: {},
  secrets: [],
};

test('webhook delivery: when the prefetch fails to claim attempts in advance, the next `take()` retries the claim (R-A15)', async () => {
  const claims: string[] = [];
  const query = async ({ name }: { readonly name: string }) => {
    if (name !== 'webhook-claim') return { rows: [RECEIVER] };
    claims.push(name);
    if (claims.length === 2) throw new Error('the database restarts');
    return { rows: [{ id: 2 * claims.length }, { id: 2 * claims.length + 1 }] };
  };
  const database = { query } as unknown as Database;
  const leases = { keep: () => undefined } as unknown as RowLeases<ClaimedAttempt>;
  const webhook = { vault: openSecretVault([]), webhookId: 'a' };
  const prefetch = openPrefetch({ database, leases, ...webhook, lanes: 2, isOver: () => false });
  const takeId = async () => (await prefetch.take())?.claimed.id;

  expect([await takeId(), await takeId()]).toEqual([2, 3]);
  // The second claim fails during this pause. If its rejection is not handled, Vitest reports an error of the test run.
  await pause(20);
  expect(claims.length).toBe(2);
  expect(await takeId()).toBe(6);
});
