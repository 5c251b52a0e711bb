/** Registers the metrics that every role has: pools, queues and backlogs (R-A9). */
import { CALCULATION_BACKLOG } from '../calculation/calculation-metrics.ts';
import { FILE_BACKLOG } from '../files/file-metrics.ts';
import type { Database } from '../platform/database/database.ts';
import { type BacklogQuery, watchBacklog } from '../platform/metrics/backlog.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import { MAIL_BACKLOG, OUTBOX_BACKLOG, watchPools, watchQueues } from '../platform/metrics/platform-metrics.ts';
import type { WakeQueue } from '../platform/queue.ts';
import { PUSH_BACKLOG } from '../push/store/queue-state.ts';
import { WEBHOOK_BACKLOG } from '../webhooks/webhook-metrics.ts';

/** The queries that measure the work waiting in the database; gauges show the results. */
export const BACKLOGS: readonly BacklogQuery[] = [
  PUSH_BACKLOG,
  OUTBOX_BACKLOG,
  CALCULATION_BACKLOG,
  FILE_BACKLOG,
  MAIL_BACKLOG,
  WEBHOOK_BACKLOG,
];

/** What the gauges measure. The keys of `pools` and `queues` are the values of the metric labels `pool` and `queue`. */
export interface Watched {
  /** Database in which the waiting work is counted. */
  readonly database: Database;
  readonly pools: Readonly<Record<string, Database>>;
  readonly queues: Readonly<Record<string, WakeQueue>>;
}

/** Registers the gauges of pools, queues and backlogs (R-A9). */
export function watchPlatform(metrics: Metrics, { database, pools, queues }: Watched): void {
  watchPools(metrics, pools);
  watchQueues(metrics, queues);
  watchBacklog(database, metrics, BACKLOGS);
}
