/** The differences between two versions: a summary, and a list of the dates at which the values differ. */
import { Skeleton } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { formatMoment } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { currentLocale } from '../../texts/language.ts';
import { compareQuery, type Range, type Side, toInstant } from '../chart-rules.ts';
import classes from './changes.module.css';

type Comparison = components['schemas']['Comparison'];

const ROW_PIXELS = 32;
/** Maximum number of dates read for the list; the summary covers all dates of the range. */
const MAX_ROWS = 100_000;

interface ChangesProps {
  readonly variableId: number;
  readonly range: Range;
  readonly left: Side;
  readonly right: Side;
  readonly timeZone: string;
}

/** Summary of the differences between two versions, and the table of the dates that differ. */
export function Changes({ variableId, range, left, right, timeZone }: ChangesProps) {
  const { t } = useTranslation();
  const comparison = useQuery({
    queryKey: ['compare', variableId, range.from, range.to, left, right],
    queryFn: () => {
      const { leftVersion, leftAsOf, rightVersion, rightAsOf } = compareQuery(left, right, new Date().toISOString());
      const query = {
        variableId,
        from: toInstant(range.from),
        to: toInstant(range.to),
        pageNumber: 0,
        itemsPerPage: MAX_ROWS,
        ...(leftVersion !== undefined && { leftVersion: [leftVersion] }),
        ...(leftAsOf !== undefined && { leftAsOf }),
        ...(rightVersion !== undefined && { rightVersion: [rightVersion] }),
        ...(rightAsOf !== undefined && { rightAsOf }),
      };
      return bodyOf(api.GET('/data/compare', { params: { query } }));
    },
    placeholderData: keepPreviousData,
  });
  if (comparison.error) return <Problem error={comparison.error} onRetry={() => void comparison.refetch()} />;
  if (!comparison.data) return <Skeleton height={160} radius="md" />;
  const { summary, rows } = comparison.data;
  const changed = rows.filter(({ leftValue, rightValue }) => leftValue !== rightValue);
  return (
    <section className={classes.changes} aria-label={t('changes.title')}>
      <p className={classes.summary} role="status">
        {t('changes.summary', { ...summary, count: summary.points, mean: format(summary.meanAbsoluteDifference, 4) })}
      </p>
      {changed.length > 0 && <Rows rows={changed} timeZone={timeZone} />}
    </section>
  );
}

/** Table of the dates at which the two versions differ. Renders only the rows in and near the visible part. */
function Rows({ rows, timeZone }: { readonly rows: Comparison['rows']; readonly timeZone: string }) {
  const { t } = useTranslation();
  const frame = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PIXELS,
    overscan: 10,
  });
  const cells = ['changes.date', 'changes.before', 'changes.after', 'changes.difference'] as const;
  const shown = virtual.getVirtualItems();
  const above = shown[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    <section
      ref={frame}
      className={classes.frame}
      aria-label={t('changes.title')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must take the keyboard
      tabIndex={0}
    >
      <table className={classes.table} aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {cells.map((name) => (
              <th key={name} scope="col">
                {t(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <tr style={{ height: above }} />}
          {shown.map(({ index }) => {
            const row = rows[index];
            return (
              row && (
                <tr key={row.date} aria-rowindex={index + 2}>
                  <td>{formatMoment(row.date, timeZone)}</td>
                  <td>{format(row.leftValue)}</td>
                  <td>{format(row.rightValue)}</td>
                  <td data-sign={Math.sign(row.difference ?? 0)}>{format(row.difference)}</td>
                </tr>
              )
            );
          })}
          {below > 0 && <tr style={{ height: below }} />}
        </tbody>
      </table>
    </section>
  );
}

function format(value: number | null, digits = 8): string {
  return value === null ? '–' : value.toLocaleString(currentLocale(), { maximumSignificantDigits: digits });
}
