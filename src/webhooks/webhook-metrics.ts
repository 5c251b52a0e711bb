/** What is counted of webhooks (R-A9). */
import { type BacklogQuery, MAX_COUNTED } from '../platform/metrics/backlog.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';

/** How a try ended: a 2xx, another status, no answer (time-out, broken connection), or refused before it was made (R-I4). */
export type AttemptOutcome = 'succeeded' | 'status' | 'unreachable' | 'refused';

export interface WebhookMetrics {
  /** A try ended. @param seconds it took. */
  attempted(outcome: AttemptOutcome, seconds: number): void;
  /** A webhook was disabled by the service (R-I3). */
  disabled(): void;
}

export function createWebhookMetrics(metrics: Metrics): WebhookMetrics {
  const attempts = metrics.distribution({
    name: 'tidemark_webhook_attempt_seconds',
    help: 'Tries to deliver to a webhook, by how they ended, with their time.',
    labels: ['outcome'],
  });
  const disabled = metrics.counter({
    name: 'tidemark_webhooks_disabled_total',
    help: 'Webhooks the service disabled because nothing but failures came of them.',
  })({});
  return {
    attempted: (outcome, seconds) => attempts({ outcome }).observe(seconds),
    disabled: () => disabled.inc(),
  };
}

export const WEBHOOK_BACKLOG: BacklogQuery = {
  sql: `
    select count(*)::int as due, coalesce(extract(epoch from now() - min(due_date)), 0)::float8 as age
    from (select due_date from webhook_attempt where state = 'Pending' and due_date <= now()
          limit ${MAX_COUNTED}) due`,
  gauges: [
    { column: 'due', name: 'tidemark_webhook_attempts_due', help: 'Deliveries whose time has come, up to 100000.' },
    { column: 'age', name: 'tidemark_webhook_due_age_seconds', help: 'Since when the one due longest waits; 0: none.' },
  ],
};
