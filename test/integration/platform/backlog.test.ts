/** The gauges of backlogs in `/metrics` are exact; their queries do not scan tables with many finished rows (R-A9). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CALCULATION_BACKLOG } from '../../../src/calculation/calculation-metrics.ts';
import { FILE_BACKLOG } from '../../../src/files/file-metrics.ts';
import { type BacklogQuery, watchBacklog } from '../../../src/platform/metrics/backlog.ts';
import { createMetrics } from '../../../src/platform/metrics/metrics.ts';
import { MAIL_BACKLOG, OUTBOX_BACKLOG } from '../../../src/platform/metrics/platform-metrics.ts';
import { PUSH_BACKLOG } from '../../../src/push/store/queue-state.ts';
import { WEBHOOK_BACKLOG } from '../../../src/webhooks/webhook-metrics.ts';
import { parseExposition, sampleOf } from '../../support/answers/exposition.ts';
import { openPointStore, type PointStore } from '../../support/fixtures/point-store.ts';

const DONE = 20_000;
const ALL = [PUSH_BACKLOG, OUTBOX_BACKLOG, CALCULATION_BACKLOG, FILE_BACKLOG, MAIL_BACKLOG, WEBHOOK_BACKLOG];

// Inserts many finished rows, rows that have waited for two minutes, and rows that are not due yet.
const FILL = `
  insert into push_operation (account_id, user_id, label, request_id, accepted_elements, accepted_readings, accepted_date)
  select $1, 'u', 'l', 'r', 1, 1, now() - interval '2 minutes' from generate_series(1, ${DONE});
  insert into push_batch (account_id, operation_ids, reading_counts, rows, set_aside_date)
  select $1, array[id], array[1], '\\x0102030405', case when id <= 3 then now() end from push_operation where id <= 5;
  insert into outbox_event (account_id, type, payload, created_date)
  select $1, 'SiteCreated', '{}', now() - interval '2 minutes' from generate_series(1, ${DONE});
  insert into variable (account_id, source_id) select $1, (select id from source limit 1) from generate_series(1, ${DONE});
  insert into calculation_request (variable_id, account_id, trigger, from_date, to_date, trigger_date, wave, not_before_date)
  select id, $1, 'Input', now(), now(), now(), 1, now() + interval '1 hour' from variable;
  update calculation_request set not_before_date = now() - interval '2 minutes'
  where variable_id in (select id from variable order by id limit 2);
  insert into calculation_run (variable_id, account_id, state, trigger, from_date, to_date, trigger_date, wave, attempt,
                               default_version, requested_date)
  select id, $1, case when row_number() over (order by id) = 1 then 'Running' else 'Succeeded' end, 'Input', now(), now(),
         now(), 1, 0, '', now() from variable;
  insert into stored_file (account_id, user_id, filename, format, state)
  select $1, 'u', 'f', 'csv', case when n = 1 then 'Processing' when n <= 3 then 'Queued' else 'Completed' end
  from generate_series(1, ${DONE}) n;
  insert into mail (kind, to_address, language, state, not_before_date)
  select 'x', 'x', 'en', case when n <= 3 then 'Waiting' else 'Sent' end, now() + (n - 2) * interval '1 hour'
  from generate_series(1, ${DONE}) n;
  insert into webhook (account_id, name, url, event_type, secret) values ($1, 'w', 'https://w', 'SiteCreated', 's');
  insert into webhook_event (webhook_id, account_id, type, date, data)
  select id, $1, 'SiteCreated', now(), '{}' from webhook;
  insert into webhook_attempt (event_id, webhook_id, state, due_date)
  select event.id, webhook_id, case when n <= 7 then 'Pending' else 'Succeeded' end,
         case when n <= 4 then now() - interval '2 minutes' else now() + interval '1 hour' end
  from webhook_event event, generate_series(1, ${DONE}) n`;

let store: PointStore;
beforeAll(async () => {
  store = await openPointStore();
  for (const statement of FILL.split(';\n')) {
    await store.database.query(statement.replaceAll('$1', String(store.accountId)));
  }
  await store.database.query('vacuum (analyze)');
}, 60_000);
afterAll(() => store?.close());

async function gauges(): Promise<ReadonlyMap<string, number | undefined>> {
  const metrics = createMetrics();
  watchBacklog(store.database, metrics, ALL);
  const found = parseExposition(await metrics.text());
  return new Map([...found.keys()].map((name) => [name, sampleOf(found, name)]));
}

describe('metrics: backlog gauges (R-A9)', () => {
  test('the gauges count the work that waits, is due or runs; a separate gauge counts dead letters', async () => {
    expect(Object.fromEntries(await gauges())).toMatchObject({
      ...{ tidemark_push_waiting_batches: 2, tidemark_push_waiting_bytes: 10, tidemark_push_set_aside_batches: 3 },
      ...{ tidemark_outbox_events: DONE, tidemark_calculation_due: 2, tidemark_calculation_running: 1 },
      ...{ tidemark_files_queued: 2, tidemark_files_processing: 1, tidemark_mails_waiting: 3, tidemark_mails_due: 2 },
      tidemark_webhook_attempts_due: 4,
    });
  });

  test.each([
    'tidemark_push_waiting_age_seconds',
    'tidemark_outbox_age_seconds',
    'tidemark_calculation_due_age_seconds',
    'tidemark_webhook_due_age_seconds',
  ])('%s shows how long, in seconds, the oldest waiting work has waited', async (name) => {
    const age = (await gauges()).get(name) ?? 0;
    expect(age).toBeGreaterThanOrEqual(120);
    expect(age).toBeLessThan(240);
  });

  // PUSH_BACKLOG may scan all of push_batch: this table holds no finished batches, and is therefore small.
  test.each(ALL.filter((query) => query !== PUSH_BACKLOG).map((query) => [query.gauges[0]?.name, query] as const))(
    'the query behind %s does not scan any whole table',
    async (_name, { sql }) => {
      const { rows } = await store.database.query<{ 'QUERY PLAN': unknown }>(`explain (format json) ${sql}`);
      expect(JSON.stringify(rows)).not.toContain('Seq Scan');
    },
  );

  test('when a query fails or takes too long, its gauges are omitted and the gauges of other queries are present', async () => {
    const broken: BacklogQuery = {
      sql: 'select 1 / 0 as no',
      gauges: [{ column: 'no', name: 'tidemark_no', help: 'no' }],
    };
    const slow: BacklogQuery = {
      sql: 'select 1 as slow from pg_sleep(30)',
      gauges: [{ column: 'slow', name: 'tidemark_slow', help: 'slow' }],
    };
    const metrics = createMetrics();
    watchBacklog(store.database, metrics, [broken, slow, MAIL_BACKLOG]);
    const startMs = performance.now();
    const found = parseExposition(await metrics.text());
    expect(performance.now() - startMs).toBeLessThan(3000);
    expect(sampleOf(found, 'tidemark_no')).toBeUndefined();
    expect(sampleOf(found, 'tidemark_slow')).toBeUndefined();
    expect(sampleOf(found, 'tidemark_mails_due')).toBe(2);
  });

  test('concurrent scrapes share one query, and a scrape right after them gets the same result', async () => {
    const metrics = createMetrics();
    const clock: BacklogQuery = {
      sql: 'select extract(epoch from clock_timestamp())::float8 as instant',
      gauges: [{ column: 'instant', name: 'tidemark_instant', help: 'instant' }],
    };
    watchBacklog(store.database, metrics, [clock]);
    const texts = await Promise.all([metrics.text(), metrics.text(), metrics.text()]);
    texts.push(await metrics.text());
    expect(sampleOf(parseExposition(texts[0] ?? ''), 'tidemark_instant')).toBeGreaterThan(1e9);
    expect(new Set(texts).size).toBe(1);
  });
});
