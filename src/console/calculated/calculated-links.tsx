/**
 * Links on the page of a variable: to its script, runs and properties, and to the page that creates a calculated
 * variable from it.
 */
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useSession } from '../session/session.tsx';
import type { Variable } from '../variable/variable-queries.ts';
import classes from './calculated-links.module.css';

export function CalculatedLinks({ variable: { id, calculated } }: { readonly variable: Variable }) {
  const { t } = useTranslation();
  const { mayManage } = useSession();
  const params = { variableId: id };
  return (
    <p className={classes.links}>
      {calculated && (
        <>
          <Link to="/console/variables/$variableId/script" params={params}>
            {t('calculated.script')}
          </Link>
          <Link to="/console/variables/$variableId/runs" params={params}>
            {t('calculated.runs')}
          </Link>
        </>
      )}
      {mayManage && (
        <Link to="/console/variables/new" search={{ input: id }}>
          {t('calculated.make')}
        </Link>
      )}
      <Link to="/console/variables/$variableId/properties" params={params}>
        {t('variable.properties')}
      </Link>
    </p>
  );
}
