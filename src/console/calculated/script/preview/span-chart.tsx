/**
 * Chart of a script: lines for inputs and the result, and behind them a shaded span for each window that has a start and
 * an end. Lines with the same unit share a scale. Only the first two units have an axis.
 */
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useMemo, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { currentLocale } from '../../../texts/language.ts';
import type { Points } from '../../../variable/chart-rules.ts';
import { dateLabels, formatSeconds, showLast, widthOf } from '../../../variable/plot/plot-options.ts';
import classes from '../script.module.css';

export interface ChartLine {
  readonly label: string;
  readonly unit: string;
  readonly points: Points;
  /** Whether the line is the result. The result is drawn thicker than the other lines. */
  readonly isMain?: boolean;
}

/** A shaded period of the chart, in Unix seconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
  /** Index of a line of the chart. The span has the colour of this line. */
  readonly line: number;
}

interface SpanChartProps {
  readonly label: string;
  readonly lines: readonly ChartLine[];
  readonly spans: readonly Span[];
  readonly timeZone: string;
}

const COLORS = ['--tide-line', '--second-line', '--third-line', '--fourth-line', '--fifth-line', '--sixth-line'];
const HEIGHT_PIXELS = 260;
const BAR_PIXELS = 5;
const MARKED_POINTS = 60;
const BAR_STEP = 7;

/** @returns the CSS variable of the colour of a line. */
export function colorOf(line: number): string {
  return COLORS[line % COLORS.length] ?? '';
}

/** The chart; it fills the width of its container. */
export function SpanChart({ label, lines, spans, timeZone }: SpanChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  const data = useMemo(() => align(lines), [lines]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the scheme changes the colours that the options read
  useEffect(() => {
    const host = frame.current;
    if (!host) return;
    const plot = new uPlot(toOptions(host, lines, spans, timeZone), data, host);
    const resized = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height: HEIGHT_PIXELS }));
    resized.observe(host);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [data, lines, spans, timeZone, scheme]);
  return <div ref={frame} className={classes.chart} role="img" aria-label={label} data-spans={spans.length} />;
}

function align(lines: readonly ChartLine[]): uPlot.AlignedData {
  if (lines.length === 0) return [[]];
  const columns = lines.map(({ points: { seconds, values } }) => [
    seconds,
    Array.from(values, (value) => (Number.isNaN(value) ? null : value)),
  ]);
  return uPlot.join(columns as unknown as uPlot.AlignedData[]);
}

function toOptions(
  host: HTMLElement,
  lines: readonly ChartLine[],
  spans: readonly Span[],
  timeZone: string,
): uPlot.Options {
  const style = getComputedStyle(host);
  const color = (name: string) => style.getPropertyValue(name).trim() || name;
  const units = [...new Set(lines.map(({ unit }) => unit))];
  const axis = {
    stroke: color('--soft'),
    grid: { stroke: color('--edge'), width: 1 },
    ticks: { stroke: color('--edge') },
  };
  const [least, greatest] = extentOf(lines, spans);
  return {
    width: host.clientWidth,
    height: HEIGHT_PIXELS,
    padding: [BAR_STEP * spans.length + 8, null, null, null],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), timeZone),
    scales: {
      x: { time: true, range: [least, greatest] },
      ...Object.fromEntries(units.map((unit) => [scaleOf(unit), {}])),
    },
    axes: [
      { ...axis, values: (_plot, splits, _axis, _space, step) => dateLabels(splits, step, timeZone) },
      ...units.slice(0, 2).map((unit, index) => ({
        ...axis,
        scale: scaleOf(unit),
        side: index === 0 ? (3 as const) : (1 as const),
        size: widthOf,
        ...(unit !== '' && { label: unit, labelSize: 18 }),
        ...(index > 0 && { grid: { show: false } }),
      })),
    ],
    series: [
      { label: timeZone, value: (_plot, seconds) => formatSeconds(seconds, timeZone) },
      ...lines.map(({ label, unit, isMain }, index) => ({
        label,
        scale: scaleOf(unit),
        stroke: color(colorOf(index)),
        width: isMain ? 2.5 : 1.25,
        spanGaps: true,
        // A result of few points, such as one value per day, is hard to see without markers.
        points: { show: isMain === true && (lines[index]?.points.seconds.length ?? 0) < MARKED_POINTS, size: 7 },
        value: (_plot: uPlot, value: number | null) => value?.toLocaleString(currentLocale()) ?? '–',
      })),
    ],
    cursor: { drag: { x: true, y: false } },
    hooks: { drawClear: [(plot) => shade(plot, spans, color)], ready: [showLast], setLegend: [showLast] },
  };
}

const scaleOf = (unit: string) => `unit ${unit}`;

/**
 * @returns the limits of the time axis, in Unix seconds. They enclose all lines and spans, with a margin that keeps the
 * ends of the spans visible.
 */
function extentOf(lines: readonly ChartLine[], spans: readonly Span[]): readonly [number, number] {
  const dates = lines.flatMap(({ points: { seconds } }) => [seconds[0] ?? Number.NaN, seconds.at(-1) ?? Number.NaN]);
  const all = [...dates, ...spans.flatMap(({ from, to }) => [from, to])].filter((second) => Number.isFinite(second));
  if (all.length === 0) return [0, 1];
  const [least, greatest] = [Math.min(...all), Math.max(...all)];
  const margin = Math.max((greatest - least) * 0.04, 60);
  return [least - margin, greatest + margin];
}

/**
 * Draws each span as a light area in the chart and as a bar above the chart. The bars do not overlap, so that
 * overlapping spans can be told apart.
 */
function shade(plot: uPlot, spans: readonly Span[], color: (name: string) => string): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  spans.forEach(({ from, to, line }, index) => {
    const left = Math.max(bbox.left, plot.valToPos(from, 'x', true));
    const right = Math.min(bbox.left + bbox.width, plot.valToPos(to, 'x', true));
    const width = Math.max(right - left, 2 * ratio);
    ctx.fillStyle = color(colorOf(line));
    ctx.globalAlpha = 0.1;
    ctx.fillRect(left, bbox.top, width, bbox.height);
    ctx.globalAlpha = 0.9;
    ctx.fillRect(left, bbox.top - (spans.length - index) * BAR_STEP * ratio, width, BAR_PIXELS * ratio);
  });
  ctx.restore();
}
