/** The settings page, for managers and administrators: tabs for the account, forms, catalogues and retention. */
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Forbidden } from '../parts/forbidden.tsx';
import { TabbedHeader } from '../parts/tabs.tsx';
import { useSession } from '../session/session.tsx';
import { AccountSettings } from './account/account-settings.tsx';
import { Catalogues } from './catalogues/catalogues.tsx';
import { FormPage } from './forms/form-page.tsx';
import { Forms } from './forms/forms.tsx';
import { RetentionPolicy } from './retention/retention.tsx';
import './texts.ts';

const route = getRouteApi('/console/settings');
const TABS = ['account', 'forms', 'catalogues', 'retention'] as const;

/** Renders the route. */
export function SettingsPage() {
  const { t } = useTranslation('settings');
  const { mayManage } = useSession();
  const { tab, form } = route.useSearch();
  if (!mayManage) return <Forbidden needs="manager" />;
  const current = TABS.find((name) => name === tab) ?? 'account';
  return (
    <>
      <TabbedHeader
        title={t('title')}
        lead={t(`lead.${current}`)}
        to="/console/settings"
        names={TABS}
        current={current}
        textOf={(name) => t(`tab.${name}`)}
      />
      {current === 'account' && <AccountSettings />}
      {current === 'forms' && (form === undefined ? <Forms /> : <FormPage key={form} id={form} />)}
      {current === 'catalogues' && <Catalogues />}
      {current === 'retention' && <RetentionPolicy />}
    </>
  );
}
