/**
 * Sends events to 100 webhooks of one account. Ten receivers are broken: five refuse connections, five never answer.
 * For the healthy receivers, measures the 95th percentile of the time from the storing of a message until its receiver
 * has answered. With `BENCH_EVENTS=10000 BENCH_EVENTS_PER_SEC=20`, the benchmark takes 9 minutes.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Database } from '../../../src/platform/database/database.ts';
import { openWakeQueue, type QueueOptions } from '../../../src/platform/queue.ts';
import { type Figure, figure } from '../report.ts';

const WEBHOOKS = 100;
const BROKEN = 10;
const EVENTS = Number(process.env.BENCH_EVENTS ?? 300);
const EVENTS_PER_SEC = Number(process.env.BENCH_EVENTS_PER_SEC ?? 10);
const BAR_MS = 2000;
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const ADD_WEBHOOKS = `
  insert into webhook (account_id, name, url, event_type, secret)
  select (select min(id) from account), 'broken bench', url, 'SiteCreated', $2 from unnest($1::text[]) url
  returning id`;

const ADD_EVENT = `
  with event as (
    insert into webhook_event (webhook_id, account_id, type, date, data)
    select id, account_id, event_type, now(), '{"id": 1, "name": "Mill"}' from webhook where id = any($1)
    returning id, webhook_id
  )
  insert into webhook_attempt (event_id, webhook_id) select id, webhook_id from event`;

const MEASURE = `
  select count(*) as sent, percentile_cont(0.95) within group (order by extract(epoch from
    attempt.date + attempt.duration_ms * interval '1 millisecond' - event.created_date))::float8 * 1000 as "p95Ms"
  from webhook_attempt attempt join webhook_event event on event.id = attempt.event_id
  where attempt.webhook_id = any($1) and attempt.state = 'Succeeded'`;

const COUNT_TRIES = `select count(*) as count from webhook_attempt where webhook_id = any($1) and state = 'Failed'`;

export async function benchBrokenReceivers(database: Database, queueOptions: QueueOptions): Promise<Figure> {
  const receivers = await startReceivers();
  const queue = openWakeQueue('webhooks', queueOptions);
  try {
    const { rows } = await database.query<{ id: string }>(ADD_WEBHOOKS, [receivers.urls, SECRET]);
    const ids = rows.map(({ id }) => id);
    const healthy = ids.slice(0, WEBHOOKS - BROKEN);
    const startMs = performance.now();
    for (let event = 0; event < EVENTS; event += 1) {
      await pause(Math.max(0, startMs + (event * 1000) / EVENTS_PER_SEC - performance.now()));
      await database.query(ADD_EVENT, [ids]);
      await queue.wake(ids);
    }
    const p95Ms = await awaitAll(database, healthy);
    const tries = await database.query<{ count: number }>(COUNT_TRIES, [ids.slice(WEBHOOKS - BROKEN)]);
    process.stdout.write(`${tries.rows[0]?.count} tries at ${BROKEN} broken receivers for ${EVENTS} events each\n`);
    const name = `${EVENTS} events, ${EVENTS_PER_SEC} per second, for ${WEBHOOKS} webhooks, ${BROKEN} broken: p95 of the healthy`;
    return figure(name, `of ${BAR_MS} ms`, 'ms', [[p95Ms, BAR_MS]]);
  } finally {
    await database.query(`delete from webhook where name = 'broken bench'`);
    await queue.close();
    receivers.process.kill('SIGTERM');
    receivers.silent.close();
  }
}

/**
 * Waits until every message of these webhooks is delivered.
 * @returns the 95th percentile of the delivery times, in milliseconds.
 * @throws {Error} when a message is still undelivered after about a minute.
 */
async function awaitAll(database: Database, webhookIds: readonly string[]): Promise<number> {
  for (let tries = 0; tries < 600; tries += 1) {
    const { rows } = await database.query<{ sent: number; p95Ms: number }>(MEASURE, [webhookIds]);
    if (rows[0]?.sent === EVENTS * webhookIds.length) return rows[0].p95Ms;
    await pause(100);
  }
  throw new Error('the deliveries to healthy receivers did not end in time');
}

interface Receivers {
  readonly process: ChildProcess;
  readonly silent: Server;
  /** Addresses of the receivers, healthy ones first. */
  readonly urls: readonly string[];
}

async function startReceivers(): Promise<Receivers> {
  const program = fileURLToPath(new URL('../load/bare-receiver.ts', import.meta.url));
  const child = fork(program, [String(WEBHOOKS - BROKEN)], { execArgv: [] });
  const [ports] = (await once(child, 'message')) as [readonly number[]];
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const broken = Array.from({ length: BROKEN }, (_, index) => (index % 2 === 0 ? port : 1));
  return { process: child, silent, urls: [...ports, ...broken].map((one) => `http://127.0.0.1:${one}/hook`) };
}
