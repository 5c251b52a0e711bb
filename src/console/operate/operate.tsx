/**
 * The page "Operate": shows administrators the state of the whole installation, across all accounts. Refreshes itself
 * while it is visible.
 */
import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../api/client.ts';
import type { components } from '../api/openapi.d.ts';
import { Forbidden } from '../parts/forbidden.tsx';
import { formatMoment } from '../parts/moment.tsx';
import { Problem } from '../parts/problem.tsx';
import classes from '../parts/view.module.css';
import { useSession } from '../session/session.tsx';
import { currentLocale } from '../texts/language.ts';
import { addTexts } from '../texts/view-texts.ts';
import { Figures } from './figures.tsx';
import { de } from './texts/de.ts';
import { en } from './texts/en.ts';
import { fr } from './texts/fr.ts';
import { nl } from './texts/nl.ts';

addTexts('operate', { en, fr, de, nl });

export type Installation = components['schemas']['Installation'];

const REFRESH_MS = 10_000;
/**
 * Maximum number of runs, and of rows of `push_operation`, that the report examines. Must equal `MAX_EXAMINED` in
 * `installation-report.ts`.
 */
const MAX_EXAMINED = 20_000;

/** Renders the route. */
export function OperatePage() {
  const { t } = useTranslation('operate');
  const { role } = useSession();
  if (role !== 'ADMIN') return <Forbidden needs="admin" />;
  return (
    <>
      <header className={classes.header}>
        <div>
          <h1>{t('title')}</h1>
          <p className={classes.lead}>{t('lead')}</p>
        </div>
      </header>
      <Report />
    </>
  );
}

function Report() {
  const { t } = useTranslation('operate');
  const report = useQuery({
    queryKey: ['installation'],
    queryFn: () => bodyOf(api.GET('/admin/operate')),
    refetchInterval: REFRESH_MS,
  });
  if (report.error) return <Problem error={report.error} onRetry={() => void report.refetch()} />;
  if (!report.data) return <Skeleton height={400} radius="md" />;
  const { roles, waiting, runs, slowestScripts, busiestAccounts, storage } = report.data;
  return (
    <>
      <Figures
        title={t('waiting.title')}
        columns={[t('waiting.what'), t('waiting.count'), t('waiting.oldest')]}
        rows={WAITING.map(({ name, count, age }) => ({
          key: name,
          cells: [
            t(`waiting.${name}`),
            format(waiting[count]),
            age === undefined || waiting[age] === undefined
              ? '–'
              : t('seconds', { value: formatSeconds(waiting[age]) }),
          ],
        }))}
        empty={t('empty')}
      />
      <Figures
        title={t('roles.title')}
        columns={[t('roles.roles'), t('roles.connections'), t('roles.since')]}
        rows={roles.map((each) => ({
          key: each.roles,
          cells: [each.roles.replaceAll(' ', ', '), format(each.connections), formatMoment(each.since)],
        }))}
        empty={t('roles.none')}
      />
      <section className={classes.card} aria-labelledby="runs">
        <h2 id="runs">{t('runs.title')}</h2>
        <p className={classes.soft}>{t('recent', { max: MAX_EXAMINED })}</p>
        <dl className={`${classes.facts} ${classes.bar}`}>
          <dt>{t('runs.running')}</dt>
          <dd>{format(runs.running)}</dd>
          <dt>{t('runs.ended')}</dt>
          <dd>{t('runs.outcomes', { succeeded: runs.succeeded, failed: runs.failed })}</dd>
          <dt>{t('runs.duration')}</dt>
          <dd>
            {runs.medianSeconds === null
              ? '–'
              : t('runs.percentiles', {
                  median: formatSeconds(runs.medianSeconds),
                  p95: formatSeconds(runs.p95Seconds),
                })}
          </dd>
          <dt>{t('runs.wait')}</dt>
          <dd>
            {runs.medianWaitSeconds === null ? '–' : t('seconds', { value: formatSeconds(runs.medianWaitSeconds) })}
          </dd>
        </dl>
      </section>
      <Figures
        title={t('scripts.title')}
        note={t('recent', { max: MAX_EXAMINED })}
        columns={[t('scripts.variable'), t('account'), t('scripts.runs'), t('scripts.mean'), t('scripts.total')]}
        rows={slowestScripts.map(({ variableId, name, accountName, runs: count, meanSeconds, totalSeconds }) => ({
          key: String(variableId),
          cells: [
            <Link key="link" to="/console/variables/$variableId" params={{ variableId }}>
              {name || `#${variableId}`}
            </Link>,
            accountName,
            format(count),
            t('seconds', { value: formatSeconds(meanSeconds) }),
            t('seconds', { value: formatSeconds(totalSeconds) }),
          ],
        }))}
        empty={t('scripts.none')}
        texts={2}
      />
      <Figures
        title={t('accounts.title')}
        note={t('recent', { max: MAX_EXAMINED })}
        columns={[
          ...[t('account'), t('accounts.pushes'), t('accounts.readings'), t('accounts.rejected')],
          ...[t('scripts.runs'), t('scripts.total')],
        ]}
        rows={busiestAccounts.map((each) => ({
          key: String(each.accountId),
          cells: [
            ...[each.accountName, format(each.pushes), format(each.readings), format(each.rejectedElements)],
            ...[format(each.runs), t('seconds', { value: formatSeconds(each.runSeconds) })],
          ],
        }))}
        empty={t('accounts.none')}
      />
      <Figures
        title={t('storage.title')}
        note={storage === null ? t('storage.measuring') : t('storage.note')}
        columns={[t('account'), t('storage.points'), t('storage.size')]}
        rows={(storage ?? []).map(({ accountId, accountName, points, bytes }) => ({
          key: String(accountId),
          cells: [accountName ?? t('storage.deleted'), format(points), formatBytes(bytes)],
        }))}
        empty={storage === null ? '' : t('storage.none')}
      />
    </>
  );
}

