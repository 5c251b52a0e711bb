/**
 * The last saves of a declaration (R-H12). Each save shows who made it, when and why, and what it changed. A user who
 * may edit can put the declaration of an older save into the editor.
 */
import { Button, Skeleton } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Ago } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { HISTORY_LENGTH, type Place, type Save, useHistory } from '../calculated-queries.ts';
import { type Declaration, toDeclaration } from '../declaration.ts';
import { Differences } from './differences.tsx';
import classes from './script.module.css';

interface HistoryProps {
  readonly place: Place;
  readonly isReadOnly: boolean;
  /** Called when the user restores `save`; the editor must then show `declaration`. */
  readonly onRestore: (declaration: Declaration, save: Save) => void;
}

/** Lists the saves of a declaration, newest first. */
export function History({ place, isReadOnly, onRestore }: HistoryProps) {
  const { t } = useTranslation('calculated');
  const history = useHistory(place);
  const [shown, setShown] = useState<number>();
  if (history.error) return <Problem error={history.error} onRetry={() => void history.refetch()} />;
  if (!history.data) return <Skeleton height={120} radius="md" />;
  if (history.data.length === 0) return <p className={classes.soft}>{t('history.empty')}</p>;
  return (
    <ol className={classes.saves}>
      {history.data.slice(0, HISTORY_LENGTH - 1).map((save, index) => {
        const older = history.data[index + 1];
        const isShown = shown === save.id;
        return (
          <li key={save.id}>
            <div className={classes.save}>
              <div>
                <strong>{save.userName ?? t('history.unknown')}</strong>{' '}
                <span className={classes.soft}>
                  {save.date === null ? t('history.before') : <Ago instant={save.date} />}
                </span>
                {save.note !== null && <p className={classes.note}>{save.note}</p>}
                {save.calculated === null && <p className={classes.note}>{t('history.stopped')}</p>}
              </div>
              <div className={classes.buttons}>
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-expanded={isShown}
                  onClick={() => setShown(isShown ? undefined : save.id)}
                >
                  {t('history.changes')}
                </Button>
                {!isReadOnly && save.calculated !== null && index > 0 && (
                  <Button
                    size="compact-sm"
                    variant="light"
                    onClick={() => onRestore(toDeclaration(save.calculated), save)}
                  >
                    {t('history.restore')}
                  </Button>
                )}
              </div>
            </div>
            {isShown && (
              <Differences before={toDeclaration(older?.calculated)} after={toDeclaration(save.calculated)} />
            )}
          </li>
        );
      })}
    </ol>
  );
}
