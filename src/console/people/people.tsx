/**
 * The page that shows users, invitations and the audit trail. To administrators, the page also shows the clients and
 * signing keys.
 */
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Forbidden } from '../parts/forbidden.tsx';
import { TabbedHeader } from '../parts/tabs.tsx';
import { useSession } from '../session/session.tsx';
import { addTexts } from '../texts/view-texts.ts';
import { Audit } from './audit/audit.tsx';
import { ClientPage } from './clients/client-page.tsx';
import { Clients } from './clients/clients.tsx';
import { Invitations } from './invitations/invitations.tsx';
import { de } from './texts/de.ts';
import { en } from './texts/en.ts';
import { fr } from './texts/fr.ts';
import { nl } from './texts/nl.ts';
import { NewUser } from './users/new-user.tsx';
import { UserPage } from './users/user-page.tsx';
import { Users } from './users/users.tsx';

addTexts('people', { en, fr, de, nl });

const route = getRouteApi('/console/people');

/** Renders the route. */
export function PeoplePage() {
  const { t } = useTranslation('people');
  const { mayManage, role } = useSession();
  const { tab, user, client } = route.useSearch();
  if (!mayManage) return <Forbidden needs="manager" />;
  const names =
    role === 'ADMIN'
      ? (['users', 'invitations', 'audit', 'clients'] as const)
      : (['users', 'invitations', 'audit'] as const);
  const current = names.find((name) => name === tab) ?? 'users';
  return (
    <>
      <TabbedHeader
        title={t('title')}
        lead={t(`lead.${current}`)}
        to="/console/people"
        names={names}
        current={current}
        textOf={(name) => t(`tab.${name}`)}
      />
      {current === 'users' && user === undefined && <Users />}
      {current === 'users' && user === 'new' && <NewUser />}
      {current === 'users' && user !== undefined && user !== 'new' && <UserPage key={user} id={user} />}
      {current === 'invitations' && <Invitations />}
      {current === 'audit' && <Audit />}
      {current === 'clients' && client === undefined && <Clients />}
      {current === 'clients' && client !== undefined && <ClientPage key={client} id={client} />}
    </>
  );
}
