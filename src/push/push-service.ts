/** Everything that accepting pushes needs, opened and closed together. */
import type { Database } from '../platform/database/database.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import type { Dictionary } from '../points/dictionary.ts';
import { type AcceptPush, createAcceptPush } from './accept/accept-push.ts';
import { type Admission, type AdmissionLimits, openAdmission } from './accept/admission.ts';
import { type GroupCommit, openGroupCommit } from './accept/group-commit.ts';
import { openWaker } from './accept/waker.ts';
import type { PushLimits } from './body/push-element.ts';
import { openPushReaders } from './body/push-readers.ts';
import { type MapperLimits, type MapperRunner, openMapperRunner } from './mapper/run-mapper.ts';
import { createReplay, type Replay } from './operations/replay.ts';
import { createPushMetrics, type PushMetrics } from './push-metrics.ts';
import { openDirectWriter } from './store/write-directly.ts';
import { openTargetCache, type TargetCache } from './target-cache.ts';

export interface PushServiceOptions {
  readonly database: Database;
  readonly dictionary: Dictionary;
  readonly limits: PushLimits & AdmissionLimits & { readonly maxBodyBytes: number };
  /** Threads that read large pushes. */
  readonly threads: number;
  /** Large pushes written at once as they are accepted. */
  readonly directWrites: number;
  readonly mappers: MapperLimits;
  /** Wakes the ingester; it may fail, the sweeper finds the batch. */
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
  readonly group: GroupCommit;
  /** Asks for the ingester's attention. */
  readonly wake: (accountId: number) => void;
  readonly limits: PushLimits;
  readonly maxBodyBytes: number;
  readonly metrics: PushMetrics;
  close(): Promise<void>;
}

export function openPushService(options: PushServiceOptions): PushService {
  const { database, dictionary, limits, threads, directWrites, wakeIngester, log } = options;
  const metrics = createPushMetrics(options.metrics);
  const admission = openAdmission(database, limits, metrics);
  const readers = openPushReaders({ limits, threads, log });
  const waker = openWaker(wakeIngester, log);
  const mapperRunner = openMapperRunner(options.mappers, log);
  const directWriter = openDirectWriter(database, directWrites, log);
  const targets = openTargetCache(database);
  const group = openGroupCommit(database);
  const services = { database, dictionary, targets, readers, admission, metrics, wake: waker.wake };
  return {
    ...{ database, admission, mapperRunner, limits, targets, group, metrics, wake: waker.wake },
    acceptPush: createAcceptPush({ ...services, group, directWriter }),
    replay: createReplay({ ...services, limits }),
    maxBodyBytes: limits.maxBodyBytes,
    close: async () => {
      await Promise.all([readers.close(), waker.close(), mapperRunner.close()]);
    },
  };
}
