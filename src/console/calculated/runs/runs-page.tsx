/** The page of a calculated variable's runs, with the update bar, the schedules, and a filter of the runs. */
import { Button, Select, Skeleton, TextInput } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Ago, formatMoment } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Table } from '../../parts/table.tsx';
import { formatNumber } from '../../texts/language.ts';
import { useVariable, type VariableContext } from '../../variable/variable-queries.ts';
import '../texts.ts';
import { type Run, useRuns } from '../calculated-queries.ts';
import { type Formula, scheduleOf, toDeclaration } from '../declaration.ts';
import { Heading } from '../heading.tsx';
import { Instants } from '../script/schedule.tsx';
import { parseRunFilter, RUN_STATES, RUN_TRIGGERS } from './run-filter.ts';
import classes from './runs.module.css';
import { UpdateBar } from './update-bar.tsx';

const route = getRouteApi('/console/variables/$variableId/runs');

/** Renders the route; the URL holds the filter of the runs. */
export function RunsPage() {
  const { t } = useTranslation('calculated');
  const { variableId } = route.useParams();
  const context = useVariable(variableId);
  if (context.error) return <Problem error={context.error} onRetry={() => void context.refetch()} />;
  if (!context.data) return <Skeleton height={420} radius="md" />;
  const formulas = toDeclaration(context.data.variable.calculated).calculatedVariableFormulas;
  return (
    <>
      <Heading context={context.data} />
      <UpdateBar key={variableId} variableId={variableId} timeZone={context.data.timeZone} />
      <section className={classes.card} aria-label={t('schedule.title')}>
        <h2>{t('schedule.title')}</h2>
        <Schedules formulas={formulas} timeZone={context.data.timeZone} />
      </section>
      <Runs context={context.data} />
    </>
  );
}

function Schedules({ formulas, timeZone }: { readonly formulas: readonly Formula[]; readonly timeZone: string }) {
  const { t } = useTranslation('calculated');
  const schedules = formulas.map(scheduleOf).filter(({ cron }) => cron !== '');
  if (schedules.length === 0) return <p className={classes.soft}>{t('schedule.none')}</p>;
  return schedules.map(({ cron, timeZoneId }) => (
    <div key={cron + timeZoneId}>
      <code>{cron}</code> <Instants cron={cron} timeZone={timeZoneId || timeZone} />
    </div>
  ));
}

function Runs({ context: { variable, timeZone } }: { readonly context: VariableContext }) {
  const { t } = useTranslation('calculated');
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const runs = useRuns(variable.id, filter);
  const set = (change: Readonly<Record<string, string | null>>) =>
    void navigate({ search: (old) => parseRunFilter({ ...old, ...change }), replace: true });
  const rows = runs.data?.pages.flat() ?? [];
  return (
    <section className={classes.card} aria-label={t('runs.title')}>
      <div className={classes.between}>
        <h2>{t('runs.title')}</h2>
        <div className={classes.bar}>
          <Select
            aria-label={t('runs.state')}
            placeholder={t('runs.anyState')}
            clearable
            data={RUN_STATES.map((value) => ({ value, label: t(`state.${value}`) }))}
            value={filter.state ?? null}
            onChange={(state) => set({ state })}
          />
          <Select
            aria-label={t('runs.trigger')}
            placeholder={t('runs.anyTrigger')}
            clearable
            data={RUN_TRIGGERS.map((value) => ({ value, label: t(`trigger.${value}`) }))}
            value={filter.trigger ?? null}
            onChange={(trigger) => set({ trigger })}
          />
          {(['from', 'to'] as const).map((name) => (
            <TextInput
              key={name}
              type="datetime-local"
              aria-label={t(`runs.${name}`)}
              title={t(`runs.${name}`)}
              value={filter[name] ?? ''}
              onChange={(event) => set({ [name]: event.currentTarget.value })}
            />
          ))}
        </div>
      </div>
      {runs.error && <Problem error={runs.error} onRetry={() => void runs.refetch()} />}
      {runs.isPending && <Skeleton height={160} radius="md" />}
      {runs.data && rows.length === 0 && (
        <p className={classes.soft}>{t(Object.keys(filter).length > 0 ? 'runs.nothing' : 'runs.empty')}</p>
      )}
      {rows.length > 0 && <RunTable rows={rows} timeZone={timeZone} />}
      {runs.hasNextPage && (
        <Button variant="default" loading={runs.isFetchingNextPage} onClick={() => void runs.fetchNextPage()}>
          {t('runs.more')}
        </Button>
      )}
    </section>
  );
}

function RunTable({ rows, timeZone }: { readonly rows: readonly Run[]; readonly timeZone: string }) {
  const { t } = useTranslation('calculated');
  const heads = ['run', 'state', 'trigger', 'dates', 'stored', 'started', 'took'] as const;
  return (
    <Table label={t('runs.title')} columns={heads.map((name) => t(`runs.${name}`))}>
      {rows.map(({ id, state, trigger, from, to, counts, startedDate, finishedDate, message }) => (
        <tr key={id}>
          <td>
            <Link to="/console/runs/$runId" params={{ runId: id }}>
              {t('run.title', { id })}
            </Link>
          </td>
          <td>
            <span className={classes.state} data-state={state}>
              {t(`state.${state}`)}
            </span>
            {message !== null && <span className={classes.message}>{message}</span>}
          </td>
          <td>{t(`trigger.${trigger}`)}</td>
          <td>
            {formatMoment(from, timeZone)} – {formatMoment(to, timeZone)}
          </td>
          <td>{counts.stored === undefined ? '–' : formatNumber(counts.stored)}</td>
          <td>
            <Ago instant={startedDate} />
          </td>
          <td>{finishedDate === null ? '–' : secondsText(startedDate, finishedDate)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** @returns the seconds between two instants, with at most two decimal digits. */
export function secondsText(from: string, to: string): string {
  return `${formatNumber((Date.parse(to) - Date.parse(from)) / 1000, { maximumFractionDigits: 2 })} s`;
}