interface WaitingKind {
  readonly name: 'pushes' | 'setAside' | 'events' | 'calculations' | 'files' | 'webhooks' | 'mails';
  /** Name of the metric that holds the number of waiting items. */
  readonly count: string;
  readonly age?: string;
}

const WAITING: readonly WaitingKind[] = [
  { name: 'pushes', count: 'tidemark_push_waiting_batches', age: 'tidemark_push_waiting_age_seconds' },
  { name: 'setAside', count: 'tidemark_push_set_aside_batches' },
  { name: 'events', count: 'tidemark_outbox_events', age: 'tidemark_outbox_age_seconds' },
  { name: 'calculations', count: 'tidemark_calculation_due', age: 'tidemark_calculation_due_age_seconds' },
  { name: 'files', count: 'tidemark_files_queued' },
  { name: 'webhooks', count: 'tidemark_webhook_attempts_due', age: 'tidemark_webhook_due_age_seconds' },
  { name: 'mails', count: 'tidemark_mails_due' },
];

const DIGITS = 3;

/** Rounds seconds to hundredths, then formats them with `format`. */
function formatSeconds(value: number | null | undefined): string {
  return format(typeof value === 'number' ? Math.round(value * 100) / 100 : value);
}

/** Rounds numbers of 100 and more to whole numbers, and smaller numbers to at most three significant digits. */
function format(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const shown = Math.abs(value) < 100 ? value : Math.round(value);
  const options = Number.isInteger(shown) ? {} : { maximumSignificantDigits: DIGITS };
  return shown.toLocaleString(currentLocale(), options);
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

function formatBytes(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const style = { style: 'unit', unit: UNITS[step] ?? 'byte', maximumSignificantDigits: DIGITS } as const;
  return (bytes / 1000 ** step).toLocaleString(currentLocale(), style);
}
