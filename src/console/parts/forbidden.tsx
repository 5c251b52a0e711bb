/**
 * A page that the console shows instead of a route that the user's role may not open. No link leads to such a route,
 * but users can enter its URL.
 */
import { useTranslation } from 'react-i18next';
import classes from './view.module.css';

/** @param needs The lowest role that may open the route. */
export function Forbidden({ needs }: { readonly needs: 'manager' | 'admin' }) {
  const { t } = useTranslation();
  return (
    <>
      <h1>{t('forbidden.title')}</h1>
      <p className={classes.lead}>{t(`forbidden.${needs}`)}</p>
    </>
  );
}
