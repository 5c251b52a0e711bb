/** The page of a variable. If the variable has no points, the page shows how to send the first points. */
import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../parts/problem.tsx';
import view from '../parts/view.module.css';
import { settings } from '../session/settings.ts';
import { addTexts } from '../texts/view-texts.ts';
import { boundsQuery } from './chart-queries.ts';
import { Charted } from './charted.tsx';
import { toPush } from './export/snippets.ts';
import { LiveBadge } from './live/live-badge.tsx';
import { useLive } from './live/use-live.ts';
import { de } from './texts/de.ts';
import { en } from './texts/en.ts';
import { fr } from './texts/fr.ts';
import { nl } from './texts/nl.ts';
import classes from './variable.module.css';
import { Heading } from './variable-heading.tsx';
import { useVariable } from './variable-queries.ts';

addTexts('variable', { en, fr, de, nl });

const route = getRouteApi('/console/variables/$variableId');

/** Renders the route. */
export function VariablePage() {
  const { t } = useTranslation();
  const { t: tv } = useTranslation('variable');
  const { variableId } = route.useParams();
  const others = route.useSearch().with ?? [];
  const context = useVariable(variableId);
  const bounds = useQuery(boundsQuery(variableId));
  // The watch connects early, so it is usually ready before the chart reads points.
  const live = useLive([variableId, ...others]);
  const isFirst = bounds.data === null && live.points.lastOf(variableId) !== undefined;
  const { refetch } = bounds;
  useEffect(() => {
    if (isFirst) void refetch();
  }, [isFirst, refetch]);
  const error = context.error ?? bounds.error;
  if (error) return <Problem error={error} onRetry={() => void Promise.all([context.refetch(), refetch()])} />;
  if (!context.data || bounds.data === undefined) return <Skeleton height={420} radius="md" />;
  if (bounds.data !== null) return <Charted key={variableId} context={context.data} bounds={bounds.data} live={live} />;
  return (
    <>
      <Heading {...context.data} />
      <div className={classes.empty}>
        <h2>{t('variable.empty')}</h2>
        <p>{t('variable.emptyHint')}</p>
        <p>
          <LiveBadge state={live.state} />
        </p>
        <p>
          <Link to="/console/data">{tv('first.file')}</Link>
        </p>
        <p>{tv('first.program')}</p>
        <pre className={view.code}>{toPush(settings.push, variableId)}</pre>
      </div>
    </>
  );
}
