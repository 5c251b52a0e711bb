/** Shows and edits the schedule of a formula. The API computes the next instants of the schedule. */
import { TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { formatMoment } from '../../parts/moment.tsx';
import { useInstants } from '../calculated-queries.ts';
import { type Formula, scheduleOf } from '../declaration.ts';
import classes from './script.module.css';

const DEBOUNCE_MS = 300;

interface ScheduleProps {
  readonly formula: Formula;
  /** Zone of the source. It applies when the schedule names no zone. */
  readonly timeZone: string;
  readonly isReadOnly: boolean;
  readonly onChange: (change: Partial<Formula>) => void;
}

/** Editor of a formula's schedule: cron expression, zone and next instants. */
export function Schedule({ formula, timeZone, isReadOnly, onChange }: ScheduleProps) {
  const { t } = useTranslation('calculated');
  const { cron, timeZoneId } = scheduleOf(formula);
  const set = (nextCron: string, nextZone: string) => {
    const zoned = nextZone === '' ? nextCron : { cron: nextCron, timeZoneId: nextZone };
    onChange({ schedule: nextCron === '' ? null : zoned });
  };
  return (
    <section aria-label={t('schedule.title')}>
      <h3>{t('schedule.title')}</h3>
      <fieldset className={classes.input} disabled={isReadOnly}>
        <legend className={classes.hidden}>{t('schedule.title')}</legend>
        <div className={classes.fields}>
          <TextInput
            label={t('schedule.cron')}
            placeholder="15 6 * * 1-5"
            value={cron}
            onChange={(event) => set(event.currentTarget.value, timeZoneId)}
          />
          <TextInput
            label={t('schedule.zone')}
            placeholder={timeZone}
            value={timeZoneId}
            disabled={cron === ''}
            onChange={(event) => set(cron, event.currentTarget.value)}
          />
        </div>
      </fieldset>
      {cron === '' ? (
        <p className={classes.soft}>{t('schedule.none')}</p>
      ) : (
        <Instants cron={cron} timeZone={timeZoneId || timeZone} />
      )}
    </section>
  );
}

/** Shows the next instants of a cron expression. */
export function Instants({ cron, timeZone }: { readonly cron: string; readonly timeZone: string }) {
  const { t } = useTranslation('calculated');
  const [typed] = useDebouncedValue(cron, DEBOUNCE_MS);
  const [zone] = useDebouncedValue(timeZone, DEBOUNCE_MS);
  const { data, error } = useInstants(typed, zone);
  if (error) return <p className={classes.problem}>{error.message}</p>;
  if (!data) return null;
  return (
    <p className={classes.soft}>
      {t('schedule.next', { zone: data.timeZoneId })}{' '}
      {data.instants.map((instant) => formatMoment(instant, data.timeZoneId)).join(' · ')}
    </p>
  );
}
