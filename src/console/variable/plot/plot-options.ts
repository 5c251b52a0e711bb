/** Options of uPlot: an axis for each unit, dates in the given time zone, and the colours of the CSS variables. */
import uPlot from 'uplot';
import { formatMoment } from '../../parts/moment.tsx';
import { currentLocale } from '../../texts/language.ts';
import type { PlotProps } from './plot-props.ts';

export const HEIGHT_PIXELS = 360;
export const MIN_DRAG_PIXELS = 6;
const DAY_SEC = 86_400;

/** @returns the units of the lines, in the order of the first line of each unit. Each unit has an axis. */
export function unitsOf(lines: PlotProps['lines']): readonly string[] {
  return [...new Set(lines.map(({ unit }) => unit))];
}

/** @param frame element that gives the chart its colours and width. @param hooks functions that uPlot calls. */
export function toOptions(frame: HTMLElement, props: PlotProps, hooks: uPlot.Hooks.Arrays): uPlot.Options {
  const { lines, bands, timeZone, range } = props;
  const style = getComputedStyle(frame);
  const color = (name: string) => style.getPropertyValue(name).trim() || name;
  return {
    width: frame.clientWidth,
    height: HEIGHT_PIXELS,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), timeZone),
    scales: { x: { min: range.from, max: range.to, time: true } },
    axes: toAxes(props, color),
    series: [
      { label: timeZone, value: (_plot, seconds) => formatSeconds(seconds, timeZone) },
      ...lines.map(({ label, color: name, unit, isQuiet, isEdge }) => ({
        label,
        scale: scaleOf(unit),
        stroke: isEdge ? 'transparent' : color(name),
        width: isEdge ? 0 : 1.5,
        ...(isQuiet && { dash: [5, 4], alpha: 0.85 }),
        points: { show: isEdge ? false : undefined },
        value: (_plot: uPlot, value: number | null) => formatValue(value),
      })),
    ] as uPlot.Series[],
    bands: bands.map(([upper, lower]) => ({
      series: [upper + 1, lower + 1],
      fill: `${color('--mantine-color-tide-4')}44`,
    })),
    cursor: { drag: { x: true, y: false, setScale: false, dist: MIN_DRAG_PIXELS }, points: { size: 7 } },
    hooks,
  };
}

const scaleOf = (unit: string) => `unit ${unit}`;

/** Creates the axis of dates, and an axis for each unit: the first unit on the left, the others on the right. */
function toAxes({ lines, timeZone }: PlotProps, color: (name: string) => string): uPlot.Axis[] {
  const units = unitsOf(lines);
  const axis = { stroke: color('--soft'), ticks: { stroke: color('--edge') } };
  const grid = { stroke: color('--edge'), width: 1 };
  return [
    { ...axis, grid, values: (_plot, splits, _axis, _space, step) => dateLabels(splits, step, timeZone) },
    ...units.map((unit, index): uPlot.Axis => {
      const own = lines.filter((line) => line.unit === unit && !line.isEdge);
      return {
        ...axis,
        scale: scaleOf(unit),
        side: index === 0 ? 3 : 1,
        grid: index === 0 ? grid : { show: false },
        size: widthOf,
        values: (_plot, splits) => splits.map(formatValue),
        // If the chart shows several units, the axis of a unit with only one line takes the colour of the line.
        ...(units.length > 1 && own.length === 1 && { stroke: color(own[0]?.color ?? '--soft') }),
        ...(unit !== '' && { label: unit, labelSize: 20 }),
      };
    }),
  ];
}

/** @returns the width of an axis in pixels: the sum of its longest label, its ticks, and the gap between them. */
export function widthOf(plot: uPlot, labels: readonly string[] | null, index: number): number {
  const { font, ticks, gap = 0 } = plot.axes[index] ?? {};
  const longest = (labels ?? []).reduce((long, label) => (label.length > long.length ? label : long), '');
  plot.ctx.font = String(Array.isArray(font) ? font[0] : font);
  return Math.ceil((ticks?.size ?? 0) + gap + plot.ctx.measureText(longest).width / devicePixelRatio);
}

/**
 * @param stepSec time between two labels.
 * @returns labels of the date axis: years, months, days, or times of day. When the labels are times of day, the label
 *   at midnight shows the day instead.
 */
export function dateLabels(splits: readonly number[], stepSec: number, timeZone: string): string[] {
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

/** Formats a value for display; a dash stands for a missing value. */
export function formatValue(value: number | null | undefined): string {
  return value === null || value === undefined || Number.isNaN(value)
    ? '–'
    : value.toLocaleString(currentLocale(), { maximumSignificantDigits: 8 });
}

/** Formats an epoch second in a time zone for the legend; a dash stands for a missing date. */
export function formatSeconds(seconds: number | null | undefined, timeZone: string): string {
  return seconds === null || seconds === undefined ? '–' : formatMoment(seconds * 1000, timeZone);
}

/** Shows the last point in the legend while the chart has no cursor. */
export function showLast(plot: uPlot): void {
  const count = plot.data[0].length;
  if (count > 0 && (plot.legend.idx === null || plot.legend.idx === undefined)) {
    plot.setLegend({ idx: count - 1 }, false);
  }
}
