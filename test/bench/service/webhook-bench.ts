/**
 * Compares the deliverer with a bare loop that only signs and posts the same bodies over as many persistent
 * connections, in messages per second. The receivers run in a process of their own.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import type { Database } from '../../../src/platform/database/database.ts';
import { openWakeQueue, type QueueOptions } from '../../../src/platform/queue.ts';
import { type Figure, figure } from '../report.ts';

const ROUNDS = 5;
const WEBHOOKS = 8;
const MESSAGES = 20_000;
const PATIENCE_MS = 120_000;
// With a much shorter interval, the polls would slow the measured deliveries.
const POLL_MS = 50;
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** Settings that allow the deliverer to send to this machine over HTTP. */
export const WEBHOOK_BENCH_ENVIRONMENT = { WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8' };
const PARALLEL = 8;

const ADD_WEBHOOKS = `
  insert into webhook (account_id, name, url, event_type, secret)
  select (select min(id) from account), 'bench', url, 'DataPointsWritten', $2 from unnest($1::text[]) url
  returning id`;

const ADD_MESSAGES = `
  with event as (
    insert into webhook_event (webhook_id, account_id, type, date, data)
    select webhook.id, account_id, event_type, now(), $2::jsonb
    from webhook, generate_series(1, $1) number where name = 'bench'
    returning id, webhook_id
  )
  insert into webhook_attempt (event_id, webhook_id) select id, webhook_id from event`;

const DATA = {
  variables: [
    {
      ...{ variableId: 1_234_567, sourceId: 123_456, siteId: 12_345, count: 96 },
      ...{ from: '2026-03-01T00:00:00Z', to: '2026-03-01T23:45:00Z' },
    },
  ],
};

export async function benchWebhooks(database: Database, queueOptions: QueueOptions): Promise<Figure> {
  const receivers = await startReceivers();
  const queue = openWakeQueue('webhooks', queueOptions);
  const pairs: (readonly [number, number])[] = [];
  try {
    const { rows } = await database.query<{ id: string }>(ADD_WEBHOOKS, [receivers.urls, SECRET]);
    const webhookIds = rows.map(({ id }) => id);
    // The first round warms both sides up.
    for (let round = 0; round <= ROUNDS; round += 1) {
      const limit = await measurePosts(receivers.urls);
      await database.query(ADD_MESSAGES, [MESSAGES / WEBHOOKS, JSON.stringify(DATA)]);
      const ours = await measureDeliveries(database, async () => void (await queue.wake(webhookIds)));
      await database.query('truncate webhook_event cascade');
      if (round > 0) pairs.push([ours, limit]);
    }
  } finally {
    await database.query(`delete from webhook where name = 'bench'`);
    await queue.close();
    receivers.process.kill('SIGTERM');
  }
  return figure(`webhook deliveries, ${WEBHOOKS} receivers`, 'of a bare loop of signed POSTs', 'messages/s', pairs);
}

async function startReceivers(): Promise<{ readonly process: ChildProcess; readonly urls: readonly string[] }> {
  const program = fileURLToPath(new URL('../load/bare-receiver.ts', import.meta.url));
  const child = fork(program, [String(WEBHOOKS)], { execArgv: [] });
  const [ports] = (await once(child, 'message')) as [readonly number[]];
  return { process: child, urls: ports.map((port) => `http://127.0.0.1:${port}/hook`) };
}

// Ignores the attempts of other benchmarks: some may still be pending, but their receivers no longer run.
const OWN = `from webhook_attempt join webhook on webhook.id = webhook_id and webhook.name = 'bench'`;

/** @returns messages per second. The time runs from the wake-up until the outcome of the last delivery is committed. */
async function measureDeliveries(database: Database, begin: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await begin();
  while (!(await isAllSent(database))) {
    if (performance.now() > startMs + PATIENCE_MS) throw new Error('the deliveries did not end in time');
    await pause(POLL_MS);
  }
  const seconds = (performance.now() - startMs) / 1000;
  const { rows } = await database.query<{ count: number }>(`select count(*) as count ${OWN} where state = 'Succeeded'`);
  if (rows[0]?.count !== MESSAGES) throw new Error(`${rows[0]?.count} of ${MESSAGES} deliveries succeeded`);
  return MESSAGES / seconds;
}

async function isAllSent(database: Database): Promise<boolean> {
  const { rows } = await database.query<{ isWaiting: boolean }>(
    `select exists (select ${OWN} where state = 'Pending') as "isWaiting"`,
  );
  return rows[0]?.isWaiting === false;
}

async function measurePosts(urls: readonly string[]): Promise<number> {
  const agent = new http.Agent({ keepAlive: true });
  let sent = 0;
  const lane = async (url: string): Promise<void> => {
    while (sent < MESSAGES) {
      sent += 1;
      await post(url, agent, `message-${sent}`);
    }
  };
  const startMs = performance.now();
  await Promise.all(urls.flatMap((url) => Array.from({ length: PARALLEL }, () => lane(url))));
  const seconds = (performance.now() - startMs) / 1000;
  agent.destroy();
  return MESSAGES / seconds;
}

function post(url: string, agent: http.Agent, id: string): Promise<void> {
  const date = new Date();
  const body = JSON.stringify({ type: 'DataPointsWritten', timestamp: date.toISOString(), accountId: 1, data: DATA });
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(date.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign(id, date, body),
  };
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'POST', headers, agent }, (response) => {
      response.resume().on('end', resolve).on('error', reject);
    });
    request.on('error', reject).end(body);
  });
}
