/**
 * Metrics of Standard Files (R-A9): counters of rows and of processed files; gauges of waiting files and of files being
 * processed.
 */
import type { BacklogQuery } from '../platform/metrics/backlog.ts';
import type { Count, Metrics } from '../platform/metrics/metrics.ts';

export interface FileMetrics {
  /** Counter of valid rows. The rows of a chunk of a file are counted when the chunk has been written. */
  readonly ingested: Count;
  /** Counter of rows reported as row errors. */
  readonly rejected: Count;
  /** Counter of files that were read to their end, whether or not rows were rejected. */
  readonly completed: Count;
  /** Counter of files that ended as Failed. */
  readonly failed: Count;
}

/** Registers the counters of Standard Files (R-A9). */
export function createFileMetrics(metrics: Metrics): FileMetrics {
  const rows = metrics.counter({
    name: 'tidemark_file_rows_total',
    help: 'Rows of Standard Files, by outcome. Rows that are rejected because their dates are rolled up count as ingested.',
    labels: ['outcome'],
  });
  const files = metrics.counter({
    name: 'tidemark_files_ended_total',
    help: 'Standard Files whose processing ended, by state: completed (read to the end) or failed.',
    labels: ['state'],
  });
  return {
    ingested: rows({ outcome: 'ingested' }),
    rejected: rows({ outcome: 'rejected' }),
    completed: files({ state: 'completed' }),
    failed: files({ state: 'failed' }),
  };
}

/** Query for the gauges of waiting files and of files being processed. */
export const FILE_BACKLOG: BacklogQuery = {
  sql: `
    select count(*) filter (where state = 'Queued')::int as queued,
           count(*) filter (where state = 'Processing')::int as processing
    from stored_file where state in ('Queued', 'Processing')`,
  gauges: [
    { column: 'queued', name: 'tidemark_files_queued', help: 'Number of Standard Files that wait to be processed.' },
    {
      column: 'processing',
      name: 'tidemark_files_processing',
      help: 'Number of Standard Files whose processing has started but not ended. Files that wait for a retry count too.',
    },
  ],
};
