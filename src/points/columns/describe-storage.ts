/** Shows the disk space of stored points as a plain-text table and as metrics. */
import type { Database } from '../../platform/database/database.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import { measureStorage, type StoredPoints } from './measure-storage.ts';

const HEADINGS = ['table', 'form', 'account', 'points', 'bytes', 'bytes per point'] as const;

/** @returns the lines of a plain-text table: a line of headings, then one line for each element of `stored`. */
export function describeStoredPoints(stored: readonly StoredPoints[]): readonly string[] {
  const rows = stored.map(({ table, form, accountId, points, bytes }) => [
    table,
    form,
    accountId === null ? '(deleted)' : String(accountId),
    String(Math.round(points)),
    String(Math.round(bytes)),
    (bytes / points).toFixed(1),
  ]);
  const lines: readonly (readonly string[])[] = [HEADINGS, ...rows];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const isText = (column: number) => column < 2;
  return lines.map((line) =>
    line
      .map((cell, column) => (isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/**
 * Registers gauges for the number and the disk space of stored points.
 * @returns a function that measures the stored points. The gauges have no values until a measurement has succeeded.
 */
export function watchStorage(database: Database, metrics: Metrics): () => Promise<void> {
  let stored: readonly StoredPoints[] | undefined;
  const gauge = (name: string, help: string, measured: (part: StoredPoints) => number) =>
    metrics.gauge({ name, help, labels: ['table', 'form', 'account'] }, () =>
      stored?.map((part) => {
        const { table, form, accountId } = part;
        return { labels: { table, form, account: String(accountId ?? '') }, value: measured(part) };
      }),
    );
  gauge(
    'tidemark_storage_points',
    'Stored points; the label "account" is empty for points of deleted variables.',
    ({ points }) => points,
  );
  gauge('tidemark_storage_bytes', 'Bytes of stored points on disk, with indexes.', ({ bytes }) => bytes);
  return async () => {
    stored = await measureStorage(database);
  };
}
