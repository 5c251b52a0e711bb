/**
 * Prefetch of due attempts for one time slice. The maximum size of the first batch is the number of lanes. For each
 * later batch, the maximum doubles, but does not exceed 64 attempts. As a result, only a few attempts are claimed for a
 * slow receiver, and a fast receiver seldom waits for the database.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../platform/database/database.ts';
import { LEASE_MS, type RowLeases } from '../../platform/database/row-leases.ts';
import type { SecretVault } from '../secret-vault.ts';
import type { WebhookTarget } from '../webhook.ts';
import { type ClaimedAttempt, claimAttempts, findReceiver } from './claim-attempts.ts';

export interface DueAttempt {
  readonly claimed: ClaimedAttempt;
  readonly target: WebhookTarget;
}

export interface AttemptPrefetch {
  /** @returns the next attempt; undefined when the time slice is over, or when no attempt is due and none in flight. */
  take(): Promise<DueAttempt | undefined>;
  /** The consumer calls this when an attempt that it got from `take` is no longer in flight. */
  done(): void;
  /** Ends the prefetch. @returns the claimed attempts that `take` did not return; their claims are still renewed. */
  end(): Promise<readonly ClaimedAttempt[]>;
  /** Whether more attempts of the webhook might be due. */
  isMoreDue(): boolean;
}

export interface PrefetchOptions {
  readonly database: Database;
  readonly vault: SecretVault;
  readonly webhookId: string;
  /** Renews the claim of an attempt both while the attempt waits for `take` and after `take` has returned it. */
  readonly leases: RowLeases<ClaimedAttempt>;
  /** Number of lanes (concurrent consumers). Each lane calls `take` to get its attempts. */
  readonly lanes: number;
  /** Whether the time slice is over. When it is over, `take` returns no further attempt. */
  readonly isOver: () => boolean;
}

const MAX_BATCH = 64;
/** When no more attempts are due, but some are in flight, an idle lane claims again after this many milliseconds. */
const RECHECK_MS = 200;

/** Opens a prefetch; it claims nothing before the first `take`. */
export function openPrefetch({ database, vault, webhookId, leases, lanes, isOver }: PrefetchOptions): AttemptPrefetch {
  const ready: DueAttempt[] = [];
  let limit = lanes;
  let isDry = false;
  let refilling: Promise<void> | undefined;
  let taken = 0;
  let allDone = Promise.withResolvers<void>();
  const waitForChange = async (): Promise<void> => {
    const timer = new AbortController();
    await Promise.race([
      allDone.promise,
      pause(RECHECK_MS, undefined, { signal: timer.signal }).catch(() => undefined),
    ]);
    timer.abort();
    if (taken > 0) isDry = false;
  };
  const refill = async (): Promise<void> => {
    const beganMs = performance.now();
    const claimed = await claimAttempts(database, webhookId, limit, LEASE_MS);
    isDry = claimed.length < limit;
    limit = Math.min(2 * limit, MAX_BATCH);
    if (claimed.length === 0) return;
    // The receiver is read after the claim, so that the latest changes by a manager apply to these attempts.
    const receiver = await findReceiver(database, vault, webhookId);
    if (!receiver) return;
    leases.keep(claimed, beganMs);
    ready.push(...claimed.map((attempt) => ({ claimed: attempt, target: receiver.target })));
  };
  const startRefill = (): void => {
    if (refilling) return;
    refilling = refill().finally(() => {
      refilling = undefined;
    });
    // Without this handler, a failed refill would end the process when no lane awaits the refill.
    refilling.catch(() => undefined);
  };
  return {
    take: async () => {
      for (;;) {
        if (isOver()) return undefined;
        if (ready.length < lanes && !isDry) startRefill();
        const due = ready.shift();
        if (due) {
          if (taken === 0) allDone = Promise.withResolvers<void>();
          taken += 1;
          return due;
        }
        if (refilling) await refilling;
        else if (taken > 0) await waitForChange();
        else return undefined;
      }
    },
    done: () => {
      taken -= 1;
      if (taken === 0) allDone.resolve();
    },
    end: async () => {
      // A failed refill is ignored: delivery attempts that the refill has claimed can be claimed again when their lease
      // ends.
      await refilling?.catch(() => undefined);
      return ready.splice(0).map(({ claimed }) => claimed);
    },
    isMoreDue: () => !isDry || ready.length > 0,
  };
}
