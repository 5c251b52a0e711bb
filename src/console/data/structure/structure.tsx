/**
 * The user imports a structure document in two steps: a trial import shows, row by row, what the import would do, and
 * then the user starts the import itself. The user can also download the template and an export of the structure.
 */
import { Button, Progress, Skeleton } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { answerOf, api, bodyOf } from '../../api/client.ts';
import { saveAnswer } from '../../api/download.ts';
import { useFollowed } from '../../api/follow.ts';
import type { components } from '../../api/openapi.d.ts';
import { sendFile } from '../../api/upload.ts';
import { Problem } from '../../parts/problem.tsx';
import { State, type Tone } from '../../parts/state.tsx';
import { Pages, Table } from '../../parts/table.tsx';
import classes from '../../parts/view.module.css';
import { Icon } from '../../shell/icon.tsx';
import { notifyProblem } from '../../shell/notify.ts';
import { formatNumber } from '../../texts/language.ts';
import { DropZone } from '../drop-zone.tsx';
import { typeOf } from '../files/column-rules.ts';

type ImportStatus = components['schemas']['ImportResult'];

const KINDS = ['catalogues', 'forms', 'sites', 'sources', 'variables'] as const;
const ACTIONS = ['created', 'changed', 'left'] as const;
const PAGE_ROWS = 200;
/**
 * Documents of the trial imports since the page was loaded, by id of the trial import. Without a reload, the user need
 * not choose the file again for the import itself.
 */
const held = new Map<string, File>();

/** The tab "Structure", in which the user imports and exports structure documents. */
export function Structure({ importId }: { readonly importId: string | undefined }) {
  const { t } = useTranslation('data');
  const { sending, part } = useImport();
  return (
    <>
      <DropZone
        accept=".json,.xlsx"
        hint={t('structure.hint')}
        onFile={(file) => sending.mutate({ file, whatIf: true })}
      />
      <p className={classes.bar}>
        {(
          [
            ['template', '/structure/template', 'structure-template.xlsx'],
            ['exportXlsx', '/structure/export?format=xlsx', 'structure.xlsx'],
            ['exportJson', '/structure/export?format=json', 'structure.json'],
          ] as const
        ).map(([name, path, fileName]) => (
          <Button
            key={name}
            variant="subtle"
            size="compact-sm"
            leftSection={<Icon name="download" size={16} />}
            onClick={() => void saveAnswer(path, fileName).catch(notifyProblem)}
          >
            {t(`structure.${name}`)}
          </Button>
        ))}
      </p>
      {sending.isPending && <Progress value={part * 100} mb="md" aria-label={t('files.sending')} />}
      {sending.error && <Problem error={sending.error} />}
      {importId !== undefined && <Import key={importId} id={importId} />}
    </>
  );
}

/**
 * @returns `sending`, a mutation that sends a document and then shows the import of this document; and `part`, the
 * fraction of the document that has been sent, from 0 to 1.
 */
function useImport() {
  const navigate = useNavigate();
  const [part, setPart] = useState(0);
  const sending = useMutation({
    mutationFn: async ({ file, whatIf }: { readonly file: File; readonly whatIf: boolean }) => {
      const type = typeOf(file.name) ?? 'application/json';
      const { id } = await sendFile<ImportStatus>(`/structure/import?whatIf=${whatIf}`, file, type, setPart);
      if (whatIf) held.set(id, file);
      await navigate({ to: '/console/data', search: { tab: 'structure', import: id } });
    },
  });
  return { sending, part };
}

const TONES: Readonly<Record<ImportStatus['state'], Tone>> = {
  Queued: 'plain',
  Processing: 'plain',
  Completed: 'good',
  Refused: 'bad',
  Failed: 'bad',
};

function hasEnded({ state }: Pick<ImportStatus, 'state'>): boolean {
  return state !== 'Queued' && state !== 'Processing';
}

