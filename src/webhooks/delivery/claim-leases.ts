/**
 * Renews the claims of the attempts that this process has in flight. The lease is therefore shorter than the time-out of a
 * request: the attempts of a process that is suspended or gone are due again after LEASE_MS. Used by the deliverer.
 */
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import { type ClaimedAttempt, renewClaims } from './claim-attempts.ts';

/** Duration of a claim from its start or its last renewal. */
export const LEASE_MS = 6000;
const RENEWAL_MS = 2000;

export interface ClaimLeases {
  /** Renews the claims of these attempts from now on. */
  keep(attempts: readonly ClaimedAttempt[]): void;
  /** Ends the renewal. Afterwards `claimedUntil` is final and serves as the fencing token of a write. */
  drop(attempts: readonly ClaimedAttempt[]): Promise<void>;
  stop(): void;
}

/** Starts the renewal; claims that cannot be renewed in time are lost to another process. */
export function openClaimLeases(database: Database, log: Log): ClaimLeases {
  const kept = new Set<ClaimedAttempt>();
  let renewal: Promise<void> | undefined;
  const renew = async (): Promise<void> => {
    const attempts = [...kept];
    try {
      await renewClaims(database, attempts, LEASE_MS);
    } catch (error) {
      log.warn({ err: error, attempts: attempts.length }, 'claims of webhook attempts could not be renewed');
    }
  };
  const timer = setInterval(() => {
    if (kept.size === 0) return;
    renewal ??= renew().finally(() => {
      renewal = undefined;
    });
  }, RENEWAL_MS);
  return {
    keep: (attempts) => {
      for (const attempt of attempts) kept.add(attempt);
    },
    drop: async (attempts) => {
      for (const attempt of attempts) kept.delete(attempt);
      // A renewal under way may still change the token.
      await renewal;
    },
    stop: () => clearInterval(timer),
  };
}
