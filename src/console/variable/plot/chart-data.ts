/** Builds what uPlot draws: the points of all lines on common dates, the style of each line, and the filled bands. */
import uPlot from 'uplot';
import type { Points } from '../chart-rules.ts';
import type { Line } from './plot-props.ts';

const COLORS = ['--tide-line', '--second-line', '--third-line', '--fourth-line', '--fifth-line', '--sixth-line'];

export interface ChartData {
  readonly data: uPlot.AlignedData;
  readonly lines: readonly Line[];
  readonly bands: readonly (readonly [number, number])[];
}

/** The points of one line, with its unit and style. */
export interface Drawn {
  readonly label: string;
  /** Symbol or name of the unit; empty without a unit. Lines with the same unit share an axis. */
  readonly unit: string;
  readonly points: Points;
  /** Least and greatest value of each bucket; undefined means that no band is drawn. */
  readonly band: { readonly min: Points; readonly max: Points } | undefined;
  /** Whether the line is dashed and slightly transparent. */
  readonly isQuiet: boolean;
}

type Column = readonly [seconds: Float64Array, values: readonly (number | null)[] | Float64Array];

/** @param isShaded whether the area between the first two lines is filled, to show how two versions differ. */
export function toChartData(
  all: readonly Drawn[],
  edges: { readonly min: string; readonly max: string },
  isShaded: boolean,
): ChartData {
  const columns: Column[] = [];
  const lines: Line[] = [];
  const bands: (readonly [number, number])[] = [];
  const places = all.map(({ label, unit, points, band, isQuiet }, index) => {
    const color = COLORS[index % COLORS.length] ?? '';
    const place = lines.length;
    columns.push(columnOf(points));
    lines.push({ label, color, unit, ...(isQuiet && { isQuiet }) });
    if (!band) return place;
    bands.push([lines.length + 1, lines.length]);
    columns.push(columnOf(band.min), columnOf(band.max));
    lines.push({ label: edges.min, color, unit, isEdge: true }, { label: edges.max, color, unit, isEdge: true });
    return place;
  });
  const [first, second] = places;
  // uPlot fills a band only where the first line of the band is above the second. The two lines may cross, so they need
  // two bands, one in each order.
  if (isShaded && first !== undefined && second !== undefined) bands.push([second, first], [first, second]);
  return { data: align(columns), lines, bands };
}

function align(columns: readonly Column[]): uPlot.AlignedData {
  const [only] = columns;
  if (!only) return [[]];
  if (columns.length === 1) return [only[0], only[1]] as unknown as uPlot.AlignedData;
  return uPlot.join(columns as unknown as uPlot.AlignedData[]);
}

/** Converts values for uPlot, which takes null, not NaN, for a gap. Without gaps, the values stay as they are. */
function columnOf({ seconds, values }: Points): Column {
  const hasGap = values.some((value) => Number.isNaN(value));
  return [seconds, hasGap ? Array.from(values, (value) => (Number.isNaN(value) ? null : value)) : values];
}
