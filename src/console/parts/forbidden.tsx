/** A route that the role of the signed-in person may not use. Nothing leads there; an address may. */
import { useTranslation } from 'react-i18next';

/** @param needs the least role that may use the route. */
export function Forbidden({ needs }: { readonly needs: 'manager' | 'admin' }) {
  const { t } = useTranslation();
  return (
    <>
      <h1>{t('forbidden.title')}</h1>
      <p>{t(`forbidden.${needs}`)}</p>
    </>
  );
}
