/** OAuth clients and signing keys, for administrators. */
import { Button, Skeleton } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { formatMoment } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { State, type Tone } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import classes from '../../parts/view.module.css';
import { notifyDone } from '../../shell/notify.ts';
import { useClients } from './client-queries.ts';

/** The tab "Clients and keys". */
export function Clients() {
  const { t } = useTranslation('people');
  const navigate = useNavigate();
  const clients = useClients();
  return (
    <>
      <section className={classes.card} aria-labelledby="clients">
        <div className={`${classes.bar} ${classes.between}`}>
          <h2 id="clients">{t('clients.clients')}</h2>
          <Button onClick={() => void navigate({ to: '/console/people', search: { tab: 'clients', client: 'new' } })}>
            {t('clients.create')}
          </Button>
        </div>
        {clients.error && <Problem error={clients.error} onRetry={() => void clients.refetch()} />}
        {clients.isPending && <Skeleton height={160} radius="md" />}
        {clients.data && (
          <Table
            label={t('clients.clients')}
            columns={(['client', 'scopes', 'grants', 'created', 'state'] as const).map((name) => t(`clients.${name}`))}
          >
            {clients.data.map(({ clientId, name, scopes, grantTypes, isPublic, isEnabled, createdDate }) => (
              <tr key={clientId}>
                <td>
                  <Link to="/console/people" search={{ tab: 'clients', client: clientId }}>
                    {clientId}
                  </Link>
                  {name !== null && <div className={classes.soft}>{name}</div>}
                  {isPublic && <div className={classes.soft}>{t('clients.public')}</div>}
                </td>
                <td>{scopes.join(' ')}</td>
                <td>{grantTypes.map((grant) => grant.split(':').at(-1)).join(', ')}</td>
                <td className={classes.nowrap}>{formatMoment(createdDate)}</td>
                <td>
                  <State tone={isEnabled ? 'good' : 'bad'}>
                    {t(isEnabled ? 'clients.enabled' : 'clients.disabled')}
                  </State>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </section>
      <SigningKeys />
    </>
  );
}

const TONES: Readonly<Record<'Next' | 'Signing' | 'Verifying', Tone>> = {
  Next: 'warn',
  Signing: 'good',
  Verifying: 'plain',
};

function SigningKeys() {
  const { t } = useTranslation('people');
  const queries = useQueryClient();
  const keys = useQuery({ queryKey: ['signingKeys'], queryFn: () => bodyOf(api.GET('/admin/signingKeys')) });
  const add = useMutation({
    mutationFn: () => bodyOf(api.POST('/admin/signingKeys')),
    onSuccess: async () => {
      notifyDone(t('clients.keyAdded'));
      await queries.invalidateQueries({ queryKey: ['signingKeys'] });
    },
  });
  const error = keys.error ?? add.error;
  return (
    <section className={classes.card} aria-labelledby="keys">
      <div className={`${classes.bar} ${classes.between}`}>
        <h2 id="keys">{t('clients.keys')}</h2>
        <ConfirmButton
          label={t('clients.addKey')}
          question={t('clients.reallyAddKey')}
          isBusy={add.isPending}
          onConfirm={() => add.mutate()}
        />
      </div>
      {error && <Problem error={error} />}
      {keys.isPending && <Skeleton height={80} radius="md" />}
      {keys.data && (
        <Table
          label={t('clients.keys')}
          columns={(['key', 'algorithm', 'state', 'created'] as const).map((name) => t(`clients.${name}`))}
        >
          {keys.data.map(({ kid, algorithm, state, createdDate, signsFrom }) => (
            <tr key={kid}>
              <td>
                <code>{kid}</code>
              </td>
              <td>{algorithm}</td>
              <td>
                <State tone={TONES[state]}>{t(`clients.states.${state}`)}</State>
                {signsFrom !== null && (
                  <div className={classes.soft}>{t('clients.signsFrom', { date: formatMoment(signsFrom) })}</div>
                )}
              </td>
              <td className={classes.nowrap}>{formatMoment(createdDate)}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
