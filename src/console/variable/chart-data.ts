/** Aligns the points of every side to the arrays that uPlot draws. */
import uPlot from 'uplot';
import type { ChartPoints } from './chart-queries.ts';
import type { Side } from './chart-rules.ts';
import type { Line } from './plot.tsx';
import type { Points } from './points.ts';

const COLORS = ['--tide-line', '--second-line', '--third-line', '--fourth-line', '--fifth-line', '--sixth-line'];

export interface ChartData {
  readonly data: uPlot.AlignedData;
  readonly lines: readonly Line[];
  readonly bands: readonly (readonly [number, number])[];
}

type Column = readonly [seconds: Float64Array, values: readonly (number | null)[] | Float64Array];

/**
 * @param nameOf names a side for people.
 * @param isShaded the area between the first two sides is filled: what one knows and the other does not.
 */
export function toChartData(
  all: readonly ChartPoints[],
  nameOf: (side: Side) => string,
  edges: { readonly min: string; readonly max: string },
  isShaded: boolean,
): ChartData {
  const columns: Column[] = [];
  const lines: Line[] = [];
  const bands: (readonly [number, number])[] = [];
  all.forEach(({ side, points, band }, index) => {
    const color = COLORS[index % COLORS.length] ?? '';
    columns.push(columnOf(points));
    lines.push({ label: nameOf(side), color, ...(isShaded && index > 0 && { isQuiet: true }) });
    if (!band) return;
    bands.push([lines.length + 1, lines.length]);
    columns.push(columnOf(band.min), columnOf(band.max));
    lines.push({ label: edges.min, color, isEdge: true }, { label: edges.max, color, isEdge: true });
  });
  // uPlot fills a band where its first line is the upper one.
  if (isShaded && all.length > 1) bands.push([lines.length - 1, 0], [0, lines.length - 1]);
  return { data: align(columns), lines, bands };
}

function align(columns: readonly Column[]): uPlot.AlignedData {
  const [only] = columns;
  if (!only) return [[]];
  if (columns.length === 1) return [only[0], only[1]] as unknown as uPlot.AlignedData;
  return uPlot.join(columns as unknown as uPlot.AlignedData[]);
}

/** uPlot takes null, not NaN, for a gap; without gaps the array itself is drawn. */
function columnOf({ seconds, values }: Points): Column {
  const hasGap = values.some((value) => Number.isNaN(value));
  return [seconds, hasGap ? Array.from(values, (value) => (Number.isNaN(value) ? null : value)) : values];
}
