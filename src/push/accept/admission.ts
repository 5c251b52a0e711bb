/**
 * Back-pressure (R-D10): rejects pushes while bodies take too much memory, or while too many readings wait to be
 * written. The memory is divided among accounts and users (platform/shares/shared-budget.ts). The queue is divided
 * among accounts (R-A14).
 */
import type { Database } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { type BudgetBound, type BudgetOwner, openSharedBudget } from '../../platform/shares/shared-budget.ts';
import type { PushMetrics } from '../push-metrics.ts';
import { findQueuedBytes } from '../store/queue-state.ts';

export interface AdmissionLimits {
  readonly maxMemoryBytes: number;
  readonly maxQueueBytes: number;
}

export interface Admission {
  /**
   * Returns true when, by the last known queue sizes, the queue has capacity for the account. Returns false while no
   * queue sizes are known.
   */
  hasCapacity(accountId: number): boolean;
  /** @throws {DomainError} queue_full when the account's part of the queue is at least as large as the free part. */
  assertQueueCapacity(accountId: number): Promise<void>;
  /** Adds the bytes of newly queued readings to both known queue sizes: that of the account and the total. */
  noteQueued(accountId: number, bytes: number): void;
  /** Starts counting the memory of one body. The caller must call `release` on the result when the request ends. */
  openBody(owner: BudgetOwner): BodyShare;
}

export interface BodyShare {
  /**
   * @param bytes number of bytes to add.
   * @throws {DomainError} queue_full when request bodies would take too much memory with these bytes.
   */
  take(bytes: number): void;
  /**
   * @param bytes number of bytes to add.
   * @returns false, and adds nothing, when request bodies would take too much memory with these bytes.
   */
  tryTake(bytes: number): boolean;
  release(): void;
}

type Refusals = Pick<PushMetrics, 'queueFull' | 'memoryFull'>;

/**
 * Opens the admission control of this process (R-D10).
 * @param metrics counters of refused pushes.
 */
export function openAdmission(database: Database, limits: AdmissionLimits, metrics: Refusals): Admission {
  const memory = openSharedBudget(limits.maxMemoryBytes);
  return {
    ...watchQueue(database, limits.maxQueueBytes, metrics),
    openBody: (owner) => {
      const { take, release } = memory.open(owner);
      let own = 0;
      const add = (bytes: number): BudgetBound | undefined => {
        const bound = take(bytes);
        if (!bound) own += bytes;
        return bound;
      };
      return {
        release,
        tryTake: (bytes) => add(bytes) === undefined,
        take: (bytes) => {
          const bound = add(bytes);
          if (!bound) return;
          metrics.memoryFull.inc();
          throw new DomainError('queue_full', describeMemory(bound, own, limits.maxMemoryBytes));
        },
      };
    },
  };
}

/** @param own how many bytes the refused body has taken so far. */
function describeMemory({ of, held }: BudgetBound, own: number, maxBytes: number): string {
  const max = `${toMebibytes(maxBytes)} MiB`;
  if (of === 'total' && held === own) {
    return `this body alone needs more than the ${max} of memory that all push bodies together may take; send several smaller requests`;
  }
  const used = toMebibytes(held);
  if (of === 'total') {
    return `all push bodies together may take at most ${max} of memory, and ${used} MiB are in use; try again later`;
  }
  const rule = `this body would leave too little memory for the push bodies of other ${of}s`;
  return `${rule}; this ${of} uses ${used} MiB of the ${max} that all push bodies together may take; try again later`;
}

function toMebibytes(bytes: number): number {
  return Number((bytes / 2 ** 20).toFixed(1));
}

// The known queue sizes are read again in the background when they are older than this. Bytes that this process queues
// are added to the known sizes immediately.
const MAX_AGE_MS = 500;

/** Tracks, per account, how many bytes of readings wait to be written. */
function watchQueue(database: Database, maxBytes: number, metrics: Refusals): Omit<Admission, 'openBody'> {
  let total = 0;
  let byAccount = new Map<number, number>();
  let readAtMs = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<void> | undefined;

  const readQueueSize = async (): Promise<void> => {
    byAccount = new Map(await findQueuedBytes(database));
    total = [...byAccount.values()].reduce((sum, bytes) => sum + bytes, 0);
    readAtMs = performance.now();
  };
  const refresh = (): Promise<void> => {
    refreshing ??= readQueueSize().finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  };
  const fits = (accountId: number): boolean => total + (byAccount.get(accountId) ?? 0) < maxBytes;
  const hasCapacity = (accountId: number): boolean => {
    if (readAtMs === Number.NEGATIVE_INFINITY) return false;
    // Refreshes in the background: a push waits for new sizes only if the known sizes leave no capacity.
    if (performance.now() - readAtMs > MAX_AGE_MS) refresh().catch(() => {});
    return fits(accountId);
  };

  return {
    hasCapacity,
    assertQueueCapacity: async (accountId) => {
      if (hasCapacity(accountId)) return;
      await refresh();
      if (fits(accountId)) return;
      metrics.queueFull.inc();
      const own = byAccount.get(accountId) ?? 0;
      throw new DomainError(
        'queue_full',
        `the queue holds ${toMebibytes(total)} MiB of readings (limit: ${toMebibytes(maxBytes)} MiB), ` +
          `${toMebibytes(own)} MiB of them from this account; pushes of an account are refused when the account ` +
          'has at least as much in the queue as is left free; try again later',
      );
    },
    noteQueued: (accountId, bytes) => {
      total += bytes;
      byAccount.set(accountId, (byAccount.get(accountId) ?? 0) + bytes);
    },
  };
}
