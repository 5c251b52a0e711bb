/** Gauges of the parts that every process uses: connection pools, queues, dependencies, waiting events and emails. */
import type { Database } from '../database/database.ts';
import { type HealthCheck, isUp } from '../health/health.ts';
import type { WakeQueue } from '../queue.ts';
import { type BacklogQuery, MAX_COUNTED } from './backlog.ts';
import type { GaugeSample, Metrics } from './metrics.ts';
import { recent } from './recent.ts';

const LIMITS = { maxAgeMs: 5000, timeoutMs: 2500 } as const;

/**
 * Registers `tidemark_dependency_up`, which is 1 or 0 per readiness check. A check that takes longer
 * than 2.5 s counts as down.
 */
export function watchDependencies(metrics: Metrics, checks: Readonly<Record<string, HealthCheck>>): void {
  const samples = Object.entries(checks).map(([dependency, check]) => {
    const isUpNow = recent(() => isUp(check), LIMITS);
    return async (): Promise<GaugeSample> => ({ labels: { dependency }, value: (await isUpNow()) ? 1 : 0 });
  });
  metrics.gauge(
    {
      name: 'tidemark_dependency_up',
      help: '1 when a dependency of the process answers, otherwise 0.',
      labels: ['dependency'],
    },
    () => Promise.all(samples.map((sample) => sample())),
  );
}

/**
 * Registers gauges of the connections in pools.
 * @param pools pools by purpose; the purpose is the value of the label `pool`.
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
      help: 'Connections of a pool by state; the state waited_for counts requests that wait for a connection.',
      labels: ['pool', 'state'],
    },
    () => Object.entries(pools).flatMap(([name, database]) => samples(name, database)),
  );
  metrics.gauge(
    { name: 'tidemark_database_connections_max', help: 'Maximum connections of a pool.', labels: ['pool'] },
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
    { name: 'tidemark_queue_jobs', help: 'Wake-ups in Redis, by state.', labels: ['queue', 'state'] },
    async () => (await Promise.all(samples.map((sample) => sample()))).flat(),
  );
}

/** Query for the gauges of events that are not yet relayed: their number, and the age of the oldest. */
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
      help: 'Age of the oldest event not yet relayed; 0 when there is none.',
    },
  ],
};

/** Query for the gauges of emails: those not yet sent, and those that are due. */
export const MAIL_BACKLOG: BacklogQuery = {
  sql: `
    select (select count(*) from (select from mail where state = 'Waiting' limit ${MAX_COUNTED}) waiting)::int as waiting,
           (select count(*) from (select from mail where state = 'Waiting' and not_before_date <= now()
                                  limit ${MAX_COUNTED}) due)::int as due`,
  gauges: [
    { column: 'waiting', name: 'tidemark_mails_waiting', help: 'Emails not yet sent, including delayed emails.' },
    { column: 'due', name: 'tidemark_mails_due', help: 'Emails that are due to be sent now.' },
  ],
};
