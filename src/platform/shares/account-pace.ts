/**
 * Paces heavy work per account (R-A14). While other accounts do such work too, each account does one unit at a time and is
 * at work for a bounded share of the time; alone, its units run at once. A queue of permits does not do this: what light work
 * of others lacks is not a permit but processor time of this process and of the database.
 */
import { setTimeout as wait } from 'node:timers/promises';

export interface AccountPace {
  /** Runs one unit of work of an account, a few dozen milliseconds long, when it is the account's turn. */
  run<Result>(accountId: number, work: () => Promise<Result>): Promise<Result>;
}

export interface AccountPaceOptions {
  /** Part of the time, above 0 and below 1, in which a paced account may work. */
  readonly share: number;
  readonly nowMs?: () => number;
  /** Resolves after the given number of milliseconds. */
  readonly pause?: (ms: number) => Promise<void>;
}

/** An account counts as active until this long after the end of its last unit of work. */
const ACTIVE_MS = 1000;
/** An account that worked less than this lately does not rest: light work is never delayed. */
const CREDIT_MS = 100;
/** Work that an account did alone costs it at most this much when others come. */
const MAX_DEBT_MS = 1000;

interface Pacing {
  /** Units of work that were requested and have not ended. */
  asked: number;
  running: number;
  /** Milliseconds of work beyond the share, at `debtAtMs`; they decay by the share. */
  debtMs: number;
  debtAtMs: number;
  lastMs: number;
  /** Resolves when the next unit of work ends. */
  ended: PromiseWithResolvers<void>;
  /** Resolves when the unit of work requested last has begun: units begin in the order of their calls. */
  begun: Promise<void>;
}

/** Keeps the accounts of the last second in memory. */
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
