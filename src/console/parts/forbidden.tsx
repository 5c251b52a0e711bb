/** Shown for a route that the role of the user may not open. No link leads to such a route, but a URL can. */
import { useTranslation } from 'react-i18next';
import classes from './view.module.css';

/** @param needs the lowest role that may open the route. */
export function Forbidden({ needs }: { readonly needs: 'manager' | 'admin' }) {
  const { t } = useTranslation();
  return (
    <>
      <h1>{t('forbidden.title')}</h1>
      <p className={classes.lead}>{t(`forbidden.${needs}`)}</p>
    </>
  );
}
