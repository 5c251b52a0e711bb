/** The differences between two declarations: the scripts, then all other members as JSON. */
import { useTranslation } from 'react-i18next';
import { type Declaration, toTexts } from '../declaration.ts';
import { Diff } from './editor.tsx';
import classes from './script.module.css';

/** Compares the scripts and the settings, and shows what differs. Shows a sentence instead when nothing differs. */
export function Differences({ before, after }: { readonly before: Declaration; readonly after: Declaration }) {
  const { t } = useTranslation('calculated');
  const [old, now] = [toTexts(before), toTexts(after)];
  if (old.script === now.script && old.settings === now.settings)
    return <p className={classes.soft}>{t('diff.none')}</p>;
  return (
    <>
      {old.script !== now.script && <Diff label={t('diff.script')} before={old.script} after={now.script} />}
      {old.settings !== now.settings && (
        <>
          <h3 className={classes.gap}>{t('diff.settings')}</h3>
          <Diff label={t('diff.settings')} before={old.settings} after={now.settings} />
        </>
      )}
    </>
  );
}
