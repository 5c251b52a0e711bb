/** Shows the current and waiting runs of a calculated variable, with buttons that force an update or stop the runs. */
import { Button, Progress, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { useDraft } from '../../parts/draft.ts';
import { useSession } from '../../session/session.tsx';
import { notifyDone, notifyProblem } from '../../shell/notify.ts';
import { useUpdateState } from '../calculated-queries.ts';
import classes from './runs.module.css';

const NO_DATES = { from: '', to: '' };
const TICK_MS = 1000;
/**
 * Highest percentage that the progress bar shows when the usual duration is known. A run that takes longer than usual
 * must not look finished.
 */
const MAX_PERCENT = 95;

/** The bar above the list of runs: the current run, waiting requests, and buttons that request or stop an update. */
export function UpdateBar({ variableId, timeZone }: { readonly variableId: number; readonly timeZone: string }) {
  const { t } = useTranslation('calculated');
  const { mayManage } = useSession();
  const [dates, setDates, dropDates] = useDraft(`update.${variableId}`, NO_DATES);
  const state = useUpdateState(variableId);
  const refresh = useRefresh(variableId);
  const path = { id: variableId };
  const force = useMutation({
    mutationFn: () => {
      const body = { ...(dates.from !== '' && { from: dates.from }), ...(dates.to !== '' && { to: dates.to }) };
      return bodyOf(api.POST('/variables/{id}/forceUpdate', { params: { path }, body }));
    },
    onSuccess: () => {
      dropDates();
      notifyDone(t('update.requested'));
    },
    onError: notifyProblem,
    onSettled: refresh,
  });
  const stop = useMutation({
    mutationFn: () => bodyOf(api.POST('/variables/{id}/stopUpdate', { params: { path } })),
    onSuccess: ({ runIds }) => notifyDone(t('update.stopped', { count: runIds.length })),
    onError: notifyProblem,
    onSettled: refresh,
  });
  const isBusy = state.data !== undefined && (state.data.running !== null || state.data.waiting.length > 0);
  // The list of runs is out of date as soon as a run ends.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `refresh` is another function at each render
  useEffect(() => refresh(), [isBusy, state.data?.running?.runId]);
  return (
    <section className={classes.card} aria-label={t('update.title')}>
      <h2>{t('update.title')}</h2>
      <div className={classes.bar}>
        {mayManage && (
          <>
            {(['from', 'to'] as const).map((name) => (
              <TextInput
                key={name}
                type="datetime-local"
                label={t(`update.${name}`, { zone: timeZone })}
                value={dates[name]}
                onChange={(event) => setDates({ ...dates, [name]: event.currentTarget.value })}
              />
            ))}
            <Button loading={force.isPending} onClick={() => force.mutate()}>
              {t('update.force')}
            </Button>
            {isBusy && (
              <Button variant="default" loading={stop.isPending} onClick={() => stop.mutate()}>
                {t('update.stop')}
              </Button>
            )}
          </>
        )}
      </div>
      <p className={classes.soft} role="status">
        {isBusy ? <UnderWay {...state.data} /> : state.data && t('update.idle')}{' '}
        {mayManage && !isBusy && t('update.hint')}
      </p>
    </section>
  );
}

function useRefresh(variableId: number) {
  const queries = useQueryClient();
  return () => {
    for (const key of ['run-pages', 'update-state']) void queries.invalidateQueries({ queryKey: [key, variableId] });
  };
}

type UnderWayProps = NonNullable<ReturnType<typeof useUpdateState>['data']>;

/** Shows how long the current run has taken, how long runs usually take, and how many requests wait. */
function UnderWay({ running, waiting, usualMs }: UnderWayProps) {
  const { t } = useTranslation('calculated');
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const elapsedMs = running ? Math.max(0, now - Date.parse(running.startedDate)) : 0;
  const percent = usualMs === null ? undefined : Math.min(MAX_PERCENT, (100 * elapsedMs) / Math.max(usualMs, 1));
  return (
    <span className={classes.underWay}>
      {running && t('update.running', { id: running.runId, seconds: Math.round(elapsedMs / 1000) })}{' '}
      {usualMs !== null && t('update.usual', { seconds: Math.round(usualMs / 100) / 10 })}{' '}
      {waiting.length > 0 && t('update.waiting', { count: waiting.length })}
      {running && (
        <Progress
          component="span"
          className={classes.progress ?? ''}
          value={percent ?? 100}
          animated={percent === undefined}
          striped={percent === undefined}
          aria-label={t('update.progress')}
        />
      )}
    </span>
  );
}
