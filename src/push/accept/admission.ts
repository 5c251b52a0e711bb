/**
 * Turns pushes away before memory or the queue grows too large (R-D10): by the bytes of the bodies being worked on in this
 * process, and by the bytes of all accepted readings that still wait to be written.
 */
import type { Database } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { PushMetrics } from '../push-metrics.ts';

export interface AdmissionLimits {
  readonly maxMemoryBytes: number;
  readonly maxQueueBytes: number;
}

export interface Admission {
  /** Whether it is known that the queue has room. */
  hasRoom(): boolean;
  /** @throws DomainError queue_full while too much waits to be written. */
  assertQueueHasRoom(): Promise<void>;
  /** Notes readings that were put into the queue just now. */
  noteQueued(bytes: number): void;
  /** A part of the memory for one body; it is given back by `release`. */
  openBody(): BodyShare;
}

export interface BodyShare {
  /** @throws DomainError queue_full when bodies take too much memory already. */
  take(bytes: number): void;
  /** @returns whether there is memory for them. */
  tryTake(bytes: number): boolean;
  release(): void;
}

// How old the known size of the queue may be. What this process adds meanwhile is counted at once.
const MAX_AGE_MS = 500;

const QUEUE_BYTES = `
  select coalesce(sum(length(rows)), 0)::int8 as bytes from push_batch where set_aside_date is null`;

export function openAdmission(
  database: Database,
  { maxMemoryBytes, maxQueueBytes }: AdmissionLimits,
  metrics: Pick<PushMetrics, 'queueFull' | 'memoryFull'>,
): Admission {
  let queueBytes = 0;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  let memoryBytes = 0;

  const look = async (): Promise<void> => {
    const { rows } = await database.query<{ bytes: number }>(QUEUE_BYTES);
    queueBytes = rows[0]?.bytes ?? 0;
    lookedAtMs = performance.now();
  };
  const lookOnce = (): Promise<void> => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };

  const hasRoom = (): boolean => {
    if (lookedAtMs === Number.NEGATIVE_INFINITY) return false;
    // Nobody waits for a newer number, unless it decides.
    if (performance.now() - lookedAtMs > MAX_AGE_MS) lookOnce().catch(() => {});
    return queueBytes < maxQueueBytes;
  };

  return {
    hasRoom,
    assertQueueHasRoom: async () => {
      if (hasRoom()) return;
      await lookOnce();
      if (queueBytes < maxQueueBytes) return;
      metrics.queueFull.inc();
      const message = `${queueBytes} bytes of readings wait to be written, at most ${maxQueueBytes} may; please try again`;
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
          const message = `bodies being read take ${memoryBytes} of ${maxMemoryBytes} bytes of memory; please try again`;
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
