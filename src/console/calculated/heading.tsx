/** Heading with the site, source and name of a calculated variable, and links to its data, script and runs. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { VariableContext } from '../variable/variable-queries.ts';
import classes from './calculated.module.css';

const TABS = [
  { to: '/console/variables/$variableId', text: 'tabs.data' },
  { to: '/console/variables/$variableId/script', text: 'tabs.script' },
  { to: '/console/variables/$variableId/runs', text: 'tabs.runs' },
] as const;

/** Heading of the pages of a calculated variable. @param children buttons, shown at the right. */
export function Heading({ context, children }: { readonly context: VariableContext; readonly children?: ReactNode }) {
  const { t } = useTranslation('calculated');
  const { variable, source, site } = context;
  return (
    <header>
      <div className={classes.heading}>
        <div>
          <p className={classes.path}>
            {site.name} › {source.name}
          </p>
          <h1>{variable.name || `#${variable.id}`}</h1>
        </div>
        {children}
      </div>
      <nav className={classes.tabs} aria-label={t('tabs.title')}>
        {TABS.map(({ to, text }) => (
          <Link
            key={to}
            to={to}
            params={{ variableId: variable.id }}
            className={classes.tab}
            activeProps={{ 'aria-current': 'page' }}
            activeOptions={{ exact: true, includeSearch: false }}
          >
            {t(text)}
          </Link>
        ))}
      </nav>
    </header>
  );
}
