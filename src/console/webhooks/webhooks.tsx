/** The page of webhooks. It lists the webhooks with their URLs and states, or shows one webhook (`WebhookPage`). */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../api/client.ts';
import { EntryList } from '../parts/entry-list.tsx';
import { Forbidden } from '../parts/forbidden.tsx';
import { Ago } from '../parts/moment.tsx';
import { State } from '../parts/state.tsx';
import classes from '../parts/view.module.css';
import { useSession } from '../session/session.tsx';
import { addTexts } from '../texts/view-texts.ts';
import { de } from './texts/de.ts';
import { en } from './texts/en.ts';
import { fr } from './texts/fr.ts';
import { nl } from './texts/nl.ts';
import { WebhookPage } from './webhook-page.tsx';

addTexts('webhooks', { en, fr, de, nl });

const route = getRouteApi('/console/webhooks');
const REFRESH_MS = 15_000;

/** Renders the route. */
export function WebhooksPage() {
  const { t } = useTranslation('webhooks');
  const { mayManage } = useSession();
  const { webhook } = route.useSearch();
  if (!mayManage) return <Forbidden needs="manager" />;
  return (
    <>
      <header className={classes.header}>
        <div>
          <h1>{t('title')}</h1>
          <p className={classes.lead}>{t('lead')}</p>
        </div>
      </header>
      {webhook === undefined ? <Webhooks /> : <WebhookPage key={webhook} id={webhook} />}
    </>
  );
}

function Webhooks() {
  const { t } = useTranslation('webhooks');
  const navigate = useNavigate();
  const webhooks = useQuery({
    queryKey: ['webhooks'],
    queryFn: () => bodyOf(api.GET('/account/webhooks', { params: { query: { DisplayLevel: 'Verbose' } } })),
    refetchInterval: REFRESH_MS,
  });
  return (
    <EntryList
      label={t('title')}
      entries={webhooks}
      texts={{ none: t('none'), noneHint: t('noneHint'), create: t('create') }}
      onCreate={() => void navigate({ to: '/console/webhooks', search: { webhook: 'new' } })}
    >
      {({ id, name, url, eventType, isEnabled, disabledReason, lastExecution }) => (
        <>
          <div>
            <Link to="/console/webhooks" search={{ webhook: id }}>
              {name}
            </Link>
            <div className={classes.soft}>
              {t(`events.${eventType}`)} → {url}
            </div>
            {disabledReason && <div className={classes.message}>{disabledReason}</div>}
          </div>
          {lastExecution && (
            <span className={classes.soft}>
              <Ago instant={lastExecution.date} />
            </span>
          )}
          <State tone={disabledReason ? 'bad' : isEnabled ? 'good' : 'plain'}>
            {t(isEnabled ? 'enabled' : 'disabled')}
          </State>
        </>
      )}
    </EntryList>
  );
}
