/** Properties and callbacks of a chart. */
import type uPlot from 'uplot';
import type { Range } from '../chart-rules.ts';

export interface Line {
  readonly label: string;
  /** CSS variable with the colour of the line. */
  readonly color: string;
  /** Symbol or name of the unit; empty without a unit. Lines with the same unit share an axis. */
  readonly unit: string;
  /** The line is dashed and slightly transparent. */
  readonly isQuiet?: boolean;
  /** The line is an edge of a band and is not drawn itself. */
  readonly isEdge?: boolean;
}

export interface PlotProps {
  readonly label: string;
  /** Dates in Unix seconds, then one array of values for each line. */
  readonly data: uPlot.AlignedData;
  readonly lines: readonly Line[];
  /** Pairs of indexes in `lines`. The area between the two lines is filled where the first line is above the second. */
  readonly bands: readonly (readonly [upper: number, lower: number])[];
  readonly range: Range;
  readonly timeZone: string;
  readonly onRange: (range: Range) => void;
  readonly onReset: () => void;
  readonly onPick: (seconds: number) => void;
  /** Called with the range that the user marks. Without this callback, dragging zooms. */
  readonly onMark: ((range: Range) => void) | undefined;
  /** The range that the chart shows as marked; undefined when no range is marked. */
  readonly marked: Range | undefined;
}
