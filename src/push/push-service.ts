/** Opens and closes the services for accepting pushes. */
import type { Database } from '../platform/database/database.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import type { Dictionary } from '../points/dictionary.ts';
import { type AcceptPush, createAcceptPush } from './accept/accept-push.ts';
import { type Admission, type AdmissionLimits, openAdmission } from './accept/admission.ts';
import { openGroupCommit } from './accept/group-commit.ts';
import { openPushStore } from './accept/push-store.ts';
import { openWaker } from './accept/waker.ts';
import type { PushLimits } from './body/push-element.ts';
import { openPushReaders } from './body/push-readers.ts';
import type { FastPaths, RawHandler, SmallPushServices } from './fast-paths/fast-paths.ts';
import { toPlainPush, toSharedOperation } from './fast-paths/plain-push.ts';
import { smallPushHandler, throwPushFailure } from './fast-paths/small-push-handler.ts';
import { openDirectWriter } from './fast-paths/write-directly.ts';
import { type MapperLimits, type MapperRunner, openMapperRunner } from './mapper/run-mapper.ts';
import { createReplay, type Replay } from './operations/replay.ts';
import { createPushMetrics } from './push-metrics.ts';
import { openTargetCache, type TargetCache } from './target-cache.ts';

export interface PushServiceOptions {
  readonly database: Database;
  readonly dictionary: Dictionary;
  readonly limits: PushLimits & AdmissionLimits & { readonly maxBodyBytes: number };
  /** Number of threads that read large pushes. */
  readonly threads: number;
  /** Maximum number of concurrent direct writes; each takes a database connection. */
  readonly directWrites: number;
  readonly mappers: MapperLimits;
  /** Wakes the ingester for accounts. If this fails, the ingester's sweeper finds the accounts' batches later. */
  readonly wakeIngester: (accountIds: readonly number[]) => Promise<unknown>;
  readonly metrics: Metrics;
  readonly log: Log;
}

export type SmallPushOptions = Pick<SmallPushServices, 'findCachedCaller' | 'countPush' | 'requestSeconds' | 'log'>;

export interface PushService {
  readonly database: Database;
  readonly admission: Admission;
  readonly acceptPush: AcceptPush;
  readonly replay: Replay;
  readonly mapperRunner: MapperRunner;
  readonly targets: TargetCache;
  readonly limits: PushLimits;
  readonly maxBodyBytes: number;
  /**
   * Wraps the app: the wrapper accepts small plain pushes whose caller and targets are cached. All other requests, and
   * the pushes that the wrapper cannot accept, go to the app.
   */
  handleSmallPushes(options: SmallPushOptions, app: RawHandler): RawHandler;
  readonly throwSmallPushFailure: FastPaths['throwFailure'];
  close(): Promise<void>;
}

/**
 * Opens the readers, caches and writers of pushes. `close()` sends the pending wake-ups to the ingesters. It also ends
 * the threads that read pushes, and the idle mapper processes.
 */
export function openPushService(options: PushServiceOptions): PushService {
  const { database, dictionary, limits, threads, directWrites, wakeIngester, log } = options;
  const metrics = createPushMetrics(options.metrics);
  const admission = openAdmission(database, limits, metrics);
  const readers = openPushReaders({ limits, threads, log });
  const waker = openWaker(wakeIngester, log);
  const mapperRunner = openMapperRunner(options.mappers, log);
  const targets = openTargetCache(database);
  const fastPaths: FastPaths = {
    handleSmallPushes: smallPushHandler,
    throwFailure: throwPushFailure,
    toPlainPush,
    toSharedOperation,
    tryWrite: openDirectWriter(database, directWrites, log),
  };
  const store = openPushStore({
    group: openGroupCommit(database, fastPaths.toSharedOperation),
    fastPaths,
    admission,
    wake: waker.wake,
  });
  const services = { database, dictionary, targets, readers, metrics };
  return {
    ...{ database, admission, mapperRunner, limits, targets, maxBodyBytes: limits.maxBodyBytes },
    acceptPush: createAcceptPush({ ...services, store, fastPaths }),
    replay: createReplay({ ...services, admission, wake: waker.wake, limits }),
    handleSmallPushes: (caller, app) =>
      fastPaths.handleSmallPushes({ ...caller, submit: store.submit, admission, metrics, targets, limits }, app),
    throwSmallPushFailure: fastPaths.throwFailure,
    close: async () => {
      await Promise.all([readers.close(), waker.close(), mapperRunner.close()]);
    },
  };
}
