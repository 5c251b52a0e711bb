/**
 * Lets the user choose a file, shows which columns the service will read, sends the file, and lists the files sent
 * before.
 */
import { Button, Progress, Skeleton } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { saveAnswer } from '../../api/download.ts';
import { sendFile } from '../../api/upload.ts';
import { Ago } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { State } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import classes from '../../parts/view.module.css';
import { useSession } from '../../session/session.tsx';
import { Icon } from '../../shell/icon.tsx';
import { notifyProblem } from '../../shell/notify.ts';
import own from '../data.module.css';
import { DropZone } from '../drop-zone.tsx';
import { isRefused, planColumns, typeOf } from './column-rules.ts';
import { addSentFile, heldFiles, sentFiles } from './file-queries.ts';
import { readRows } from './read-rows.ts';

const PREVIEW_ROWS = 5;

/**
 * Shows the tab "Files" when the URL names no file. The user can download a template, choose a file and see its first
 * rows, or open a file that was sent before.
 */
export function Files() {
  const { t } = useTranslation('data');
  const [file, setFile] = useState<File>();
  if (file) return <Chosen file={file} onDrop={() => setFile(undefined)} />;
  return (
    <>
      <DropZone accept=".csv,.xlsx" hint={t('files.hint')} onFile={setFile} />
      <p className={classes.bar}>
        {(['csv', 'xlsx'] as const).map((format) => (
          <Button
            key={format}
            variant="subtle"
            size="compact-sm"
            leftSection={<Icon name="download" size={16} />}
            onClick={() =>
              void saveAnswer(`/storage/template?format=${format}`, `points.${format}`).catch(notifyProblem)
            }
          >
            {t('files.template', { format })}
          </Button>
        ))}
      </p>
      <Troubled />
      <Sent />
    </>
  );
}

/**
 * @returns `sending`: a mutation that sends a file and opens its page; `part`: the fraction sent so far, from 0 to 1.
 */
export function useSend() {
  const { userId, accountId } = useSession();
  const navigate = useNavigate();
  const [part, setPart] = useState(0);
  const sending = useMutation({
    mutationFn: async ({ content, name }: { readonly content: Blob; readonly name: string }) => {
      const type = typeOf(name) ?? 'application/octet-stream';
      const id = await sendFile<string>(`/storage?filename=${encodeURIComponent(name)}`, content, type, setPart);
      heldFiles.set(id, content);
      addSentFile(userId, accountId, { id, name, date: new Date().toISOString() });
      await navigate({ to: '/console/data', search: { file: id } });
    },
  });
  return { sending, part };
}

function Chosen({ file, onDrop }: { readonly file: File; readonly onDrop: () => void }) {
  const { t } = useTranslation('data');
  const { sending, part } = useSend();
  const head = useQuery({
    queryKey: ['file-head', file.name, file.size, file.lastModified],
    queryFn: async () => (await readRows(file, file.name, { count: PREVIEW_ROWS })) ?? null,
    retry: false,
  });
  const isStandard = typeOf(file.name) !== undefined;
  const plan = head.data && planColumns(head.data.header);
  return (
    <section className={classes.card} aria-labelledby="chosen">
      <h2 id="chosen">{file.name}</h2>
      {!isStandard && (
        <p className={classes.message}>{t(isRefused(file.name) ? 'files.refused' : 'files.notStandard')}</p>
      )}
      {isStandard && head.isPending && <Skeleton height={120} radius="md" />}
      {isStandard && head.error && <p className={classes.message}>{t('files.unreadable')}</p>}
      {isStandard && head.data === null && <p className={classes.soft}>{t('files.large')}</p>}
      {isStandard && plan && head.data && (
        <>
          <UnreadSheets sheets={head.data.sheets} />
          <ul className={own.columns} aria-label={t('files.columns')}>
            {plan.columns.map(({ name, isRead }) => (
              <li key={name}>
                <State tone={isRead ? 'good' : 'plain'}>
                  {t(isRead ? 'files.isRead' : 'files.isIgnored', { name })}
                </State>
              </li>
            ))}
          </ul>
          {plan.missing.map((name) => (
            <p key={name} className={classes.message}>
              {t(`files.missing.${name}`)}
            </p>
          ))}
          <Table label={t('files.columns')} columns={head.data.header}>
            {[...head.data.rows].map(([row, cells]) => (
              <tr key={row}>
                {cells.map((cell, column) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a cell has no other name
                  <td key={column}>{cell}</td>
                ))}
              </tr>
            ))}
          </Table>
        </>
      )}
      {sending.isPending && <Progress value={part * 100} mt="sm" aria-label={t('files.sending')} />}
      {sending.error && <Problem error={sending.error} />}
      <p className={classes.bar}>
        <Button mt="sm" loading={sending.isPending} onClick={() => sending.mutate({ content: file, name: file.name })}>
          {t('files.send')}
        </Button>
        <Button mt="sm" variant="default" onClick={onDrop}>
          {t('cancel')}
        </Button>
      </p>
    </section>
  );
}

/** Names the sheets that the service does not read: all except the first sheet of a workbook. */
function UnreadSheets({ sheets = [] }: { readonly sheets: readonly string[] | undefined }) {
  const { t } = useTranslation('data');
  const [first, ...others] = sheets;
  if (others.length === 0) return null;
  return <p>{t('files.sheets', { first, others: others.join(', ') })}</p>;
}

/**
 * Lists the newest files of the last 7 days that have errors, at most 50. A user with the role USER sees only their own
 * files.
 */
function Troubled() {
  const { t } = useTranslation('data');
  const health = useQuery({ queryKey: ['health'], queryFn: () => bodyOf(api.GET('/account/health')) });
  if (health.error) return <Problem error={health.error} onRetry={() => void health.refetch()} />;
  const items = health.data?.files.items ?? [];
  if (items.length === 0) return null;
  return (
    <section className={classes.card} aria-labelledby="troubled">
      <h2 id="troubled">{t('files.troubled')}</h2>
      <ul className={classes.list}>
        {items.map(({ id, filename, date, rejectedRows, message }) => (
          <li key={id} className={classes.row}>
            <div>
              <Link to="/console/data" search={{ file: id }}>
                {filename}
              </Link>
              <div className={classes.soft}>
                {t('files.rejectedRows', { count: rejectedRows })}
                {message && ` · ${message}`}
              </div>
            </div>
            <span className={classes.soft}>
              <Ago instant={date} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Sent() {
  const { t } = useTranslation('data');
  const { userId, accountId } = useSession();
  const files = sentFiles(userId, accountId);
  if (files.length === 0) return null;
  return (
    <section className={classes.card} aria-labelledby="sent">
      <h2 id="sent">{t('files.sent')}</h2>
      <ul className={classes.list}>
        {files.map(({ id, name, date }) => (
          <li key={id} className={classes.row}>
            <Link to="/console/data" search={{ file: id }}>
              {name}
            </Link>
            <span className={classes.soft}>
              <Ago instant={date} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
