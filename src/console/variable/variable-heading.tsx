/** Heading of a variable: its site and source, its name, and its properties. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { CalculatedLinks } from '../calculated/calculated-links.tsx';
import classes from './variable.module.css';
import type { VariableContext } from './variable-queries.ts';

/** The heading of a variable's page. @param children buttons beside the heading. */
export function Heading({
  variable,
  source,
  site,
  unit,
  timeZone,
  children,
}: VariableContext & { readonly children?: ReactNode }) {
  const { t } = useTranslation();
  const { id, name, granularity, granularityTimeBase, isVersioned, mappingConfig } = variable;
  const facts = [
    unit,
    granularity !== null && granularityTimeBase !== null && t(`every.${granularityTimeBase}`, { count: granularity }),
    isVersioned ? t('variable.versioned') : t('variable.overwritten'),
    timeZone,
    mappingConfig,
    `#${id}`,
  ];
  return (
    <header className={classes.heading}>
      <div>
        <p className={classes.path}>
          <Link to="/console/sites/$siteId" params={{ siteId: site.id }}>
            {site.name}
          </Link>
          {' › '}
          <Link to="/console/sources/$sourceId" params={{ sourceId: source.id }}>
            {source.name}
          </Link>
        </p>
        <h1>{name || `#${id}`}</h1>
        <p className={classes.facts}>{facts.filter(Boolean).join(' · ')}</p>
        <CalculatedLinks variable={variable} />
      </div>
      {children}
    </header>
  );
}
