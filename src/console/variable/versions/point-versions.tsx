/** Shows every version of one point, and the origin of the newest 100 versions: pushes, a file or a run. */
import { Button, CloseButton, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { formatMoment, formatVersion } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Icon } from '../../shell/icon.tsx';
import { currentLocale } from '../../texts/language.ts';
import { toInstant } from '../chart-rules.ts';
import { Lineage } from '../lineage/lineage.tsx';
import { describeOrigin, type Origin, originsQuery } from '../lineage/origins.ts';
import classes from './point-versions.module.css';

type Run = components['schemas']['Run'];

const RUNS = 200;

interface PointVersionsProps {
  readonly variableId: number;
  /** Date of the point in Unix seconds. */
  readonly seconds: number;
  readonly isCalculated: boolean;
  readonly timeZone: string;
  readonly onClose: () => void;
}

/** List of the versions of one point, below the version bar. */
export function PointVersions({ variableId, seconds, isCalculated, timeZone, onClose }: PointVersionsProps) {
  const { t } = useTranslation();
  const { t: tv } = useTranslation('variable');
  const [traced, setTraced] = useState<string>();
  const date = toInstant(seconds);
  const versions = useQuery({
    queryKey: ['point', variableId, date],
    queryFn: () => {
      const query = {
        variableIds: [variableId],
        from: date,
        to: date,
        includeToBoundary: true,
        versions: 'all' as const,
      };
      return bodyOf(api.GET('/data', { params: { query } }));
    },
  });
  const runs = useQuery({
    queryKey: ['runs', variableId],
    queryFn: () => {
      const params = { path: { id: variableId }, query: { pageNumber: 0, itemsPerPage: RUNS } };
      return bodyOf(api.GET('/variables/{id}/runs', { params }));
    },
    enabled: isCalculated,
  });
  const rows = [...(versions.data ?? [])].sort((a, b) => compare(b.versionTimestamp ?? '', a.versionTimestamp ?? ''));
  const origins = useQuery(
    originsQuery(
      variableId,
      rows.map(({ versionTimestamp = '' }) => versionTimestamp),
    ),
  );
  return (
    <section className={classes.panel} aria-label={t('point.title')}>
      <header className={classes.header}>
        <h2>{t('point.at', { date: formatMoment(date, timeZone) })}</h2>
        <CloseButton aria-label={t('point.close')} onClick={onClose} />
      </header>
      {versions.error && <Problem error={versions.error} />}
      {versions.isPending && <Skeleton height={60} />}
      {versions.data?.length === 0 && <p>{tv('point.none')}</p>}
      <ol className={classes.list}>
        {rows.map(({ versionTimestamp = '', version, rawValue, tags }, index) => {
          const brought = origins.data?.get(versionTimestamp);
          const run = runs.data?.find(({ id }) => brought?.some(({ runId }) => runId === id));
          return (
            <li key={versionTimestamp} className={classes.version} data-current={index === 0}>
              <span className={classes.value}>{format(rawValue)}</span>
              <span className={classes.label}>{version ?? t('point.unlabelled')}</span>
              <time className={classes.when} dateTime={versionTimestamp}>
                {formatVersion(versionTimestamp, timeZone)}
              </time>
              <span className={classes.tags}>{tagsText(tags)}</span>
              {run ? <RunNote run={run} /> : brought && <OriginNote origins={brought} timeZone={timeZone} />}
              {isCalculated && (
                <div className={classes.run}>
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    leftSection={<Icon name="lineage" size={14} />}
                    aria-expanded={traced === versionTimestamp}
                    onClick={() => setTraced(traced === versionTimestamp ? undefined : versionTimestamp)}
                  >
                    {tv('lineage.show')}
                  </Button>
                  {traced === versionTimestamp && <Lineage {...{ variableId, versionTimestamp, timeZone }} />}
                </div>
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/**
 * Shows where a version comes from. Lists several pushes when the service cannot tell which push contained the version.
 */
function OriginNote({ origins, timeZone }: { readonly origins: readonly Origin[]; readonly timeZone: string }) {
  const { t } = useTranslation('variable');
  const { history } = useRouter();
  const notes = origins.map((origin) => describeOrigin(origin, t, timeZone));
  if (notes.length === 0) return <div className={classes.run}>{t('origin.none')}</div>;
  return (
    <div className={classes.run}>
      {notes.length > 1 && <p className={classes.several}>{t('origin.several')}</p>}
      {notes.map(({ title, details, href }) => (
        <p key={href ?? [title, ...details].join(' ')} className={classes.several}>
          {href === undefined ? (
            title
          ) : (
            <a
              href={href}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                history.push(href);
              }}
            >
              {title}
            </a>
          )}
          {details.length > 0 && `, ${details.join(', ')}`}
        </p>
      ))}
    </div>
  );
}

/**
 * Shows the run that wrote a version: a link to the run, its trigger, and a link to each input. The link to an input
 * opens the input in the state that the run read.
 */
function RunNote({ run }: { readonly run: Run }) {
  const { t } = useTranslation();
  return (
    <div className={classes.run}>
      <Link to="/console/runs/$runId" params={{ runId: run.id }}>
        {t('point.run', { id: run.id, trigger: t(`trigger.${run.trigger as 'Input'}`, { defaultValue: run.trigger }) })}
      </Link>{' '}
      {run.inputs.map(({ alias, variableId, asOf, lastVersionTimestamp }) => {
        const known = asOf ?? lastVersionTimestamp;
        return (
          <span key={alias}>
            <Link
              to="/console/variables/$variableId"
              params={{ variableId }}
              search={known ? { v: 'known', at: known } : {}}
            >
              {alias}
            </Link>{' '}
          </span>
        );
      })}
    </div>
  );
}

function tagsText(tags: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(tags ?? {})
    .filter(([name]) => name !== 'version')
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function format(value: number | null | undefined): string {
  return value?.toLocaleString(currentLocale(), { maximumSignificantDigits: 10 }) ?? '–';
}
