/**
 * Shows a wave as a picture. Each variable is a box, which is a link. An arrow goes from a changed variable to each
 * variable whose run the change triggered.
 */
import { Skeleton } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { MouseEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../../parts/problem.tsx';
import { useWave, type Wave } from '../calculated-queries.ts';
import classes from './runs.module.css';
import { type PlacedNode, placeWave } from './wave-rules.ts';

const WIDTH = 190;
const HEIGHT = 46;
const GAP_X = 56;
const GAP_Y = 14;
const MARGIN = 4;
const PADDING = 12;

/**
 * Draws the wave of a run as a graph of variables. A wave is all runs that one change, schedule or forced update
 * triggered. The graph shows only variables that triggers link to the variable of this run.
 */
export function WavePicture({ runId }: { readonly runId: number }) {
  const { t } = useTranslation('calculated');
  const wave = useWave(runId);
  if (wave.error) return <Problem error={wave.error} onRetry={() => void wave.refetch()} />;
  if (!wave.data) return <Skeleton height={120} radius="md" />;
  return (
    <>
      <Picture wave={wave.data} runId={runId} />
      {wave.data.isCut && <p className={classes.soft}>{t('run.cut')}</p>}
    </>
  );
}

function Picture({ wave, runId }: { readonly wave: Wave; readonly runId: number }) {
  const { t } = useTranslation('calculated');
  const placed = placeWave(wave);
  const byId = new Map(placed.nodes.map((each) => [each.node.variableId, each]));
  const width = placed.columns * (WIDTH + GAP_X) - GAP_X + 2 * MARGIN;
  const height = placed.rows * (HEIGHT + GAP_Y) - GAP_Y + 2 * MARGIN;
  return (
    <section
      className={classes.wave}
      aria-label={t('run.wave')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must take the keyboard
      tabIndex={0}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: a picture with links in it has no element of HTML */}
      <svg width={width} height={height} role="group" aria-label={t('run.waveLabel', { count: placed.nodes.length })}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0L8 4L0 8z" className={classes.head} />
          </marker>
        </defs>
        {wave.edges.map(({ from, to }) => (
          <path
            key={`${from} ${to}`}
            className={classes.edge}
            d={arrow(byId.get(from), byId.get(to))}
            markerEnd="url(#arrow)"
          />
        ))}
        {placed.nodes.map((each) => (
          <Box key={each.node.variableId} {...each} isShown={each.node.runId === runId} />
        ))}
      </svg>
    </section>
  );
}

function Box({ node, column, row, isShown }: PlacedNode & { readonly isShown: boolean }) {
  const { t } = useTranslation('calculated');
  const navigate = useNavigate();
  const { variableId, runId, state, sourceName } = node;
  const name = node.name || `#${variableId}`;
  const label = t('run.node', { name, state: t(`state.${state}`), source: sourceName });
  const address = runId === null ? `/console/variables/${variableId}` : `/console/runs/${runId}`;
  const go = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (runId === null) void navigate({ to: '/console/variables/$variableId', params: { variableId } });
    else void navigate({ to: '/console/runs/$runId', params: { runId } });
  };
  return (
    <a
      href={address}
      onClick={go}
      className={classes.box}
      data-state={state}
      aria-label={label}
      {...(isShown && { 'aria-current': 'true' })}
    >
      <g transform={`translate(${left(column)}, ${top(row)})`}>
        <rect width={WIDTH} height={HEIGHT} rx="9" />
        {/* A nested SVG clips text that is wider than the box. */}
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: it clips the text, which is its content */}
        <svg x={PADDING} width={WIDTH - 2 * PADDING} height={HEIGHT}>
          <text y="19" className={classes.boxName}>
            {name}{' '}
          </text>
          <text y="36" className={classes.boxState}>
            {t(`state.${state}`)} · {sourceName}
          </text>
        </svg>
      </g>
    </a>
  );
}

const left = (column: number) => MARGIN + column * (WIDTH + GAP_X);
const top = (row: number) => MARGIN + row * (HEIGHT + GAP_Y);

function arrow(from: PlacedNode | undefined, to: PlacedNode | undefined): string {
  if (!from || !to) return '';
  const [x1, y1] = [left(from.column) + WIDTH, top(from.row) + HEIGHT / 2];
  const [x2, y2] = [left(to.column), top(to.row) + HEIGHT / 2];
  const bend = Math.max(GAP_X / 2, (x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 2} ${y2}`;
}
