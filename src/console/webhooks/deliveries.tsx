/**
 * The last delivery attempts of a webhook, newest first. The list is refreshed every few seconds while the page is
 * visible. Each attempt can be opened. An attempt that has ended has a button that sends the message again.
 */
import { Button, Skeleton } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { answerOf, api, bodyOf } from '../api/client.ts';
import { Ago } from '../parts/moment.tsx';
import { Problem } from '../parts/problem.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import classes from '../parts/view.module.css';
import { notifyDone } from '../shell/notify.ts';
import { formatNumber } from '../texts/language.ts';
import { Exchange } from './exchange.tsx';

const PAGE_ROWS = 50;
const REFRESH_MS = 3000;
const STATES = ['Pending', 'Succeeded', 'Failed'] as const;
type AttemptState = (typeof STATES)[number];

/** Lists the last delivery attempts of a webhook. @param id the webhook's id. */
export function Deliveries({ id }: { readonly id: string }) {
  const { t } = useTranslation('webhooks');
  const [state, setState] = useState<AttemptState>();
  const [open, setOpen] = useState<string>();
  const queries = useQueryClient();
  const deliveries = useQuery({
    queryKey: ['deliveries', id, state],
    queryFn: () =>
      answerOf(
        api.GET('/account/webhooks/{id}/history', {
          params: {
            path: { id },
            query: {
              pageNumber: 0,
              itemsPerPage: PAGE_ROWS,
              includeItemsCount: true,
              ...(state !== undefined && { state: [state] }),
            },
          },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const replay = useMutation({
    mutationFn: (historyId: string) =>
      bodyOf(api.POST('/account/webhooks/{id}/history/{historyId}/replay', { params: { path: { id, historyId } } })),
    onSuccess: async () => {
      notifyDone(t('replayed'));
      await queries.invalidateQueries({ queryKey: ['deliveries', id] });
    },
  });
  return (
    <section className={classes.card} aria-labelledby="deliveries">
      <h2 id="deliveries">{t('deliveries')}</h2>
      <p className={classes.bar}>
        {([undefined, ...STATES] as const).map((each) => (
          <Button
            key={each ?? 'all'}
            size="compact-sm"
            variant={each === state ? 'filled' : 'default'}
            aria-pressed={each === state}
            onClick={() => setState(each)}
          >
            {t(each === undefined ? 'allStates' : `state.${each}`)}
          </Button>
        ))}
      </p>
      {(deliveries.error ?? replay.error) && <Problem error={deliveries.error ?? replay.error} />}
      {deliveries.isPending && <Skeleton height={160} radius="md" />}
      {deliveries.data?.body.length === 0 && <p className={classes.soft}>{t('noDeliveries')}</p>}
      {deliveries.data && deliveries.data.body.length > 0 && (
        <Table
          label={t('deliveries')}
          columns={[
            (['date', 'attempt', 'state', 'answer', 'duration'] as const).map((name) => t(`column.${name}`)),
            t('column.actions'),
          ].flat()}
        >
          {deliveries.data.body.map((entry) => (
            <Fragment key={entry.id}>
              <tr>
                <td className={classes.nowrap}>
                  <Ago instant={entry.date} />
                </td>
                <td>
                  {entry.attempt}
                  {entry.isReplay && ` (${t('isReplay')})`}
                </td>
                <td>
                  <State tone={entry.state === 'Succeeded' ? 'good' : entry.state === 'Failed' ? 'bad' : 'plain'}>
                    {t(`state.${entry.state}`)}
                  </State>
                </td>
                <td>{entry.response?.status ?? entry.error ?? '–'}</td>
                <td className={classes.nowrap}>
                  {entry.durationMs === undefined ? '–' : `${formatNumber(entry.durationMs)} ms`}
                </td>
                <td className={classes.nowrap}>
                  <Button
                    size="compact-sm"
                    variant="subtle"
                    aria-expanded={open === entry.id}
                    onClick={() => setOpen(open === entry.id ? undefined : entry.id)}
                  >
                    {t('show')}
                  </Button>{' '}
                  {entry.state !== 'Pending' && (
                    <Button
                      size="compact-sm"
                      variant="default"
                      loading={replay.isPending && replay.variables === entry.id}
                      onClick={() => replay.mutate(entry.id)}
                    >
                      {t('replay')}
                    </Button>
                  )}
                </td>
              </tr>
              {open === entry.id && (
                <tr>
                  <td colSpan={6}>
                    <Exchange request={entry.request} response={entry.response} error={entry.error} />
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </Table>
      )}
      {deliveries.data && deliveries.data.total > PAGE_ROWS && (
        <p className={classes.soft}>{t('first', { shown: PAGE_ROWS, count: deliveries.data.total })}</p>
      )}
    </section>
  );
}
