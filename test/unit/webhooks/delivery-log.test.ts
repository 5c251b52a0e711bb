/**
 * Tests that log lines about a delivery have the ids of the account, the webhook and the attempt (`historyId`; R-K4).
 */
import { expect, test, vi } from 'vitest';
import type { Log } from '../../../src/platform/log.ts';
import { type DeliveryServices, deliverSlice } from '../../../src/webhooks/delivery/deliver-slice.ts';
import { openOutcomeWriter } from '../../../src/webhooks/delivery/outcome-writer.ts';
import type { EndedAttempt } from '../../../src/webhooks/delivery/write-outcomes.ts';
import { openSecretVault } from '../../../src/webhooks/secret-vault.ts';

const RECEIVER = { accountId: 1, isEnabled: true, url: 'https://a.example/', headers: {}, secrets: [] };
const IDS = { accountId: 1, webhookId: 'a', historyId: 7 };

/** Makes one delivery attempt for the webhook `a`; the attempt has the id 7. @returns the spies of the log. */
async function deliver(isHeld: boolean) {
  const attempts = [{ id: 7, attempt: 1, isReplay: false, accountId: 1, timestamp: new Date().toISOString() }];
  const query = async (statement: string | { readonly name: string }) => {
    if (typeof statement === 'string') throw new Error('the claim cannot be released');
    return { rows: statement.name === 'webhook-claim' ? attempts.splice(0) : [RECEIVER] };
  };
  const log = { warn: vi.fn(), error: vi.fn() };
  const services = {
    database: { query },
    vault: openSecretVault([]),
    send: () => Promise.reject(new Error('a bug')),
    writer: { write: async () => {} },
    retries: { delaysSec: [], maxProbePauseMs: 0 },
    parallel: 1,
    leases: { keep: () => {}, isHeld: () => isHeld, drop: async () => {}, stop: () => {} },
    chance: () => 0,
    metrics: { attempted: () => {}, disabled: () => {} },
    isStopped: () => false,
    givingUp: new AbortController().signal,
    log,
  };
  await deliverSlice(services as unknown as DeliveryServices, 'a', { isFailing: false });
  return log;
}

test('webhook delivery: the log names the account, the webhook and the attempt when an internal error ends the attempt, or when the deliverer cannot give a claimed attempt back (R-I3, R-K4)', async () => {
  const failed = await deliver(true);
  expect(failed.error).toHaveBeenCalledWith(expect.objectContaining(IDS), expect.stringContaining('internal error'));
  const lost = await deliver(false);
  expect(lost.warn).toHaveBeenCalledWith(expect.objectContaining(IDS), expect.stringContaining('not be released'));
});

test('webhook delivery: the log names the account, the webhook and the attempt when the outcome of one attempt cannot be stored (R-I3, R-K4)', async () => {
  const warn = vi.fn();
  const store = () => Promise.reject(new Error('the database is unavailable'));
  const writer = openOutcomeWriter({ store, patienceMs: 0, log: { warn } as unknown as Log });
  const ended = {
    claimed: { id: 7, webhookId: 'a', message: { accountId: 1 } },
    endedMs: performance.now(),
  } as unknown as EndedAttempt;
  await writer.write(ended);
  expect(warn).toHaveBeenLastCalledWith(expect.objectContaining({ ...IDS, attempts: 1 }), expect.any(String));
});
