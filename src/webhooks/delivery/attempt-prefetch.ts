/**
 * What a turn has to send: claimed in portions that begin with as many as can be sent at once and grow while they are sent
 * quickly, the next portion while the last is being sent. So a slow receiver never has more than a few claimed, and
 * a fast one does not wait for the database.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../platform/database/database.ts';
import type { WebhookTarget } from '../webhook.ts';
import { type ClaimedAttempt, claimAttempts, findReceiver } from './claim-attempts.ts';

export interface DueAttempt {
  readonly claimed: ClaimedAttempt;
  readonly target: WebhookTarget;
}

export interface AttemptPrefetch {
  /** The next to send; undefined when the turn is over, or nothing is due and nothing is being sent. */
  take(): Promise<DueAttempt | undefined>;
  /** What was taken is sent. */
  done(): void;
  /** Takes no more. @returns what was claimed and not taken. */
  end(): Promise<readonly ClaimedAttempt[]>;
  /** The turn was over before everything was sent. */
  isMoreDue(): boolean;
}

export interface PrefetchOptions {
  readonly database: Database;
  readonly webhookId: string;
  readonly leaseMs: number;
  /** How many take from it at the same time. */
  readonly lanes: number;
  /** The turn is over. */
  readonly isOver: () => boolean;
}

const MAX_CLAIM = 64;
/** While one answer is waited for, what comes meanwhile does not wait for it too. */
const LOOK_AGAIN_MS = 200;

export function openPrefetch({ database, webhookId, leaseMs, lanes, isOver }: PrefetchOptions): AttemptPrefetch {
  const ready: DueAttempt[] = [];
  let limit = lanes;
  let isDry = false;
  let refilling: Promise<void> | undefined;
  let taken = 0;
  let allDone = Promise.withResolvers<void>();
  const waitForNews = async (): Promise<void> => {
    const timer = new AbortController();
    await Promise.race([
      allDone.promise,
      pause(LOOK_AGAIN_MS, undefined, { signal: timer.signal }).catch(() => undefined),
    ]);
    timer.abort();
    if (taken > 0) isDry = false;
  };
  const refill = async (): Promise<void> => {
    const claimed = await claimAttempts(database, webhookId, limit, leaseMs);
    isDry = claimed.length < limit;
    limit = Math.min(2 * limit, MAX_CLAIM);
    if (claimed.length === 0) return;
    // Looked up after the claim: what a manager has changed by now holds for these.
    const receiver = await findReceiver(database, webhookId);
    if (receiver) ready.push(...claimed.map((attempt) => ({ claimed: attempt, target: receiver.target })));
  };
  const startRefill = (): void => {
    refilling ??= refill().finally(() => {
      refilling = undefined;
    });
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
        else if (taken > 0) await waitForNews();
        else return undefined;
      }
    },
    done: () => {
      taken -= 1;
      if (taken === 0) allDone.resolve();
    },
    end: async () => {
      // If it failed, whoever took has thrown it.
      await refilling?.catch(() => undefined);
      return ready.splice(0).map(({ claimed }) => claimed);
    },
    isMoreDue: () => !isDry || ready.length > 0,
  };
}
