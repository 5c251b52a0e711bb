/** Shows the rejected rows of a file with their reasons, and sends the corrected rows as a new file. */
import { Button, Progress, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { fetchPoints } from '../../api/download.ts';
import { useDraft } from '../../parts/draft.ts';
import { Frame } from '../../parts/frame.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Table } from '../../parts/table.tsx';
import classes from '../../parts/view.module.css';
import own from '../data.module.css';
import { type FileStatus, heldFiles } from './file-queries.ts';
import { useSend } from './files.tsx';
import { type ReadRows, readRows, toCsv } from './read-rows.ts';

const ROW_PIXELS = 44;
/** Maximum size of a file that is downloaded to show its rows. */
const MAX_DOWNLOAD_BYTES = 100 << 20;

type RowErrors = FileStatus['errors'];

/**
 * Shows the rejected rows of a file. Takes the file from memory when this page sent it, else downloads it. When the
 * page cannot read the file, for example because the file is too large, shows only row numbers and reasons.
 */
export function RejectedRows({ file }: { readonly file: FileStatus }) {
  const { t } = useTranslation('data');
  const { id, filename, errors, counts, progress } = file;
  const isTooLarge = progress.totalBytes > MAX_DOWNLOAD_BYTES && !heldFiles.has(id);
  const content = useQuery({
    queryKey: ['file-rows', id, errors.length],
    queryFn: async () => {
      const blob =
        heldFiles.get(id) ?? (await (await fetchPoints(`/storage/${encodeURIComponent(id)}/content`, {})).blob());
      const rows = new Set(errors.map(({ row }) => row));
      return (await readRows(blob, filename, { rows, count: rows.size })) ?? null;
    },
    enabled: !isTooLarge,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (
    <section className={classes.card} aria-labelledby="rejected">
      <h2 id="rejected">{t('rows.title')}</h2>
      {errors.length < counts.rejected && (
        <p className={classes.soft}>{t('rows.first', { shown: errors.length, count: counts.rejected })}</p>
      )}
      {content.error && <Problem error={content.error} />}
      {content.isLoading && <Skeleton height={200} radius="md" />}
      {content.data ? (
        <Correction file={file} content={content.data} />
      ) : (
        !content.isLoading && <Plain errors={errors} />
      )}
    </section>
  );
}

/**
 * Shows the row number and the reason of each of the first 200 rejected rows. Used when the page could not read the
 * cells of the rows from the file.
 */
function Plain({ errors }: { readonly errors: RowErrors }) {
  const { t } = useTranslation('data');
  return (
    <Table label={t('rows.title')} columns={[t('rows.row'), t('rows.reason')]}>
      {errors.slice(0, 200).map(({ row, message }) => (
        <tr key={row}>
          <td>{row}</td>
          <td>{message}</td>
        </tr>
      ))}
    </Table>
  );
}

type Corrections = Readonly<Record<number, readonly string[]>>;
const NONE: Corrections = {};

function Correction({ file, content }: { readonly file: FileStatus; readonly content: ReadRows }) {
  const { t } = useTranslation('data');
  const [corrected, setCorrected, dropDraft] = useDraft<Corrections>(`rows.${file.id}`, NONE);
  const { sending, part } = useSend();
  const count = Object.keys(corrected).length;
  const correct = (row: number, column: number, text: string) => {
    const cells = [...(corrected[row] ?? content.rows.get(row) ?? [])];
    cells[column] = text;
    setCorrected({ ...corrected, [row]: cells });
  };
  const send = () => {
    const rows = Object.values(corrected);
    const name = `${file.filename.replace(/\.(csv|xlsx)$/i, '')}-corrected.csv`;
    const csv = new Blob([toCsv(content.header, rows)], { type: 'text/csv' });
    sending.mutate({ content: csv, name }, { onSuccess: () => dropDraft() });
  };
  return (
    <>
      <p className={classes.soft}>{t('rows.hint')}</p>
      <Rows errors={file.errors} content={content} corrected={corrected} onCorrect={correct} />
      {sending.isPending && <Progress value={part * 100} mt="sm" aria-label={t('files.sending')} />}
      {sending.error && <Problem error={sending.error} />}
      <p className={classes.bar}>
        <Button mt="sm" disabled={count === 0} loading={sending.isPending} onClick={send}>
          {t('rows.send', { count })}
        </Button>
        {count > 0 && (
          <Button mt="sm" variant="default" onClick={() => dropDraft(NONE)}>
            {t('rows.drop')}
          </Button>
        )}
      </p>
    </>
  );
}

interface RowsProps {
  readonly errors: RowErrors;
  readonly content: ReadRows;
  readonly corrected: Corrections;
  readonly onCorrect: (row: number, column: number, text: string) => void;
}

/** The rejected rows in a virtual table, which renders only the rows in and near its visible part. */
function Rows({ errors, content: { header, rows }, corrected, onCorrect }: RowsProps) {
  const { t } = useTranslation('data');
  const frame = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: errors.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PIXELS,
    overscan: 6,
  });
  const shown = virtual.getVirtualItems();
  const above = shown[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    <Frame ref={frame} label={t('rows.title')}>
      <table className={classes.table} aria-rowcount={errors.length + 1}>
        <thead>
          <tr>
            <th scope="col">{t('rows.row')}</th>
            <th scope="col">{t('rows.reason')}</th>
            {header.map((name, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a header may repeat a name
              <th key={column} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <tr style={{ height: above }} />}
          {shown.map(({ index, key }) => {
            const error = errors[index];
            if (!error) return null;
            const { row, message } = error;
            const original = rows.get(row) ?? [];
            const cells = corrected[row] ?? original;
            return (
              <tr key={key} ref={virtual.measureElement} data-index={index} aria-rowindex={index + 2}>
                <td className={classes.number}>{row}</td>
                <td className={classes.message}>{message}</td>
                {header.map((name, column) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a header may repeat a name
                  <td key={column}>
                    <input
                      className={own.cell}
                      value={cells[column] ?? ''}
                      aria-label={t('rows.cell', { name, row })}
                      data-changed={(cells[column] ?? '') !== (original[column] ?? '') || undefined}
                      onChange={({ currentTarget }) => onCorrect(row, column, currentTarget.value)}
                    />
                  </td>
                ))}
              </tr>
            );
          })}
          {below > 0 && <tr style={{ height: below }} />}
        </tbody>
      </table>
    </Frame>
  );
}
