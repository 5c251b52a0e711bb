/**
 * Draws the lineage of a version as an SVG tree. A node is a link when the user may open its page. A screen reader
 * visits each node before its children. The keyboard visits the links in the same order.
 */
import { Skeleton } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import type { MouseEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../../parts/problem.tsx';
import { currentLanguage } from '../../texts/language.ts';
import classes from './lineage.module.css';
import { NODE_WIDTH, type PlacedEdge, type PlacedNode, placeLineage } from './lineage-rules.ts';
import { loadLineage } from './load-lineage.ts';

const MARGIN = 8;
const MAX_TITLE = 30;

interface LineageProps {
  readonly variableId: number;
  readonly versionTimestamp: string;
  readonly timeZone: string;
}

/** Shows where a version of a point comes from. The lineage is loaded when this part of the page is opened. */
export function Lineage({ variableId, versionTimestamp, timeZone }: LineageProps) {
  const { t } = useTranslation('variable');
  const queries = useQueryClient();
  const lineage = useQuery({
    queryKey: ['lineage', variableId, versionTimestamp, currentLanguage()],
    queryFn: () => loadLineage(queries, t, { variableId, versionTimestamp, timeZone }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (lineage.error) return <Problem error={lineage.error} onRetry={() => void lineage.refetch()} />;
  if (!lineage.data) return <Skeleton height={120} mt="sm" />;
  const { nodes, edges, width, height } = placeLineage(lineage.data);
  return (
    <section
      className={classes.frame}
      aria-label={t('lineage.title')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must take the keyboard
      tabIndex={0}
    >
      <svg
        className={classes.picture}
        width={width + 2 * MARGIN}
        height={height + 2 * MARGIN}
        viewBox={`${-MARGIN} ${-MARGIN} ${width + 2 * MARGIN} ${height + 2 * MARGIN}`}
      >
        <title>{t('lineage.title')}</title>
        {edges.map((edge) => (
          <path key={`${edge.to.x} ${edge.to.y}`} className={classes.edge} d={curve(edge)} />
        ))}
        {nodes.map((placed) => (
          <Node key={`${placed.x} ${placed.y}`} {...placed} />
        ))}
      </svg>
    </section>
  );
}

function curve({ from, to }: PlacedEdge): string {
  const [startX, startY, endY] = [from.x + NODE_WIDTH, from.y + from.height / 2, to.y + to.height / 2];
  const middle = (startX + to.x) / 2;
  return `M${startX} ${startY} C${middle} ${startY} ${middle} ${endY} ${to.x} ${endY}`;
}

function Node({ node: { kind, title, details, href }, level, x, y, height }: PlacedNode) {
  const { t } = useTranslation('variable');
  const { history } = useRouter();
  const go = (event: MouseEvent) => {
    if (href === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    history.push(href);
  };
  const text = t('lineage.level', { level, text: [title, ...details].join(', ') });
  return (
    <g transform={`translate(${x} ${y})`}>
      <a className={classes.node} data-kind={kind} href={href} onClick={go}>
        <title>{text}</title>
        <rect width={NODE_WIDTH} height={height} rx={kind === 'state' ? 8 : height / 2} />
        {/* A nested SVG cuts texts that are wider than the node. */}
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: the title of the link names it */}
        <svg width={NODE_WIDTH - 10} height={height}>
          <text x={14} y={22} className={classes.title}>
            {title.length > MAX_TITLE ? `${title.slice(0, MAX_TITLE - 1)}…` : title}
          </text>
          {details.map((detail, index) => (
            <text key={detail} x={14} y={39 + index * 16} className={classes.detail}>
              {detail}
            </text>
          ))}
        </svg>
      </a>
    </g>
  );
}
