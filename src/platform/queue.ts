/**
 * Queues of BullMQ. A job carries only a key to check. The work is stored in the database, so no work is lost when a
 * job is lost.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import type { Log } from './log.ts';
import { BLOCK_SEC, openRedis } from './redis.ts';

export interface QueueOptions {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly log: Log;
}

export interface WakeQueue {
  /** Name of the queue in Redis; the workers of the queue have the same name. */
  readonly name: string;
  /**
   * Asks workers to check each key. Never rejects.
   * @returns false when Redis is unreachable; the sweeper of the worker then finds the keys in the database.
   */
  wake(keys: readonly string[]): Promise<boolean>;
  ping(): Promise<void>;
  /** Returns the number of waiting jobs as `waiting` and the number of running jobs as `active`. */
  count(): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

/**
 * A queue whose keys may carry members. Members are ids to check; Redis keeps the members of a key until a worker takes
 * them, or until MEMBERS_TTL_SEC have passed since the last addition.
 */
export interface MemberQueue extends WakeQueue {
  /**
   * Adds members to keys, and asks workers to check these keys. Never rejects.
   * @returns false when Redis is unreachable.
   */
  wakeMembers(members: ReadonlyMap<string, readonly string[]>): Promise<boolean>;
  /**
   * Removes up to `limit` members of a key and returns them in no particular order. Returns none when Redis is
   * unreachable.
   */
  takeMembers(key: string, limit: number): Promise<readonly string[]>;
  /** Returns the number of workers of the queue in all processes; undefined when Redis is unreachable. */
  countWorkers(): Promise<number | undefined>;
}

export interface WakeWorker {
  /**
   * Asks workers to check the keys that a sweeper found in the database, and does not wait for the work. While Redis is
   * unavailable, this process itself works on at most `concurrency` keys and skips the other keys.
   */
  sweep(keys: readonly string[]): Promise<void>;
  /** Starts no further work, and waits until all running work has ended. */
  close(): Promise<void>;
}

// Other workers get the keys of a dead worker after about LOCK_DURATION_MS + STALLED_INTERVAL_MS. If a live worker
// renews a lock late, two workers may work on the same key. So every effect is fenced: only one of the two workers can
// cause the effect.
const LOCK_DURATION_MS = 2000;
const STALLED_INTERVAL_MS = 1000;
// BullMQ waits this long after a failed request before it asks for jobs again; its default is 15 s.
const RUN_RETRY_DELAY_MS = 1000;

// Maximum time that `wake` and `wakeMembers` wait for each Redis command. Without this limit, they may wait for ever.
const WAKE_TIMEOUT_MS = 2000;
const AWAY: ReadonlySet<string> = new Set(['close', 'reconnecting', 'end']);

// After the last work has ended, `close` waits at most this long for the BullMQ worker. Without this limit, `close`
// would wait for ever while Redis is unavailable.
const FAREWELL_MS = 1000;

const MEMBERS_PER_COMMAND = 1000;
/**
 * Redis drops the members of a key this long after the last addition to the key. Sweepers then find the dropped members
 * in the database.
 */
const MEMBERS_TTL_SEC = 86_400;

interface WakeJob {
  readonly key: string;
}

/** Opens the producer of the queue `name`. */
export function openWakeQueue(name: string, { redisUrl, prefix, log }: QueueOptions): MemberQueue {
  const connection = openRedis({ redisUrl, use: 'command', purpose: `queue ${name}`, log });
  const queue = new Queue<WakeJob>(name, { connection, prefix });
  // BullMQ re-emits the errors of the connection on the queue. This handler ignores these errors, because `openRedis`
  // already logs outages.
  queue.on('error', () => {});
  const setOf = (key: string): string => `${prefix}:${name}:members:${key}`;
  const wake = async (keys: readonly string[]): Promise<boolean> => {
    if (AWAY.has(connection.status)) return false;
    return hasSucceeded(
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
  };
  return {
    name,
    wake,
    wakeMembers: async (members) => {
      if (AWAY.has(connection.status)) return false;
      const pipeline = connection.pipeline();
      for (const [key, ids] of members) {
        for (let from = 0; from < ids.length; from += MEMBERS_PER_COMMAND) {
          pipeline.sadd(setOf(key), ...ids.slice(from, from + MEMBERS_PER_COMMAND));
        }
        pipeline.expire(setOf(key), MEMBERS_TTL_SEC);
      }
      return (await hasSucceeded(pipeline.exec(), WAKE_TIMEOUT_MS)) && wake([...members.keys()]);
    },
    takeMembers: async (key, limit) => {
      if (AWAY.has(connection.status)) return [];
      return connection.spop(setOf(key), limit).catch(() => []);
    },
    countWorkers: async () => {
      if (AWAY.has(connection.status)) return undefined;
      return queue.getWorkersCount().catch(() => undefined);
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

/** Returns true when `work` succeeds within `timeoutMs`; a later success or failure is ignored. */
async function hasSucceeded(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const success = work.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([success, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Opens a worker that calls `work` with each key of a queue. While workers and Redis are healthy, no two calls for the
 * same key run at the same time. When `work` fails, a later sweep repeats the work.
 * @param queue producer through which `sweep` adds keys.
 */
export function openWakeWorker(
  queue: WakeQueue,
  concurrency: number,
  work: (key: string) => Promise<void>,
  { redisUrl, prefix, log }: QueueOptions,
): WakeWorker {
  const { name } = queue;
  const connection = openRedis({ redisUrl, use: 'blocking', purpose: `worker ${name}`, log });
  const underWay = new Map<string, Promise<void>>();
  let isClosing = false;
  const perform = async (key: string): Promise<void> => {
    const job = work(key);
    underWay.set(key, job);
    await job.finally(() => underWay.delete(key));
  };
  const logFailure = (key: string | undefined, error: unknown): void =>
    log.error({ err: error, queue: name, key }, 'a job of the queue failed; a later sweep starts the work again');
  const worker = new Worker<WakeJob>(name, (job) => perform(job.data.key), {
    connection,
    prefix,
    concurrency,
    drainDelay: BLOCK_SEC,
    runRetryDelay: RUN_RETRY_DELAY_MS,
    lockDuration: LOCK_DURATION_MS,
    stalledInterval: STALLED_INTERVAL_MS,
    maxStalledCount: 1000,
  });
  worker.on('error', () => {});
  worker.on('failed', (job, error) => logFailure(job?.data.key, error));
  return {
    sweep: async (keys) => {
      if (keys.length === 0) return;
      if ((await queue.wake(keys)) || isClosing) return;
      for (const key of keys) {
        if (underWay.size >= concurrency) return;
        if (!underWay.has(key)) void perform(key).catch((error: unknown) => logFailure(key, error));
      }
    },
    close: async () => {
      isClosing = true;
      const closed = worker.close();
      await Promise.race([closed, hasEnded(underWay).then(() => pause(FAREWELL_MS))]);
      connection.disconnect();
    },
  };
}

async function hasEnded(underWay: ReadonlyMap<string, Promise<void>>): Promise<void> {
  while (underWay.size > 0) await Promise.allSettled(underWay.values());
}