function Import({ id }: { readonly id: string }) {
  const { t } = useTranslation('data');
  const status = useFollowed<ImportStatus>({
    queryKey: ['import', id],
    read: () => bodyOf(api.GET('/structure/import/{id}', { params: { path: { id } } })),
    events: `/structure/import/${encodeURIComponent(id)}/events`,
    isOver: hasEnded,
  });
  const { sending } = useImport();
  const file = held.get(id);
  if (status.error) return <Problem error={status.error} onRetry={() => void status.refetch()} />;
  if (!status.data) return <Skeleton height={200} radius="md" />;
  const { state, whatIf, progress, counts, failure, problems = [], problemCount, ignoredMembers } = status.data;
  const isOver = hasEnded(status.data);
  return (
    <section className={classes.card} aria-labelledby="import">
      <div className={`${classes.bar} ${classes.between}`}>
        <h2 id="import">{t(whatIf ? 'structure.trial' : 'structure.import')}</h2>
        <span role="status">
          <State tone={TONES[state]}>{t(`structure.state.${state}`)}</State>
        </span>
      </div>
      {!isOver && (
        <Progress
          mt="sm"
          animated
          value={progress.totalBytes === 0 ? 0 : (100 * progress.bytes) / progress.totalBytes}
          aria-label={t('files.progress')}
        />
      )}
      <Counts counts={counts} />
      {failure && <p className={classes.message}>{failure.message}</p>}
      {ignoredMembers.length > 0 && (
        <p className={classes.soft}>{t('structure.ignored', { names: ignoredMembers.join(', ') })}</p>
      )}
      {problemCount > 0 && <Problems problems={problems} count={problemCount} />}
      {sending.error && <Problem error={sending.error} />}
      {isOver && whatIf && state === 'Completed' && (
        <p className={classes.bar}>
          {file ? (
            <Button loading={sending.isPending} onClick={() => sending.mutate({ file, whatIf: false })}>
              {t('structure.carryOut')}
            </Button>
          ) : (
            <span className={classes.soft}>{t('structure.again')}</span>
          )}
        </p>
      )}
      {isOver && problemCount === 0 && <ImportedRows id={id} />}
    </section>
  );
}

function Counts({ counts }: Pick<ImportStatus, 'counts'>) {
  const { t } = useTranslation('data');
  return (
    <Table
      label={t('structure.kind')}
      columns={[t('structure.kind'), ...ACTIONS.map((action) => [t(`structure.action.${action}`)] as const)]}
    >
      {KINDS.map((kind) => (
        <tr key={kind}>
          <td>{t(`structure.kinds.${kind}`)}</td>
          {ACTIONS.map((action) => (
            <td key={action} className={classes.number}>
              {formatNumber(counts[kind][action])}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

function Problems({ problems, count }: { readonly problems: ImportStatus['problems']; readonly count: number }) {
  const { t } = useTranslation('data');
  return (
    <>
      <p className={classes.message}>{t('structure.problems', { count })}</p>
      <Table label={t('rows.reason')} columns={[t('structure.place'), t('rows.reason')]}>
        {problems.map(({ path, message }) => (
          <tr key={path + message}>
            <td className={classes.nowrap}>
              <code>{path}</code>
            </td>
            <td>{message}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

/**
 * Table of the rows of the document: catalogue entries, forms, sites, sources, variables. Rows of one kind are in the
 * order of the document. For each row, the table shows whether the import creates the resource, changes it or leaves it
 * unchanged.
 */
function ImportedRows({ id }: { readonly id: string }) {
  const { t } = useTranslation('data');
  const [action, setAction] = useState<'Created' | 'Changed' | 'Left'>();
  const [page, setPage] = useState(0);
  const rows = useQuery({
    queryKey: ['import-rows', id, action, page],
    queryFn: () =>
      answerOf(
        api.GET('/structure/import/{id}/rows', {
          params: {
            path: { id },
            query: {
              pageNumber: page,
              itemsPerPage: PAGE_ROWS,
              includeItemsCount: true,
              ...(action !== undefined && { action }),
            },
          },
        }),
      ),
  });
  if (rows.error) return <Problem error={rows.error} onRetry={() => void rows.refetch()} />;
  if (!rows.data) return <Skeleton height={160} radius="md" />;
  const { body, total } = rows.data;
  return (
    <>
      <p className={classes.bar}>
        {([undefined, 'Created', 'Changed', 'Left'] as const).map((each) => (
          <Button
            key={each ?? 'all'}
            size="compact-sm"
            variant={each === action ? 'filled' : 'default'}
            aria-pressed={each === action}
            onClick={() => {
              setAction(each);
              setPage(0);
            }}
          >
            {each === undefined ? t('structure.all') : t(`structure.row.${each}`)}
          </Button>
        ))}
      </p>
      <Table
        label={t('structure.what')}
        columns={[t('structure.place'), t('structure.kind'), t('structure.what'), t('structure.changes')]}
      >
        {body.map(({ place, kind, action: done, changes }) => (
          <tr key={kind + place}>
            <td className={classes.nowrap}>
              <code>{place}</code>
            </td>
            <td>{t(`structure.kinds.${kind}`)}</td>
            <td>
              <State tone={done === 'Left' ? 'plain' : done === 'Created' ? 'good' : 'warn'}>
                {t(`structure.row.${done}`)}
              </State>
            </td>
            <td>
              {Object.entries(changes ?? {}).map(([member, { from, to }]) => (
                <div key={member}>
                  {member}: <code>{JSON.stringify(from)}</code> → <code>{JSON.stringify(to)}</code>
                </div>
              ))}
            </td>
          </tr>
        ))}
      </Table>
      <Pages page={page} pageRows={PAGE_ROWS} total={total} onChange={setPage} />
    </>
  );
}
