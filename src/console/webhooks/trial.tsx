/** A test message: what was sent, and what the receiver answered. */
import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../api/client.ts';
import { Problem } from '../parts/problem.tsx';
import { State } from '../parts/state.tsx';
import classes from '../parts/view.module.css';
import { Exchange } from './exchange.tsx';

const REFRESH_MS = 500;

/** Shows a test message, and reloads it until the test has ended. @param id id of the test. */
export function Trial({ id }: { readonly id: string }) {
  const { t } = useTranslation('webhooks');
  const trial = useQuery({
    queryKey: ['webhook-test', id],
    queryFn: () => bodyOf(api.GET('/account/webhooks/test/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state: { data } }) => (data?.state === 'Pending' ? REFRESH_MS : false),
  });
  if (trial.error) return <Problem error={trial.error} onRetry={() => void trial.refetch()} />;
  if (!trial.data) return <Skeleton height={160} radius="md" />;
  const { state, request, response, error } = trial.data;
  return (
    <section className={classes.card} aria-labelledby="trial">
      <div className={`${classes.bar} ${classes.between}`}>
        <h2 id="trial">{t('trial')}</h2>
        <span role="status">
          <State tone={state === 'Succeeded' ? 'good' : state === 'Failed' ? 'bad' : 'plain'}>
            {t(`state.${state}`)}
          </State>
        </span>
      </div>
      <Exchange request={request ?? undefined} response={response} error={error} />
    </section>
  );
}
