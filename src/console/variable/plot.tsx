/** A chart on canvas by uPlot. Dragging zooms, a click picks a date, a double click shows everything. */
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatMoment } from '../parts/moment.tsx';
import { currentLocale } from '../texts/language.ts';
import type { Range } from './chart-rules.ts';
import classes from './plot.module.css';

export interface Line {
  readonly label: string;
  /** CSS variable of the colour. */
  readonly color: string;
  /** Drawn behind the others and dashed. */
  readonly isQuiet?: boolean;
  /** An edge of a band: no line of its own. */
  readonly isEdge?: boolean;
}

export interface PlotProps {
  readonly label: string;
  /** Seconds, then one array for each line. */
  readonly data: uPlot.AlignedData;
  readonly lines: readonly Line[];
  /** Pairs of lines between which the area is filled. */
  readonly bands: readonly (readonly [upper: number, lower: number])[];
  readonly range: Range;
  readonly unit: string;
  readonly timeZone: string;
  readonly onRange: (range: Range) => void;
  readonly onReset: () => void;
  readonly onPick: (seconds: number) => void;
}

const MIN_DRAG_PIXELS = 6;
const HEIGHT_PIXELS = 360;
const DAY_SEC = 86_400;

/** The chart; it fills the width of its place. */
export function Plot(props: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const scheme = useComputedColorScheme('light');
  const { lines, bands, data, range, unit, timeZone, label } = props;
  const structure = JSON.stringify([lines, bands, unit, timeZone, scheme]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `structure` stands for what the options are made of
  useEffect(() => {
    const frame = place.current;
    if (!frame) return;
    const made = new uPlot(toOptions(frame, latest), latest.current.data, frame);
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: frame.clientWidth, height: HEIGHT_PIXELS }));
    resized.observe(frame);
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [structure]);

  useEffect(() => {
    plot.current?.setData(data, false);
    plot.current?.setScale('x', { min: range.from, max: range.to });
  }, [data, range]);

  return <div ref={place} className={classes.plot} role="img" aria-label={label} data-points={data[0].length} />;
}

type Latest = { readonly current: PlotProps };

function toOptions(frame: HTMLElement, latest: Latest): uPlot.Options {
  const { lines, bands, unit, timeZone, range } = latest.current;
  const style = getComputedStyle(frame);
  const color = (name: string) => style.getPropertyValue(name).trim() || name;
  const axis = {
    stroke: color('--soft'),
    grid: { stroke: color('--edge'), width: 1 },
    ticks: { stroke: color('--edge') },
  };
  return {
    width: frame.clientWidth,
    height: HEIGHT_PIXELS,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), timeZone),
    scales: { x: { min: range.from, max: range.to, time: true } },
    axes: [
      { ...axis, values: (_plot, splits, _axis, _space, step) => dateLabels(splits, step, timeZone) },
      { ...axis, size: 64, ...(unit !== '' && { label: unit, labelSize: 20 }) },
    ],
    series: [
      { label: timeZone, value: (_plot, seconds) => (seconds === null ? '–' : formatMoment(seconds * 1000, timeZone)) },
      ...lines.map(({ label, color: name, isQuiet, isEdge }) => ({
        label,
        stroke: isEdge ? 'transparent' : color(name),
        width: isEdge ? 0 : 1.5,
        ...(isQuiet && { dash: [5, 4], alpha: 0.85 }),
        points: { show: isEdge ? false : undefined },
        value: (_plot: uPlot, value: number | null) => (value === null || value === undefined ? '–' : format(value)),
      })),
    ] as uPlot.Series[],
    bands: bands.map(([upper, lower]) => ({
      series: [upper + 1, lower + 1],
      fill: `${color('--mantine-color-tide-4')}44`,
    })),
    cursor: { drag: { x: true, y: false, setScale: false, dist: MIN_DRAG_PIXELS }, points: { size: 7 } },
    hooks: {
      setSelect: [(plot) => zoom(plot, latest.current)],
      ready: [(plot) => listen(plot, latest)],
    },
  };
}

function zoom(plot: uPlot, { onRange }: PlotProps): void {
  const { left, width } = plot.select;
  if (width < MIN_DRAG_PIXELS) return;
  const range = { from: plot.posToVal(left, 'x'), to: plot.posToVal(left + width, 'x') };
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  onRange(range);
}

function listen(plot: uPlot, latest: Latest): void {
  let downAt = 0;
  plot.over.addEventListener('mousedown', (event) => {
    downAt = event.clientX;
  });
  plot.over.addEventListener('click', (event) => {
    const { idx } = plot.cursor;
    if (Math.abs(event.clientX - downAt) >= MIN_DRAG_PIXELS || typeof idx !== 'number') return;
    const seconds = plot.data[0][idx];
    if (seconds !== undefined) latest.current.onPick(seconds);
  });
  plot.over.addEventListener('dblclick', () => latest.current.onReset());
}

/** Labels of the axis of dates, as short as the distance between them allows. */
function dateLabels(splits: readonly number[], stepSec: number, timeZone: string): string[] {
  const write = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(currentLocale(), { ...options, timeZone });
    return (seconds: number) => format.format(seconds * 1000);
  };
  if (stepSec >= 330 * DAY_SEC) return splits.map(write({ year: 'numeric' }));
  if (stepSec >= 27 * DAY_SEC) return splits.map(write({ month: 'short', year: 'numeric' }));
  const day = write({ day: 'numeric', month: 'short' });
  if (stepSec >= DAY_SEC) return splits.map(day);
  const time = write({ hour: '2-digit', minute: '2-digit', hour12: false });
  return splits.map((seconds) => (/^(00|24):00$/.test(time(seconds)) ? day(seconds) : time(seconds)));
}

function format(value: number): string {
  return value.toLocaleString(currentLocale(), { maximumSignificantDigits: 8 });
}
