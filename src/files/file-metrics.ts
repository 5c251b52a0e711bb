/** What is counted of Standard Files (R-A9). */
import type { BacklogQuery } from '../platform/metrics/backlog.ts';
import type { Count, Metrics } from '../platform/metrics/metrics.ts';

export interface FileMetrics {
  /** Rows that became points. */
  readonly ingested: Count;
  /** Rows that were reported as wrong. */
  readonly rejected: Count;
  readonly completed: Count;
  /** Refused as a whole. */
  readonly failed: Count;
}

export function createFileMetrics(metrics: Metrics): FileMetrics {
  const rows = metrics.counter({
    name: 'tidemark_file_rows_total',
    help: 'Rows of Standard Files, by what became of them.',
    labels: ['outcome'],
  });
  const files = metrics.counter({
    name: 'tidemark_files_ended_total',
    help: 'Standard Files that ended, by state.',
    labels: ['state'],
  });
  return {
    ingested: rows({ outcome: 'ingested' }),
    rejected: rows({ outcome: 'rejected' }),
    completed: files({ state: 'completed' }),
    failed: files({ state: 'failed' }),
  };
}

export const FILE_BACKLOG: BacklogQuery = {
  sql: `
    select count(*) filter (where state = 'Queued')::int as queued,
           count(*) filter (where state = 'Processing')::int as processing
    from stored_file where state in ('Queued', 'Processing')`,
  gauges: [
    { column: 'queued', name: 'tidemark_files_queued', help: 'Standard Files that wait for their turn.' },
    { column: 'processing', name: 'tidemark_files_processing', help: 'Standard Files under way.' },
  ],
};
