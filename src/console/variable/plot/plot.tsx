/**
 * A chart that uPlot draws on a canvas. The user zooms, marks a range or picks a date with the mouse or the keyboard
 * (plot-keys.ts).
 */
import { useComputedColorScheme, VisuallyHidden } from '@mantine/core';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatMoment } from '../../parts/moment.tsx';
import type { Range } from '../chart-rules.ts';
import classes from './plot.module.css';
import { type KeyState, markedRange, pressKey } from './plot-keys.ts';
import { formatValue, HEIGHT_PIXELS, MIN_DRAG_PIXELS, showLast, toOptions } from './plot-options.ts';
import type { PlotProps } from './plot-props.ts';

/** The chart; it fills the width of its container. */
export function Plot(props: PlotProps) {
  const { t } = useTranslation('variable');
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const keys = useRef<KeyState>({ index: undefined, anchor: undefined });
  const [said, say] = useState('');
  const scheme = useComputedColorScheme('light');
  const { lines, bands, data, range, timeZone, label, marked } = props;
  const structure = JSON.stringify([lines, bands, timeZone, scheme]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `structure` stands for what the options are made of
  useEffect(() => {
    const frame = place.current;
    if (!frame) return;
    const hooks = {
      setSelect: [(made: uPlot) => select(made, latest.current)],
      ready: [(made: uPlot) => listen(made, latest)],
      setLegend: [showLast],
      setData: [showLast],
    };
    const made = new uPlot(toOptions(frame, latest.current, hooks), latest.current.data, frame);
    plot.current = made;
    const resized = new ResizeObserver(() => {
      made.setSize({ width: frame.clientWidth, height: HEIGHT_PIXELS });
      mark(made, latest.current.marked);
    });
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new chart and another range need the mark again
  useEffect(() => mark(plot.current, marked), [marked, range, structure]);

  const press = (event: KeyboardEvent) => {
    const made = plot.current;
    if (!made || event.ctrlKey || event.altKey || event.metaKey) return;
    const isMeant = pressKey(made, keys.current, event, latest.current, () =>
      say(describe(made, keys.current, latest.current)),
    );
    if (isMeant) event.preventDefault();
  };
  return (
    <div
      className={classes.keys}
      role="application"
      aria-label={t('keys.label')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes keys
      tabIndex={0}
      onKeyDown={press}
    >
      <div ref={place} className={classes.plot} role="img" aria-label={label} data-points={data[0].length} />
      <VisuallyHidden aria-live="polite">{said}</VisuallyHidden>
    </div>
  );
}

type Latest = { readonly current: PlotProps };

/** @returns the text for a screen reader: the date and the values at the cursor, or the ends of the marked range. */
function describe(plot: uPlot, state: KeyState, { lines, timeZone }: PlotProps): string {
  const { index = 0 } = state;
  const moment = (seconds: number) => formatMoment(seconds * 1000, timeZone);
  const range = markedRange(plot, state);
  if (range) return `${moment(range.from)} – ${moment(range.to)}`;
  const values = lines.flatMap(({ label, unit, isEdge }, line) => {
    const value = plot.data[line + 1]?.[index];
    return isEdge || value === undefined || value === null ? [] : [`${label} ${formatValue(value)} ${unit}`.trim()];
  });
  return `${moment(plot.data[0][index] ?? 0)}: ${values.join(', ') || '–'}`;
}

function select(plot: uPlot, { onRange, onMark }: PlotProps): void {
  const { left, width } = plot.select;
  if (width < MIN_DRAG_PIXELS) return;
  const range = { from: plot.posToVal(left, 'x'), to: plot.posToVal(left + width, 'x') };
  if (onMark) {
    onMark(range);
    return;
  }
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  onRange(range);
}

/** Shows a range as marked; undefined removes the mark. */
function mark(plot: uPlot | undefined, range: Range | undefined): void {
  if (!plot) return;
  const [left, right] = range ? [plot.valToPos(range.from, 'x'), plot.valToPos(range.to, 'x')] : [0, 0];
  plot.setSelect({ left, width: right - left, top: 0, height: plot.over.clientHeight }, false);
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
