/**
 * A chart of the inputs and the result of a script. Shaded spans show the windows that a run reads. A window without a
 * start or an end has no span.
 */
import { useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../../api/client.ts';
import { formatMoment } from '../../../parts/moment.tsx';
import { type Points, stepOf } from '../../../variable/chart-rules.ts';
import { loadPoints } from '../../../variable/points.ts';
import { type Evaluation, useVariables } from '../../calculated-queries.ts';
import classes from '../script.module.css';
import { queryOf } from './input-query.ts';
import { type ChartLine, colorOf, type Span, SpanChart } from './span-chart.tsx';

type Read = Evaluation['inputs'][number];

/** Maximum inputs drawn and listed. */
const MAX_DRAWN = 6;
interface InputChartProps {
  readonly evaluation: Evaluation;
  readonly timeZone: string;
  /** Name and unit of the calculated variable; when absent, the chart shows only the inputs. */
  readonly result?: { readonly name: string; readonly unitId: number | null };
}

/**
 * Draws a chart of the first MAX_DRAWN distinct inputs of a preview, and lists the windows of the drawn inputs. When
 * `result` is given, the chart also shows the result of the preview (`evaluation.series`).
 */
export function InputChart({ evaluation, timeZone, result }: InputChartProps) {
  const { t } = useTranslation('calculated');
  const all = useMemo(() => distinct(evaluation.inputs), [evaluation]);
  const inputs = useMemo(() => all.slice(0, MAX_DRAWN), [all]);
  const variables = useVariables(inputs.map(({ variableId }) => variableId));
  const units = useQuery({ queryKey: ['units'], queryFn: () => bodyOf(api.GET('/units')), staleTime: 300_000 });
  const points = useQueries({
    combine: pointsOf,
    queries: inputs.map((input) => {
      const variable = variables.data?.get(input.variableId);
      const step = stepOf(variable?.granularity ?? null, variable?.granularityTimeBase ?? null);
      const query = queryOf(input, step);
      return {
        queryKey: ['input-points', query],
        queryFn: ({ signal }: { readonly signal: AbortSignal }) => loadPoints(query, signal),
        enabled: variables.data !== undefined,
      };
    }),
  });
  const lines = useMemo(() => {
    const unitOf = (unitId: number | null | undefined) => units.data?.find(({ id }) => id === unitId)?.symbol ?? '';
    const read = inputs.map(({ alias, variableId }, index): ChartLine => {
      const unit = unitOf(variables.data?.get(variableId)?.unitId);
      return { label: alias, unit, points: points[index] ?? NO_POINTS };
    });
    const own = result && {
      label: result.name,
      unit: unitOf(result.unitId),
      points: toPoints(evaluation),
      isMain: true,
    };
    return own ? [...read, own] : read;
  }, [inputs, variables.data, units.data, result, evaluation, points]);
  const spans = useMemo(() => inputs.flatMap(toSpan), [inputs]);
  return (
    <>
      <SpanChart label={t('windows.label', { count: inputs.length })} lines={lines} spans={spans} timeZone={timeZone} />
      <ul className={classes.windows}>
        {inputs.map((input, index) => (
          <li key={`${input.formula} ${input.alias}`}>
            <span className={classes.swatch} style={{ background: `var(${colorOf(index)})` }} />
            <code>{input.alias}</code> {periodText(input, timeZone, t('windows.open'))} ·{' '}
            {t('windows.points', { count: input.points })} · {versionText(input, t('windows.latest'))}
          </li>
        ))}
      </ul>
      {all.length > MAX_DRAWN && <p className={classes.soft}>{t('windows.more', { count: MAX_DRAWN })}</p>}
    </>
  );
}

/**
 * Declared outside the component, so that each render passes the same function to `useQueries`. Given the same
 * function, `useQueries` returns the same array until the data changes.
 */
function pointsOf(results: readonly { readonly data: Points | undefined }[]): readonly (Points | undefined)[] {
  return results.map(({ data }) => data);
}

const NO_POINTS: Points = { seconds: new Float64Array(), values: new Float64Array() };

/** Removes repeated inputs: formulas for different periods may read the same window. */
function distinct(inputs: readonly Read[]): readonly Read[] {
  const found = new Map(inputs.map((input) => [[input.alias, input.variableId, input.from, input.to].join(), input]));
  return [...found.values()];
}

function toSpan({ from, to }: Read, line: number): Span[] {
  if (from === null || to === null) return [];
  return [{ from: Date.parse(from) / 1000, to: Date.parse(to) / 1000, line }];
}

function toPoints({ series }: Evaluation): Points {
  // A date can have several rows, for example one for each version. A later row replaces the earlier ones, so only the
  // last row of each date is kept.
  const latest = new Map(series.map(({ date, value }) => [Date.parse(date) / 1000, value]));
  const dates = [...latest.keys()].sort((a, b) => a - b);
  return {
    seconds: Float64Array.from(dates),
    values: Float64Array.from(dates, (date) => latest.get(date) ?? Number.NaN),
  };
}

function periodText({ from, to }: Read, timeZone: string, open: string): string {
  return [from, to].map((instant) => (instant === null ? open : formatMoment(instant, timeZone))).join(' – ');
}

function versionText(
  { version, asOf, relativeVersion, horizon, tags, granularity, aggregation }: Read,
  latest: string,
): string {
  const chosen = [version, asOf && `asOf ${asOf}`, relativeVersion, horizon, tags].flat().filter(Boolean);
  const bucket = granularity && granularity !== 'Raw' ? `${aggregation ?? ''} / ${granularity}` : undefined;
  return [chosen.length === 0 ? latest : chosen.join(', '), bucket].filter(Boolean).join(' · ');
}
