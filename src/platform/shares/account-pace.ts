/**
 * Limits the rate of heavy work per account (R-A14). While several accounts do such work, each account runs one unit at
 * a time and works for a limited fraction of the time. An account that works alone does not wait. A semaphore would not
 * help: the light work of other accounts waits for CPU time of this process and of the database, not for permits.
 */
import { setTimeout as wait } from 'node:timers/promises';

export interface AccountPace {
  /**
   * Waits until the account is allowed to work, and then runs one unit of work. A unit should take a few dozen
   * milliseconds.
   */
  run<Result>(accountId: number, work: () => Promise<Result>): Promise<Result>;
}

export interface AccountPaceOptions {
  /** While several accounts are active, each may work for this fraction of the time. Above 0 and below 1. */
  readonly share: number;
  readonly nowMs?: () => number;
  /** Resolves after the given number of milliseconds. */
  readonly pause?: (ms: number) => Promise<void>;
}

/** An account still counts as active for this time after its last unit of work has ended. */
const ACTIVE_MS = 1000;
/** An account pauses only when its debt exceeds this credit, so that light work causes no pause. */
const CREDIT_MS = 100;
/**
 * Maximum debt of an account. When another account becomes active, an account with a debt pauses; this maximum limits
 * the pause.
 */
const MAX_DEBT_MS = 1000;

interface Pacing {
  /** Number of units of work that were requested and have not ended. */
  asked: number;
  running: number;
  /**
   * Debt of the account at the time `debtAtMs`. Each unit of work adds its duration to the debt; each elapsed
   * millisecond subtracts `share` milliseconds.
   */
  debtMs: number;
  debtAtMs: number;
  lastMs: number;
  /** Resolves as soon as any unit of work of the account ends. */
  ended: PromiseWithResolvers<void>;
  /** Resolves when the most recently requested unit of work has begun. Units begin in the order of the requests. */
  begun: Promise<void>;
}

/** Creates a rate limiter in which no account has a debt yet. */
export function openAccountPace(options: AccountPaceOptions): AccountPace {
  const { share, nowMs = () => performance.now(), pause = wait } = options;
  const accounts = new Map<number, Pacing>();
  const isActive = (pacing: Pacing): boolean => pacing.asked > 0 || nowMs() - pacing.lastMs < ACTIVE_MS;
  const isContended = (accountId: number): boolean => {
    for (const [other, pacing] of accounts) {
      if (other === accountId) continue;
      if (isActive(pacing)) return true;
      accounts.delete(other);
    }
    return false;
  };
  const debtOf = (pacing: Pacing): number => Math.max(0, pacing.debtMs - (nowMs() - pacing.debtAtMs) * share);
  const find = (accountId: number): Pacing => {
    const known = accounts.get(accountId);
    if (known) return known;
    const times = { debtMs: 0, debtAtMs: nowMs(), lastMs: nowMs() };
    const pacing = { ...times, asked: 0, running: 0, ended: Promise.withResolvers<void>(), begun: Promise.resolve() };
    accounts.set(accountId, pacing);
    return pacing;
  };
  const awaitTurn = async (accountId: number, pacing: Pacing): Promise<void> => {
    while (isContended(accountId)) {
      const restMs = (debtOf(pacing) - CREDIT_MS) / share;
      if (pacing.running > 0) await pacing.ended.promise;
      else if (restMs > 0) await pause(restMs);
      else return;
    }
  };
  const begin = async (accountId: number, pacing: Pacing): Promise<void> => {
    pacing.asked += 1;
    pacing.begun = pacing.begun
      .then(() => awaitTurn(accountId, pacing))
      .then(() => {
        pacing.running += 1;
      });
    await pacing.begun;
  };
  const end = (pacing: Pacing, startMs: number): void => {
    const debtMs = Math.min(MAX_DEBT_MS, debtOf(pacing) + nowMs() - startMs);
    Object.assign(pacing, { debtMs, debtAtMs: nowMs(), lastMs: nowMs() });
    pacing.asked -= 1;
    pacing.running -= 1;
    pacing.ended.resolve();
    pacing.ended = Promise.withResolvers();
  };
  return {
    run: async (accountId, work) => {
      const pacing = find(accountId);
      await begin(accountId, pacing);
      const startMs = nowMs();
      try {
        return await work();
      } finally {
        end(pacing, startMs);
      }
    },
  };
}
