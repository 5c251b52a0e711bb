/**
 * Each user has one request budget for REST, push and gRPC together (R-B15). While at least half of the budget is left,
 * requests do not wait for Redis.
 */
import type { PacedLimiter } from './paced-refusals.ts';

export interface UserBudget {
  /** The limit, as a sentence for `assertRate`. */
  readonly rule: string;
  /** @returns milliseconds to wait; 0 when the request passes. */
  count(userId: string, cost?: number): Promise<number>;
  /** Counts a request without waiting for Redis. @returns false when the request exceeds the user's limit. */
  countInMemory(userId: string, cost: number): boolean;
  /** @returns true when the user continues to send requests although many of them are refused. */
  isFlooding(userId: string): boolean;
}

/** Opens the request budgets of users. @param perMinute API_RATE_PER_MINUTE; 0 means no limit. */
export function openUserBudget(limiter: PacedLimiter, perMinute: number): UserBudget {
  const rule = `a user may make at most ${perMinute} requests per minute; ten pushes count as one request, or less`;
  if (perMinute === 0) return { rule, count: async () => 0, countInMemory: () => true, isFlooding: () => false };
  const keyOf = (userId: string): string => `user:${userId}`;
  return {
    rule,
    count: async (userId, cost = 1) => {
      const key = keyOf(userId);
      const isCounted = limiter.isHalfFree(key, perMinute, cost) && limiter.countInMemory(key, perMinute, cost);
      return isCounted ? 0 : limiter.count(key, perMinute, cost);
    },
    countInMemory: (userId, cost) => limiter.countInMemory(keyOf(userId), perMinute, cost),
    isFlooding: (userId) => limiter.isFlooded(keyOf(userId)),
  };
}
