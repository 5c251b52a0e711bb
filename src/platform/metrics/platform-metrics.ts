/** Gauges of what every process uses: its pools, the queues, whether what it depends on answers, events and mails. */
import type { Database } from '../database/database.ts';
import { type HealthCheck, isUp } from '../http/health.ts';
import type { WakeQueue } from '../queue.ts';
import { type BacklogQuery, MAX_COUNTED } from './backlog.ts';
import type { GaugeSample, Metrics } from './metrics.ts';
import { recent } from './recent.ts';

const LIMITS = { maxAgeMs: 5000, timeoutMs: 2500 } as const;

/** `tidemark_dependency_up`: 1 or 0 for each of the parts that readiness looks at. */
export function watchDependencies(metrics: Metrics, checks: Readonly<Record<string, HealthCheck>>): void {
  const lookAt = Object.entries(checks).map(([dependency, check]) => {
    const look = recent(() => isUp(check), LIMITS);
    // What does not answer in time is as good as down.
    return async (): Promise<GaugeSample> => ({ labels: { dependency }, value: (await look()) ? 1 : 0 });
  });
  metrics.gauge(
    { name: 'tidemark_dependency_up', help: 'Whether what the process needs answers.', labels: ['dependency'] },
    () => Promise.all(lookAt.map((look) => look())),
  );
}

/** @param pools by the name of what they are for. */
export function watchPools(metrics: Metrics, pools: Readonly<Record<string, Database>>): void {
  const samples = (pool: string, { totalCount, idleCount, waitingCount }: Database): readonly GaugeSample[] => [
    { labels: { pool, state: 'used' }, value: totalCount - idleCount },
    { labels: { pool, state: 'idle' }, value: idleCount },
    { labels: { pool, state: 'waited_for' }, value: waitingCount },
  ];
  metrics.gauge(
    {
      name: 'tidemark_database_connections',
      help: 'Connections of the pools, and how many are waited for.',
      labels: ['pool', 'state'],
    },
    () => Object.entries(pools).flatMap(([name, database]) => samples(name, database)),
  );
  metrics.gauge(
    { name: 'tidemark_database_connections_max', help: 'Connections a pool may open.', labels: ['pool'] },
    () => Object.entries(pools).map(([pool, { options }]) => ({ labels: { pool }, value: options.max ?? 0 })),
  );
}

/** Left out while Redis is away. */
export function watchQueues(metrics: Metrics, queues: Readonly<Record<string, WakeQueue>>): void {
  const looks = Object.entries(queues).map(([queue, { count }]) => {
    const look = recent(count, LIMITS);
    return async (): Promise<readonly GaugeSample[]> => {
      const found = await look();
      return Object.entries(found ?? {}).map(([state, value]) => ({ labels: { queue, state }, value }));
    };
  });
  metrics.gauge(
    { name: 'tidemark_queue_jobs', help: 'Wake-ups in Redis, by state.', labels: ['queue', 'state'] },
    async () => (await Promise.all(looks.map((look) => look()))).flat(),
  );
}

export const OUTBOX_BACKLOG: BacklogQuery = {
  sql: `
    select (select count(*) from (select from outbox_event order by id limit ${MAX_COUNTED}) waiting)::int as events,
           coalesce((select extract(epoch from now() - created_date) from outbox_event order by id limit 1), 0)
             ::float8 as age`,
  gauges: [
    { column: 'events', name: 'tidemark_outbox_events', help: 'Events that wait to be handed on, up to 100000.' },
    { column: 'age', name: 'tidemark_outbox_age_seconds', help: 'Since when the oldest event waits; 0: none.' },
  ],
};

export const MAIL_BACKLOG: BacklogQuery = {
  sql: `
    select (select count(*) from (select from mail where state = 'Waiting' limit ${MAX_COUNTED}) waiting)::int as waiting,
           (select count(*) from (select from mail where state = 'Waiting' and not_before_date <= now()
                                  limit ${MAX_COUNTED}) due)::int as due`,
  gauges: [
    { column: 'waiting', name: 'tidemark_mails_waiting', help: 'Mails not sent yet, delayed ones included.' },
    { column: 'due', name: 'tidemark_mails_due', help: 'Mails that could be sent now.' },
  ],
};
