/** Shows whether new points appear automatically. */
import { useTranslation } from 'react-i18next';
import type { LiveState } from './follow.ts';
import classes from './live-badge.module.css';

/** Shows the state. @param held number of live points kept in memory besides the points that the chart has read. */
export function LiveBadge({ state, held = 0 }: { readonly state: LiveState; readonly held?: number }) {
  const { t } = useTranslation('variable');
  return (
    <span className={classes.badge} data-state={state} data-held={held} role="status">
      <span className={classes.dot} aria-hidden="true" />
      {t(`live.${state}`)}
    </span>
  );
}
