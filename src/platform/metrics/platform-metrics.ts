/**
 * Gauges with the same definition in every process: connection pools, queues, dependencies, waiting events and waiting
 * emails.
 */
import type { Database } from '../database/database.ts';
import { type HealthCheck, isUp } from '../health/health.ts';
import type { WakeQueue } from '../queue.ts';
import { type BacklogQuery, MAX_COUNTED } from './backlog.ts';
import type { GaugeSample, Metrics } from './metrics.ts';
import { recent } from './recent.ts';

const LIMITS = { maxAgeMs: 5000, timeoutMs: 2500 } as const;

/**
 * Registers the gauge `tidemark_dependency_up` with one value per readiness check: 1 when the check succeeds within
 * 2.5 s, otherwise 0.
 */
export function watchDependencies(metrics: Metrics, checks: Readonly<Record<string, HealthCheck>>): void {
  const samples = Object.entries(checks).map(([dependency, check]) => {
    const isUpNow = recent(() => isUp(check), LIMITS);
    return async (): Promise<GaugeSample> => ({ labels: { dependency }, value: (await isUpNow()) ? 1 : 0 });
  });
  metrics.gauge(
    {
      name: 'tidemark_dependency_up',
      help: '1 when the dependency named in the label answers within 2.5 s, otherwise 0.',
      labels: ['dependency'],
    },
    () => Promise.all(samples.map((sample) => sample())),
  );
}

/**
 * Registers gauges of the connections in pools.
 * @param pools maps the purpose of a pool to the pool. The purpose becomes the value of the label `pool`.
 */
export function watchPools(metrics: Metrics, pools: Readonly<Record<string, Database>>): void {
  const samples = (pool: string, { totalCount, idleCount, waitingCount }: Database): readonly GaugeSample[] => [
    { labels: { pool, state: 'used' }, value: totalCount - idleCount },
    { labels: { pool, state: 'idle' }, value: idleCount },
    { labels: { pool, state: 'waited_for' }, value: waitingCount },
  ];
  metrics.gauge(
    {
      name: 'tidemark_database_connections',
      help: 'Number of connections in a pool, by state; the state waited_for counts callers that wait for a connection.',
      labels: ['pool', 'state'],
    },
    () => Object.entries(pools).flatMap(([name, database]) => samples(name, database)),
  );
  metrics.gauge(
    { name: 'tidemark_database_connections_max', help: 'Maximum number of connections in a pool.', labels: ['pool'] },
    () => Object.entries(pools).map(([pool, { options }]) => ({ labels: { pool }, value: options.max ?? 0 })),
  );
}

/** Registers the gauge `tidemark_queue_jobs`. While Redis is unavailable, the gauge has no values. */
export function watchQueues(metrics: Metrics, queues: Readonly<Record<string, WakeQueue>>): void {
  const samples = Object.entries(queues).map(([queue, { count }]) => {
    const countNow = recent(count, LIMITS);
    return async (): Promise<readonly GaugeSample[]> => {
      const found = await countNow();
      return Object.entries(found ?? {}).map(([state, value]) => ({ labels: { queue, state }, value }));
    };
  });
  metrics.gauge(
    {
      name: 'tidemark_queue_jobs',
      help: 'Number of wake-up jobs in Redis, by queue and state.',
      labels: ['queue', 'state'],
    },
    async () => (await Promise.all(samples.map((sample) => sample()))).flat(),
  );
}

/** Query for two gauges: the number of events that are not yet relayed, and the age of the oldest of these events. */
export const OUTBOX_BACKLOG: BacklogQuery = {
  sql: `
    select (select count(*) from (select from outbox_event order by id limit ${MAX_COUNTED}) waiting)::int as events,
           coalesce((select extract(epoch from now() - created_date) from outbox_event order by id limit 1), 0)
             ::float8 as age`,
  gauges: [
    {
      column: 'events',
      name: 'tidemark_outbox_events',
      help: 'Number of events not yet relayed; the count stops at 100000.',
    },
    {
      column: 'age',
      name: 'tidemark_outbox_age_seconds',
      help: 'Age in seconds of the oldest event not yet relayed; 0 when no event waits.',
    },
  ],
};

/** Query for two gauges: the number of emails that are not yet sent, and the number of emails that are due. */
export const MAIL_BACKLOG: BacklogQuery = {
  sql: `
    select (select count(*) from (select from mail where state = 'Waiting' limit ${MAX_COUNTED}) waiting)::int as waiting,
           (select count(*) from (select from mail where state = 'Waiting' and not_before_date <= now()
                                  limit ${MAX_COUNTED}) due)::int as due`,
  gauges: [
    {
      column: 'waiting',
      name: 'tidemark_mails_waiting',
      help: 'Number of emails not yet sent, including those not yet due; the count stops at 100000.',
    },
    {
      column: 'due',
      name: 'tidemark_mails_due',
      help: 'Number of emails due to be sent now; the count stops at 100000.',
    },
  ],
};
