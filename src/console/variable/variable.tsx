/** A variable: where it belongs, its chart, the version bar, what changed, and the versions of a point. */
import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { formatMoment } from '../parts/moment.tsx';
import { Problem } from '../parts/problem.tsx';
import { Changes } from './changes.tsx';
import { toChartData } from './chart-data.ts';
import { boundsQuery, pointQuery, toInstant, useChartPoints, useStops } from './chart-queries.ts';
import { defaultRange, planResolution, type Range, type Selection, type Side, sidesOf, stepOf } from './chart-rules.ts';
import { ExportMenu } from './export-menu.tsx';
import { Plot } from './plot.tsx';
import { PointVersions } from './point-versions.tsx';
import { RangeBar } from './range-bar.tsx';
import classes from './variable.module.css';
import { toSearch, toSelection } from './variable-address.ts';
import { useVariable, type VariableContext } from './variable-queries.ts';
import { VersionBar } from './version-bar.tsx';

const route = getRouteApi('/console/variables/$variableId');

/** The route. */
export function VariablePage() {
  const { t } = useTranslation();
  const { variableId } = route.useParams();
  const context = useVariable(variableId);
  const bounds = useQuery(boundsQuery(variableId));
  const error = context.error ?? bounds.error;
  if (error) return <Problem error={error} onRetry={() => void context.refetch()} />;
  if (!context.data || bounds.data === undefined) return <Skeleton height={420} radius="md" />;
  if (bounds.data !== null) return <Charted key={variableId} context={context.data} bounds={bounds.data} />;
  return (
    <>
      <Heading {...context.data} />
      <div className={classes.empty}>
        <h2>{t('variable.empty')}</h2>
        <p>{t('variable.emptyHint')}</p>
      </div>
    </>
  );
}

function Charted({ context, bounds }: { readonly context: VariableContext; readonly bounds: Range }) {
  const { t } = useTranslation();
  const { variable, timeZone, unit } = context;
  const stepSec = stepOf(variable.granularity, variable.granularityTimeBase);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const whole = useMemo(() => defaultRange(bounds, stepSec), [bounds, stepSec]);
  const { from, to } = search;
  const range = useMemo<Range>(
    () =>
      from !== undefined && to !== undefined ? { from: Date.parse(from) / 1000, to: Date.parse(to) / 1000 } : whole,
    [from, to, whole],
  );
  const selection = toSelection(search);
  const sides = sidesOf(selection);
  const resolution = planResolution(range, stepSec);
  const results = useChartPoints(variable.id, range, sides, resolution);
  const stops = useStops(variable.id, range, stepSec, selection.kind === 'known' || selection.kind === 'compare');

  const setRange = useCallback(
    (next: Range) =>
      void navigate({
        search: (old) => ({ ...old, from: toInstant(next.from), to: toInstant(next.to) }),
        replace: true,
      }),
    [navigate],
  );
  const select = useCallback(
    (next: Selection) => void navigate({ search: (old) => toSearch(old, next), replace: true }),
    [navigate],
  );
  const pick = useCallback(
    (seconds: number) => void navigate({ search: (old) => ({ ...old, point: toInstant(seconds) }), replace: true }),
    [navigate],
  );
  const nameOf = (side: Side): string => {
    if (side === 'latest')
      return selection.kind === 'known' ? t('version.latest') : variable.name || t('version.latest');
    return side.startsWith('label:')
      ? side.slice(6)
      : t('version.knownAt', { moment: formatMoment(side.slice(6), timeZone) });
  };
  const loaded = results.flatMap(({ data }) => data ?? []);
  const isShaded = selection.kind === 'known' || selection.kind === 'compare';
  const chart = toChartData(loaded, nameOf, { min: t('chart.min'), max: t('chart.max') }, isShaded);
  const error = results.find((result) => result.error)?.error;
  const main = pointQuery(variable.id, range, sides[0] ?? 'latest', resolution);

  return (
    <>
      <Heading {...context}>
        <ExportMenu query={{ ...main, timeZoneId: timeZone }} name={variable.name || `variable-${variable.id}`} />
      </Heading>
      <section className={classes.card} aria-label={t('chart.title')}>
        <RangeBar
          range={range}
          timeZone={timeZone}
          onRange={setRange}
          onWhole={() => setRange({ from: bounds.from, to: bounds.to + stepSec })}
        />
        {error ? <Problem error={error} /> : null}
        {loaded.length === 0 && !error && <Skeleton height={400} radius="md" />}
        {loaded.length > 0 && (
          <Plot
            {...chart}
            label={t('chart.label', {
              name: variable.name,
              resolution: t(`chart.resolution.${resolution}`),
              count: chart.data[0].length,
            })}
            range={range}
            unit={unit}
            timeZone={timeZone}
            onRange={setRange}
            onReset={() => setRange(whole)}
            onPick={pick}
          />
        )}
        <p className={classes.hint}>
          {t(`chart.resolution.${resolution}`)} · {t('chart.hint')}
        </p>
      </section>
      <VersionBar variableId={variable.id} selection={selection} stops={stops} timeZone={timeZone} onSelect={select} />
      {selection.kind === 'compare' && (
        <Changes
          variableId={variable.id}
          range={range}
          left={selection.left}
          right={selection.right}
          timeZone={timeZone}
        />
      )}
      {search.point !== undefined && (
        <PointVersions
          variableId={variable.id}
          seconds={Date.parse(search.point) / 1000}
          isCalculated={Boolean(variable.calculated)}
          timeZone={timeZone}
          onClose={() => void navigate({ search: ({ point: _point, ...old }) => old, replace: true })}
        />
      )}
    </>
  );
}

function Heading({
  variable,
  source,
  site,
  unit,
  timeZone,
  children,
}: VariableContext & { readonly children?: React.ReactNode }) {
  const { t } = useTranslation();
  const { id, name, granularity, granularityTimeBase, isVersioned, mappingConfig } = variable;
  const facts = [
    unit,
    granularity !== null && granularityTimeBase !== null && t(`every.${granularityTimeBase}`, { count: granularity }),
    isVersioned ? t('variable.versioned') : t('variable.overwritten'),
    timeZone,
    mappingConfig,
    `#${id}`,
  ];
  return (
    <header className={classes.heading}>
      <div>
        <p className={classes.path}>
          <Link to="/console/find" search={{ q: site.name }}>
            {site.name}
          </Link>
          {' › '}
          <Link to="/console/find" search={{ q: `sourceId = ${source.id}` }}>
            {source.name}
          </Link>
        </p>
        <h1>{name || `#${id}`}</h1>
        <p className={classes.facts}>{facts.filter(Boolean).join(' · ')}</p>
      </div>
      {children}
    </header>
  );
}
