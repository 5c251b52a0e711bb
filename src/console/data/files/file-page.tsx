/** Shows one file: its progress, how many rows were ingested and rejected, and the rejected rows. */
import { Button, Progress, Skeleton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { saveAnswer } from '../../api/download.ts';
import { Ago } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { State } from '../../parts/state.tsx';
import classes from '../../parts/view.module.css';
import { Icon } from '../../shell/icon.tsx';
import { notifyProblem } from '../../shell/notify.ts';
import { formatNumber } from '../../texts/language.ts';
import own from '../data.module.css';
import { type FileStatus, isFileOver, TONES, useFile } from './file-queries.ts';
import { RejectedRows } from './rejected-rows.tsx';

/** Content of the tab "Files" when a file is open. */
export function FilePage({ id }: { readonly id: string }) {
  const { t } = useTranslation('data');
  const file = useFile(id);
  return (
    <>
      <p className={classes.bar}>
        <Link to="/console/data">{t('files.all')}</Link>
      </p>
      {file.error && <Problem error={file.error} onRetry={() => void file.refetch()} />}
      {file.isPending && <Skeleton height={160} radius="md" />}
      {file.data && <Status file={file.data} />}
      {file.data && file.data.errors.length > 0 && file.data.completedDate !== undefined && (
        <RejectedRows file={file.data} />
      )}
    </>
  );
}

function Status({ file }: { readonly file: FileStatus }) {
  const { t } = useTranslation('data');
  const { id, filename, state, progress, counts, failure, advice, ignoredColumns, uploadedDate, warnings = [] } = file;
  const isOver = isFileOver(file);
  return (
    <section className={classes.card} aria-labelledby="file">
      <div className={`${classes.bar} ${classes.between}`}>
        <h2 id="file">{filename}</h2>
        <span role="status">
          <State tone={TONES[state]}>{t(`files.state.${state}`)}</State>
        </span>
      </div>
      <p className={classes.soft}>
        <Ago instant={uploadedDate} />
      </p>
      {!isOver && (
        <Progress
          mt="sm"
          animated
          value={progress.totalBytes === 0 ? 0 : (100 * progress.bytes) / progress.totalBytes}
          aria-label={t('files.progress')}
        />
      )}
      <dl className={own.counts}>
        {(['rows', 'ingested', 'rejected', 'warnings'] as const).map((name) => (
          <div key={name}>
            <dt>{t(`files.count.${name}`)}</dt>
            <dd>{formatNumber(counts[name])}</dd>
          </div>
        ))}
      </dl>
      {failure && <p className={classes.message}>{failure.message}</p>}
      {advice !== undefined && <p className={classes.message}>{advice}</p>}
      {ignoredColumns.length > 0 && (
        <p className={classes.soft}>{t('files.ignored', { names: ignoredColumns.join(', ') })}</p>
      )}
      {warnings.slice(0, 5).map(({ row, message }) => (
        <p key={row} className={classes.soft}>
          {t('files.warning', { row, message })}
        </p>
      ))}
      <p className={classes.bar}>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Icon name="download" size={16} />}
          onClick={() => void saveAnswer(`/storage/${encodeURIComponent(id)}/content`, filename).catch(notifyProblem)}
        >
          {t('files.content')}
        </Button>
        {isOver && counts.ingested > 0 && <Link to="/console/find">{t('files.see')}</Link>}
        {counts.rejected > 0 && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<Icon name="download" size={16} />}
            onClick={() =>
              void saveAnswer(`/storage/${encodeURIComponent(id)}/errors?format=xlsx`, `${filename}.errors.xlsx`).catch(
                notifyProblem,
              )
            }
          >
            {t('files.errorList')}
          </Button>
        )}
      </p>
    </section>
  );
}
