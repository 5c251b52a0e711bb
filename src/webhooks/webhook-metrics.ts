/** Metrics of webhooks (R-A9). */
import { type BacklogQuery, MAX_COUNTED } from '../platform/metrics/backlog.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';

/** Outcome of an attempt: success, failure with a response, or failure without a response. */
export type AttemptOutcome = 'succeeded' | 'status' | 'unreachable';

export interface WebhookMetrics {
  /** Records an attempt. @param seconds duration of the attempt. */
  attempted(outcome: AttemptOutcome, seconds: number): void;
  /** Counts a webhook that the service has disabled (R-I3). */
  disabled(): void;
}

/** Registers the metrics of webhooks (R-A9). */
export function createWebhookMetrics(metrics: Metrics): WebhookMetrics {
  const attempts = metrics.distribution({
    name: 'tidemark_webhook_attempt_seconds',
    help: 'Duration of webhook delivery attempts in seconds, by outcome.',
    labels: ['outcome'],
  });
  const disabled = metrics.counter({
    name: 'tidemark_webhooks_disabled_total',
    help: 'Webhooks that the service disabled because the receiver answered 410 or because deliveries failed for days.',
  })({});
  return {
    attempted: (outcome, seconds) => attempts({ outcome }).observe(seconds),
    disabled: () => disabled.inc(),
  };
}

/** Gauges of the due attempts, including those in flight. */
export const WEBHOOK_BACKLOG: BacklogQuery = {
  sql: `
    select count(*)::int as due, coalesce(extract(epoch from now() - min(due_date)), 0)::float8 as age
    from (select due_date from webhook_attempt where state = 'Pending' and due_date <= now()
          limit ${MAX_COUNTED}) due`,
  gauges: [
    {
      column: 'due',
      name: 'tidemark_webhook_attempts_due',
      help: 'Webhook attempts that are due, counted up to 100000.',
    },
    {
      column: 'age',
      name: 'tidemark_webhook_due_age_seconds',
      help: 'Seconds that the oldest due webhook attempt has waited; 0 when no attempt is due.',
    },
  ],
};
