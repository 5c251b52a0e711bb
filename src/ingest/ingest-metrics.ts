/** Metrics of the ingester (R-A9). */
import type { Count, Distribution, Metrics } from '../platform/metrics/metrics.ts';

export interface IngestMetrics {
  readonly batches: Count;
  readonly readings: Count;
  /** Batches that cannot be written and are not retried. */
  readonly setAside: Count;
  /** Seconds from the acceptance of the oldest push of a transaction to its commit. */
  readonly lagSeconds: Distribution;
  readonly transactionSeconds: Distribution;
}

export function createIngestMetrics(metrics: Metrics): IngestMetrics {
  const counter = (name: string, help: string) => metrics.counter({ name, help })({});
  const distribution = (name: string, help: string) => metrics.distribution({ name, help })({});
  return {
    batches: counter('tidemark_ingest_batches_total', 'Accepted batches written as points.'),
    readings: counter('tidemark_ingest_readings_total', 'Readings of these batches.'),
    setAside: counter('tidemark_ingest_set_aside_total', 'Batches set aside because they cannot be written.'),
    lagSeconds: distribution(
      'tidemark_ingest_lag_seconds',
      'From the acceptance of the oldest push of a transaction to the commit of its points.',
    ),
    transactionSeconds: distribution(
      'tidemark_ingest_transaction_seconds',
      'Time of a transaction that writes batches.',
    ),
  };
}
