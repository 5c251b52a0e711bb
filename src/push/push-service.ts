/** Opens and closes everything that accepting pushes needs. */
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
import { type RawHandler, type SmallPushOptions, smallPushHandler } from './fast-paths/small-push-handler.ts';
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
  /** Maximum number of pushes that write their points directly at the same time. */
  readonly directWrites: number;
  readonly mappers: MapperLimits;
  /** Wakes the ingester. May fail: the ingester's sweeper finds the batch. */
  readonly wakeIngester: (accountIds: readonly number[]) => Promise<unknown>;
  readonly metrics: Metrics;
  readonly log: Log;
}

export interface PushService {
  readonly database: Database;
  readonly admission: Admission;
  readonly acceptPush: AcceptPush;
  readonly replay: Replay;
  readonly mapperRunner: MapperRunner;
  readonly targets: TargetCache;
  readonly limits: PushLimits;
  readonly maxBodyBytes: number;
  /** Wraps the app: small pushes are answered in front of it, all other requests go through. */
  handleSmallPushes(options: SmallPushOptions, app: RawHandler): RawHandler;
  close(): Promise<void>;
}

/** Opens the readers, caches and writers of pushes; `close()` waits for what they accepted. */
export function openPushService(options: PushServiceOptions): PushService {
  const { database, dictionary, limits, threads, directWrites, wakeIngester, log } = options;
  const metrics = createPushMetrics(options.metrics);
  const admission = openAdmission(database, limits, metrics);
  const readers = openPushReaders({ limits, threads, log });
  const waker = openWaker(wakeIngester, log);
  const mapperRunner = openMapperRunner(options.mappers, log);
  const targets = openTargetCache(database);
  const store = openPushStore({
    group: openGroupCommit(database),
    directWriter: openDirectWriter(database, directWrites, log),
    admission,
    wake: waker.wake,
  });
  const services = { database, dictionary, targets, readers, metrics };
  return {
    ...{ database, admission, mapperRunner, limits, targets, maxBodyBytes: limits.maxBodyBytes },
    acceptPush: createAcceptPush({ ...services, store }),
    replay: createReplay({ ...services, admission, wake: waker.wake, limits }),
    handleSmallPushes: (small, app) => smallPushHandler({ ...small, store, admission, metrics, targets, limits }, app),
    close: async () => {
      await Promise.all([readers.close(), waker.close(), mapperRunner.close()]);
    },
  };
}
