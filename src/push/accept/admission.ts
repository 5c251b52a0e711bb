/**
 * Back-pressure (R-D10): rejects pushes while the bodies in this process take too much memory, or too many bytes of
 * accepted readings wait to be written.
 */
import type { Database } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { PushMetrics } from '../push-metrics.ts';

export interface AdmissionLimits {
  readonly maxMemoryBytes: number;
  readonly maxQueueBytes: number;
}

export interface Admission {
  /** Whether the queue is below its limit, by the last known size; false before the first look-up. */
  hasCapacity(): boolean;
  /** @throws {DomainError} queue_full when too many bytes wait to be written. */
  assertQueueCapacity(): Promise<void>;
  /** Adds the bytes of readings that were just queued. */
  noteQueued(bytes: number): void;
  /** Opens the memory account of one body; call `release` when done. */
  openBody(): BodyShare;
}

export interface BodyShare {
  /** @throws {DomainError} queue_full when bodies take too much memory. */
  take(bytes: number): void;
  /** @returns false if bodies take too much memory. */
  tryTake(bytes: number): boolean;
  release(): void;
}

// Maximum age of the known queue size. Bytes that this process adds are counted at once.
const MAX_AGE_MS = 500;

const QUEUE_BYTES = `
  select coalesce(sum(length(rows)), 0)::int8 as bytes from push_batch where set_aside_date is null`;

/** Opens the admission control of this process (R-D10). @param metrics count what is turned away. */
export function openAdmission(
  database: Database,
  { maxMemoryBytes, maxQueueBytes }: AdmissionLimits,
  metrics: Pick<PushMetrics, 'queueFull' | 'memoryFull'>,
): Admission {
  let queueBytes = 0;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<void> | undefined;
  let memoryBytes = 0;

  const readQueueSize = async (): Promise<void> => {
    const { rows } = await database.query<{ bytes: number }>(QUEUE_BYTES);
    queueBytes = rows[0]?.bytes ?? 0;
    readAtMs = performance.now();
  };
  const refresh = (): Promise<void> => {
    refreshing ??= readQueueSize().finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  };

  const hasCapacity = (): boolean => {
    if (readAtMs === Number.NEGATIVE_INFINITY) return false;
    // Refresh in the background; only a refusal waits for the new size.
    if (performance.now() - readAtMs > MAX_AGE_MS) refresh().catch(() => {});
    return queueBytes < maxQueueBytes;
  };

  return {
    hasCapacity: hasCapacity,
    assertQueueCapacity: async () => {
      if (hasCapacity()) return;
      await refresh();
      if (queueBytes < maxQueueBytes) return;
      metrics.queueFull.inc();
      const message = `the queue must hold at most ${maxQueueBytes} bytes of readings, got ${queueBytes}; try again later`;
      throw new DomainError('queue_full', message);
    },
    noteQueued: (bytes) => {
      queueBytes += bytes;
    },
    openBody: () => {
      let taken = 0;
      const tryTake = (bytes: number): boolean => {
        if (memoryBytes + bytes > maxMemoryBytes) return false;
        memoryBytes += bytes;
        taken += bytes;
        return true;
      };
      return {
        tryTake,
        take: (bytes) => {
          if (tryTake(bytes)) return;
          metrics.memoryFull.inc();
          const message = `request bodies must take at most ${maxMemoryBytes} bytes of memory, ${memoryBytes} are in use; try again later`;
          throw new DomainError('queue_full', message);
        },
        release: () => {
          memoryBytes -= taken;
          taken = 0;
        },
      };
    },
  };
}
