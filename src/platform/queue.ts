/**
 * BullMQ carries ids only. A job says "look at this key", not what to do: what to do stands in the database, so a job
 * lost, doubled or late changes nothing but the delay. One job per key runs and at most one more waits.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { Log } from './log.ts';

export interface QueueOptions {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly log: Log;
}

export interface WakeQueue {
  /** Asks for a look at each key. Fails when Redis is unreachable: the caller relies on its sweeper then. */
  wake(keys: readonly string[]): Promise<void>;
  ping(): Promise<void>;
  /** Jobs by state: `waiting` to be taken, `active`. */
  count(): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

export interface WakeWorker {
  /** Finishes the keys under way and takes no more. */
  close(): Promise<void>;
}

// A worker that died is noticed within about lock + interval; one that lives renews its lock while it works.
const LOCK_DURATION_MS = 6000;
const STALLED_INTERVAL_MS = 3000;

// BullMQ itself would wait for Redis without end, and a push with it.
const WAKE_TIMEOUT_MS = 2000;
const AWAY: ReadonlySet<string> = new Set(['close', 'reconnecting', 'end']);

// A worker waits for Redis to hear how its work ended, without end when Redis is away; who comes next finds out anyway.
const FAREWELL_MS = 1000;

interface WakeJob {
  readonly key: string;
}

/** The producing end of the queue called `name`. */
export function openWakeQueue(name: string, { redisUrl, prefix, log }: QueueOptions): WakeQueue {
  const connection = new Redis(redisUrl, {
    maxRetriesPerRequest: 1,
    enableOfflineQueue: true,
    commandTimeout: 5000,
  });
  connection.on('error', (error) => log.warn({ err: error, queue: name }, 'Redis is unreachable'));
  const queue = new Queue<WakeJob>(name, { connection, prefix });
  queue.on('error', (error) => log.warn({ err: error, queue: name }, 'queue error'));
  return {
    wake: async (keys) => {
      if (AWAY.has(connection.status)) throw new Error('Redis is unreachable');
      await withinTime(
        queue.addBulk(
          keys.map((key) => ({
            name: 'wake',
            data: { key },
            opts: {
              deduplication: { id: key, keepLastIfActive: true },
              removeOnComplete: true,
              removeOnFail: true,
            },
          })),
        ),
        WAKE_TIMEOUT_MS,
      );
    },
    ping: async () => {
      await connection.ping();
    },
    count: async () => {
      const { waiting = 0, active = 0 } = await queue.getJobCounts('waiting', 'active');
      return { waiting, active };
    },
    close: async () => {
      await queue.close();
      connection.disconnect();
    },
  };
}

/** What comes of `work` after the time has passed is of no interest. */
async function withinTime(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('Redis did not answer in time')), timeoutMs);
  });
  try {
    await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The consuming end: calls `work` with a key, never twice at once for the same key on a healthy worker. An error is
 * logged; the sweeper comes back to the key.
 */
export function openWakeWorker(
  name: string,
  concurrency: number,
  work: (key: string) => Promise<void>,
  { redisUrl, prefix, log }: QueueOptions,
): WakeWorker {
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  connection.on('error', (error) => log.warn({ err: error, queue: name }, 'Redis is unreachable'));
  const underWay = new Set<Promise<void>>();
  const perform = async (key: string): Promise<void> => {
    const job = work(key);
    underWay.add(job);
    await job.finally(() => underWay.delete(job));
  };
  const worker = new Worker<WakeJob>(name, (job) => perform(job.data.key), {
    connection,
    prefix,
    concurrency,
    lockDuration: LOCK_DURATION_MS,
    stalledInterval: STALLED_INTERVAL_MS,
    maxStalledCount: 1000,
  });
  worker.on('error', (error) => log.warn({ err: error, queue: name }, 'worker error'));
  worker.on('failed', (job, error) => log.error({ err: error, queue: name, key: job?.data.key }, 'work failed'));
  return {
    close: async () => {
      const closed = worker.close();
      await Promise.race([closed, hasEnded(underWay).then(() => pause(FAREWELL_MS))]);
      connection.disconnect();
    },
  };
}

async function hasEnded(underWay: ReadonlySet<Promise<void>>): Promise<void> {
  while (underWay.size > 0) await Promise.allSettled(underWay);
}
