/** The page for an address without a route. */
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
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
