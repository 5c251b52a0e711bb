/** Shows the chart of a variable and the panels of the chart. */
import { Button, Skeleton } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatVersion } from '../parts/moment.tsx';
import { Problem } from '../parts/problem.tsx';
import { useSession } from '../session/session.tsx';
import { Icon } from '../shell/icon.tsx';
import { OtherVariables, useOtherVariables } from './axes/other-variables.tsx';
import { type ChartPoints, useChartPoints, useStops } from './chart-queries.ts';
import {
  type Bounds,
  bucketAt,
  chartStepOf,
  defaultRange,
  planResolution,
  type Range,
  type Resolution,
  type Selection,
  type Side,
  sidesOf,
  toInstant,
} from './chart-rules.ts';
import { CorrectPanel } from './correct/correct-panel.tsx';
import { type Draft, readDraft } from './correct/draft.ts';
import { useMayCorrect } from './correct/may-correct.ts';
import { ExportMenu } from './export/export-menu.tsx';
import { LiveBadge } from './live/live-badge.tsx';
import type { Live } from './live/use-live.ts';
import { type Drawn, toChartData } from './plot/chart-data.ts';
import { Plot } from './plot/plot.tsx';
import { RangeBar } from './range-bar.tsx';
import classes from './variable.module.css';
import { toSearch, toSelection, type VariableSearch } from './variable-address.ts';
import { Heading } from './variable-heading.tsx';
import type { VariableContext } from './variable-queries.ts';
import { Changes } from './versions/changes.tsx';
import { PointVersions } from './versions/point-versions.tsx';
import { VersionBar } from './versions/version-bar.tsx';

const route = getRouteApi('/console/variables/$variableId');

/** When the range moves, the period that is read for buckets moves in steps of 1/BUCKET_MOVES of its length. */
const BUCKET_MOVES = 500;

interface ChartedProps {
  readonly context: VariableContext;
  readonly bounds: Bounds;
  readonly live: Live;
}

/** The heading, the chart and the panels of a variable that has points. */
export function Charted({ context, bounds, live }: ChartedProps) {
  const { t } = useTranslation();
  const { t: tv } = useTranslation('variable');
  const { mayManage } = useSession();
  const { variable, timeZone } = context;
  const mayCorrect = useMayCorrect(variable.id);
  const stepSec = chartStepOf(variable.granularity, variable.granularityTimeBase, bounds);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const whole = useMemo(() => defaultRange(bounds, stepSec), [bounds, stepSec]);
  const { range, read, resolution } = useRange(search, whole, stepSec, live.points.lastOf(variable.id));
  const selection = toSelection(search);
  const change = useCallback(
    (next: (old: VariableSearch) => VariableSearch) => void navigate({ search: next, replace: true }),
    [navigate],
  );
  const setRange = useCallback(
    ({ from, to }: Range) => change((old) => ({ ...old, from: toInstant(from), to: toInstant(to) })),
    [change],
  );
  const select = useCallback((next: Selection) => change((old) => toSearch(old, next)), [change]);
  const [draft, setDraft] = useState<Draft | undefined>(() => readDraft(variable.id));
  const newDraft = { range: undefined, edits: new Map(), label: tv('correct.labelDefault'), note: '' };
  const lines = useLines({ context, search, selection, range, read, resolution, live });
  const stops = useStops(variable.id, range, stepSec, live.points.instantsOf(variable.id), isShaded(selection));

  return (
    <>
      <Heading {...context}>
        <div className={classes.actions}>
          {(mayManage || mayCorrect) && !draft && (
            <Button variant="default" leftSection={<Icon name="edit" size={16} />} onClick={() => setDraft(newDraft)}>
              {tv('correct.open')}
            </Button>
          )}
          <ExportMenu
            shown={{ variableId: variable.id, others: search.with ?? [], selection, range, resolution, timeZone }}
            name={variable.name || `variable-${variable.id}`}
          />
        </div>
      </Heading>
      <section className={classes.card} aria-label={t('chart.title')}>
        <RangeBar
          range={range}
          timeZone={timeZone}
          onRange={setRange}
          onWhole={() => setRange({ from: bounds.from, to: Math.max(range.to, bounds.to + stepSec) })}
        />
        {lines.error ? <Problem error={lines.error} /> : null}
        {!lines.chart && !lines.error && <Skeleton height={400} radius="md" />}
        {lines.chart && (
          <Plot
            {...lines.chart}
            label={t('chart.label', {
              name: variable.name,
              resolution: t(`chart.resolution.${resolution}`),
              count: lines.chart.data[0].length,
            })}
            range={range}
            timeZone={timeZone}
            onRange={setRange}
            onReset={() => change(({ from: _from, to: _to, ...old }) => old)}
            onPick={(seconds) =>
              resolution === 'Raw'
                ? change((old) => ({ ...old, point: toInstant(seconds) }))
                : setRange(bucketAt(lines.chart?.data[0] ?? [], seconds, range))
            }
            onMark={draft && ((marked) => setDraft({ ...draft, range: onStep(marked), edits: new Map() }))}
            marked={draft?.range}
          />
        )}
        <OtherVariables
          variableId={variable.id}
          others={lines.others}
          ids={search.with ?? []}
          onChange={(ids) => change(({ with: _with, ...old }) => (ids.length === 0 ? old : { ...old, with: ids }))}
        />
        <p className={classes.hint}>
          <LiveBadge state={live.state} held={live.points.size()} /> · {t(`chart.resolution.${resolution}`)} ·{' '}
          {resolution === 'Raw' ? t('chart.hint') : tv('buckets.hint')} {tv('keys.hint')}
        </p>
      </section>
      {draft && (
        <CorrectPanel {...{ variable, timeZone, draft }} onDraft={setDraft} onClose={() => setDraft(undefined)} />
      )}
      <VersionBar variableId={variable.id} selection={selection} stops={stops} timeZone={timeZone} onSelect={select} />
      {selection.kind === 'compare' && (
        <Changes {...{ range, timeZone }} variableId={variable.id} left={selection.left} right={selection.right} />
      )}
      {search.point !== undefined && (
        <PointVersions
          variableId={variable.id}
          isCalculated={Boolean(variable.calculated)}
          timeZone={timeZone}
          seconds={Date.parse(search.point) / 1000}
          onClose={() => change(({ point: _point, ...old }) => old)}
        />
      )}
    </>
  );
}

