/** The pages of the router itself: for an address without a route, and for a route that failed. */
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Problem } from '../parts/problem.tsx';
import classes from '../parts/view.module.css';

/** Says that no page has the address, and links to Home. */
export function Missing() {
  const { t } = useTranslation();
  return (
    <>
      <h1>{t('missing.title')}</h1>
      <p className={classes.lead}>{t('missing.text')}</p>
      <p className={classes.bar}>
        <Link to="/">{t('missing.home')}</Link>
      </p>
    </>
  );
}

/** Shows the error of a route that failed while it was rendered; trying again renders the route anew. */
export function RouteProblem({ error, reset }: ErrorComponentProps) {
  return <Problem error={error} onRetry={reset} />;
}
