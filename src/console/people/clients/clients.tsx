/** OAuth clients and signing keys, read-only, for administrators. */
import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { formatMoment } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { State } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import classes from '../../parts/view.module.css';

/** The tab "Clients and keys". */
export function Clients() {
  const { t } = useTranslation('people');
  const report = useQuery({ queryKey: ['installation'], queryFn: () => bodyOf(api.GET('/admin/operate')) });
  if (report.error) return <Problem error={report.error} onRetry={() => void report.refetch()} />;
  if (!report.data) return <Skeleton height={240} radius="md" />;
  const { clients, signingKeys } = report.data;
  return (
    <>
      <section className={classes.card} aria-labelledby="clients">
        <h2 id="clients">{t('tab.clients')}</h2>
        <Table
          label={t('clients.client')}
          columns={(['client', 'scopes', 'grants', 'created'] as const).map((name) => t(`clients.${name}`))}
        >
          {clients.map(({ clientId, scopes, grantTypes, isPublic, createdDate }) => (
            <tr key={clientId}>
              <td>
                <code>{clientId}</code>
                {isPublic && <div className={classes.soft}>{t('clients.public')}</div>}
              </td>
              <td>{scopes.join(' ')}</td>
              <td>{grantTypes.join(', ')}</td>
              <td className={classes.nowrap}>{formatMoment(createdDate)}</td>
            </tr>
          ))}
        </Table>
        <p className={`${classes.soft} ${classes.bar}`}>{t('clients.hint')}</p>
      </section>
      <section className={classes.card} aria-labelledby="keys">
        <h2 id="keys">{t('clients.keys')}</h2>
        <Table
          label={t('clients.keys')}
          columns={(['key', 'algorithm', 'state', 'created'] as const).map((name) => t(`clients.${name}`))}
        >
          {signingKeys.map(({ kid, algorithm, state, createdDate }) => (
            <tr key={kid}>
              <td>
                <code>{kid}</code>
              </td>
              <td>{algorithm}</td>
              <td>
                <State tone={state === 'active' ? 'good' : 'plain'}>{t(`clients.states.${state}`)}</State>
              </td>
              <td className={classes.nowrap}>{formatMoment(createdDate)}</td>
            </tr>
          ))}
        </Table>
      </section>
    </>
  );
}
