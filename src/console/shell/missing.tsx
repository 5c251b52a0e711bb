/** The page for an address without a route. */
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';

/** Says that no page has the address, and links to Home. */
export function Missing() {
  const { t } = useTranslation();
  return (
    <>
      <h1>{t('missing.title')}</h1>
      <p>{t('missing.text')}</p>
      <p>
        <Link to="/">{t('missing.home')}</Link>
      </p>
    </>
  );
}