/** Rounds both ends to whole milliseconds, the precision of dates in the URL and in a deletion. */
function onStep({ from, to }: Range): Range {
  return { from: Math.round(from * 1000) / 1000, to: Math.round(to * 1000) / 1000 };
}

function isShaded({ kind }: Selection): boolean {
  return kind === 'known' || kind === 'compare';
}

interface ShownRange {
  /** The period that the chart shows. If the URL names no period, the shown period ends just after the newest point. */
  readonly range: Range;
  /** The period that is read from the API. Raw points that arrive after this read are added to its result. */
  readonly read: Range;
  readonly resolution: Resolution;
}

function useRange(
  { from, to }: VariableSearch,
  whole: Range,
  stepSec: number,
  lastLive: number | undefined,
): ShownRange {
  const isGiven = from !== undefined && to !== undefined;
  const moved = isGiven || lastLive === undefined ? 0 : Math.max(0, lastLive + stepSec - whole.to);
  return useMemo(() => {
    const base = isGiven ? { from: Date.parse(from) / 1000, to: Date.parse(to) / 1000 } : whole;
    const shift = (by: number): Range => ({ from: base.from + by, to: base.to + by });
    const resolution = planResolution(base, stepSec);
    const step = (base.to - base.from) / BUCKET_MOVES;
    const read = resolution === 'Raw' ? base : shift(Math.ceil(moved / step) * step);
    return { range: shift(moved), read, resolution };
  }, [isGiven, from, to, whole, stepSec, moved]);
}

interface LinesOptions extends ShownRange {
  readonly context: VariableContext;
  readonly search: VariableSearch;
  readonly selection: Selection;
  readonly live: Live;
}

/** Reads the points of this variable and of the variables in `search.with`, and aligns the points for the chart. */
function useLines({ context, search, selection, range, read, resolution, live }: LinesOptions) {
  const { t } = useTranslation();
  const { variable, unit, timeZone } = context;
  const sides = sidesOf(selection);
  const others = useOtherVariables(search.with ?? []);
  // When the chart shows this variable as of an instant, it shows the other variables as of the same instant.
  const otherSide = selection.kind === 'known' ? (sides[0] ?? 'latest') : 'latest';
  const wanted = [
    ...sides.map((side, index) => ({ variableId: variable.id, side, hasBand: index === 0 && others.length === 0 })),
    ...others.map((other) => ({ variableId: other.variable.id, side: otherSide, hasBand: false })),
  ];
  const results = useChartPoints(wanted, read, resolution, timeZone);
  const nameOf = (side: Side): string => {
    if (side === 'latest') return isShaded(selection) ? t('version.latest') : variable.name || t('version.latest');
    return side.startsWith('label:')
      ? side.slice(6)
      : t('version.knownAt', { moment: formatVersion(side.slice(6), timeZone) });
  };
  const named = results.map((_, index) => {
    const other = others[index - sides.length];
    if (other) return { label: other.variable.name || `#${other.variable.id}`, unit: other.unit, isQuiet: false };
    return { label: nameOf(sides[index] ?? 'latest'), unit, isQuiet: isShaded(selection) && index > 0 };
  });
  const loaded = useSame(results.map(({ data }) => data));
  const edges = { min: t('chart.min'), max: t('chart.max') };
  const key = JSON.stringify([named, edges, range, isShaded(selection), live.revision]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for all besides the points
  const chart = useMemo(() => {
    const drawn = loaded.flatMap((points, index): Drawn[] => {
      const look = named[index];
      return points && look ? [{ ...look, band: points.band, points: withLive(points, live, range, resolution) }] : [];
    });
    return drawn.length === 0 ? undefined : toChartData(drawn, edges, isShaded(selection));
  }, [key, loaded]);
  // While the points of another period, version or variable are read, the previous chart stays and keeps the keyboard
  // focus.
  const shown = useRef(chart);
  const isComplete = results.every(({ data, error }) => data !== undefined || error !== null);
  if (chart && (isComplete || !shown.current)) shown.current = chart;
  return { chart: shown.current, others, error: results.find((result) => result.error)?.error };
}

/** @returns the previous list when it has the same items as `list`, so that React sees no change; else `list`. */
function useSame<Item>(list: readonly Item[]): readonly Item[] {
  const kept = useRef(list);
  const isSame = list.length === kept.current.length && list.every((item, index) => item === kept.current[index]);
  if (!isSame) kept.current = list;
  return kept.current;
}

/**
 * @returns the points that one line of the chart shows. When the line shows the latest versions as raw points, the
 * result includes the points that arrived after the read.
 */
function withLive({ variableId, side, points }: ChartPoints, live: Live, range: Range, resolution: Resolution) {
  if (side !== 'latest' || resolution !== 'Raw') return points;
  return live.points.over(variableId, points, range.from, range.to);
}
