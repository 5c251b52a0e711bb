/**
 * Keyboard of the chart. The chart announces the marked range or the point at the cursor, because a screen reader
 * cannot read a canvas.
 * - Left, Right, Page Up, Page Down, Home, End: move a cursor between points; with Shift, also mark a range.
 * - Enter, Space: use the marked range or, if no range is marked, pick the point at the cursor.
 * - `+`, `-`: zoom.
 * - Escape: remove the cursor and the marked range.
 */
import type uPlot from 'uplot';
import type { Range } from '../chart-rules.ts';

export interface PlotActions {
  readonly onRange: (range: Range) => void;
  readonly onPick: (seconds: number) => void;
  /** Receives the range that the user marked. Without this callback, the chart zooms into the range. */
  readonly onMark: ((range: Range) => void) | undefined;
}

export interface KeyState {
  /** Index of the point that the keyboard cursor is at. */
  index: number | undefined;
  /** Index of the point at which marking began. */
  anchor: number | undefined;
}

type Key = Pick<KeyboardEvent, 'key' | 'shiftKey'>;

const PAGE_PART = 10;

/** @returns whether the chart handles the key. @param announce called after the cursor has moved to a point. */
export function pressKey(
  plot: uPlot,
  state: KeyState,
  { key, shiftKey }: Key,
  actions: PlotActions,
  announce: () => void,
): boolean {
  const next = targetOf(plot, state, key);
  if (next !== undefined) {
    state.anchor = shiftKey ? (state.anchor ?? state.index ?? next) : undefined;
    state.index = next;
    showCursor(plot, state);
    announce();
    return true;
  }
  if (key === '+' || key === '=') return zoom(plot, state, 0.5, actions);
  if (key === '-') return zoom(plot, state, 2, actions);
  if (key === 'Enter' || key === ' ') return choose(plot, state, actions);
  if (key !== 'Escape' || state.index === undefined) return false;
  [state.index, state.anchor] = [undefined, undefined];
  showCursor(plot, state);
  return true;
}

/**
 * @returns the index of the point to which a key moves the cursor; undefined when the chart has no points, or when the
 * key does not move the cursor.
 */
function targetOf(plot: uPlot, { index }: KeyState, key: string): number | undefined {
  const [first, last] = plot.series[0]?.idxs ?? [0, 0];
  if (plot.data[0].length === 0) return undefined;
  const page = Math.max(1, Math.round((last - first) / PAGE_PART));
  const at = index !== undefined && index >= first && index <= last ? index : undefined;
  const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -page, PageDown: page };
  const step = steps[key];
  if (key === 'Home') return first;
  if (key === 'End') return last;
  if (step === undefined) return undefined;
  const from = at ?? (step > 0 ? first - step : last - step);
  return Math.min(last, Math.max(first, from + step));
}

/** Shows the keyboard cursor and the marked range, each only while it exists. */
function showCursor(plot: uPlot, { index, anchor }: KeyState): void {
  const left = index === undefined ? -10 : plot.valToPos(plot.data[0][index] ?? 0, 'x');
  plot.setCursor({ left, top: index === undefined ? -10 : plot.over.clientHeight / 2 });
  const other = anchor === undefined ? left : plot.valToPos(plot.data[0][anchor] ?? 0, 'x');
  const width = anchor === undefined ? 0 : Math.abs(left - other);
  plot.setSelect({ left: Math.min(left, other), width, top: 0, height: plot.over.clientHeight }, false);
}

/**
 * @returns the marked range; undefined when fewer than two points are marked. The range ends one millisecond after its
 * last point, because the end of a range is exclusive.
 */
export function markedRange(plot: uPlot, { index, anchor }: KeyState): Range | undefined {
  if (index === undefined || anchor === undefined || index === anchor) return undefined;
  const dates = plot.data[0];
  const [from = 0, to = 0] = [dates[Math.min(index, anchor)], dates[Math.max(index, anchor)]];
  return { from, to: to + 0.001 };
}

function choose(plot: uPlot, state: KeyState, { onRange, onPick, onMark }: PlotActions): boolean {
  const range = markedRange(plot, state);
  const seconds = state.index === undefined ? undefined : plot.data[0][state.index];
  if (range && onMark) onMark(range);
  else if (range) {
    state.anchor = undefined;
    showCursor(plot, state);
    onRange(range);
  } else if (seconds !== undefined) onPick(seconds);
  return true;
}

/** Zooms in or out around the keyboard cursor or, without a cursor, around the middle of the shown range. */
function zoom(plot: uPlot, { index }: KeyState, by: number, { onRange }: PlotActions): boolean {
  const { min = 0, max = 0 } = plot.scales.x ?? {};
  const [from, to] = [min ?? 0, max ?? 0];
  const center = (index === undefined ? undefined : plot.data[0][index]) ?? (from + to) / 2;
  const range = { from: center - (center - from) * by, to: center + (to - center) * by };
  // Sets the scale here too: the change that `onRange` causes comes later, and the next key press must zoom from this
  // range.
  plot.setScale('x', { min: range.from, max: range.to });
  onRange(range);
  return true;
}
