/**
 * The audit trail of the account. An administrator can choose a wider scope. The filters are in the URL of the page, so
 * that results can be shared.
 */
import { Button, NativeSelect, Skeleton, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { answerOf, api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { formatMoment } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Pages, Table } from '../../parts/table.tsx';
import classes from '../../parts/view.module.css';
import { useSession } from '../../session/session.tsx';
import { en } from '../texts/en.ts';
import { nameOf } from '../users/user-fields.ts';

type Action = components['schemas']['AuditEntry']['action'];

/** `Record` requires a text for every action of the API. */
const ACTION_TEXTS: Readonly<Record<Action, string>> = en.auditActions;
/** Actions that can be searched for. */
const ACTIONS = Object.keys(ACTION_TEXTS) as Action[];

const route = getRouteApi('/console/people');
const PAGE_ROWS = 100;

/** The tab "Audit trail". */
export function Audit() {
  const { t } = useTranslation('people');
  const { role } = useSession();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [page, setPage] = useState(0);
  const { action, by, target, from, to, scope } = search;
  const isFiltered = [action, by, target, from, to].some((filter) => filter !== undefined);
  const set = (change: typeof search) => {
    setPage(0);
    // A filter with an empty text is left out of the URL.
    const next = Object.entries({ ...search, ...change, tab: 'audit' }).filter(([, value]) => value !== '');
    void navigate({ search: Object.fromEntries(next), replace: true });
  };
  const users = useQuery({
    queryKey: ['user-names'],
    queryFn: () => bodyOf(api.GET('/account/usermapping', { params: { query: { pageNumber: 0, itemsPerPage: 500 } } })),
  });
  const entries = useQuery({
    queryKey: ['audit', action, by, target, from, to, scope, page],
    queryFn: () =>
      answerOf(
        api.GET('/account/audit', {
          params: {
            query: {
              pageNumber: page,
              itemsPerPage: PAGE_ROWS,
              includeItemsCount: true,
              ...(action !== undefined && { action: action as Action }),
              ...(by !== undefined && { userId: by }),
              ...(target !== undefined && { targetId: target }),
              ...(from !== undefined && { from: toInstant(from, 0) }),
              ...(to !== undefined && { to: toInstant(to, 1) }),
              ...(scope !== undefined && { scope: scope as 'All' }),
            },
          },
        }),
      ),
    placeholderData: keepPreviousData,
  });
  return (
    <section className={classes.card} aria-label={t('tab.audit')}>
      <div className={classes.form}>
        <NativeSelect
          label={t('audit.who')}
          data={[
            { value: '', label: t('audit.everyone') },
            ...(users.data ?? []).map((user) => ({ value: user.id, label: nameOf(user) })),
          ]}
          value={by ?? ''}
          onChange={({ currentTarget }) => set({ by: currentTarget.value })}
        />
        <NativeSelect
          label={t('audit.action')}
          data={[
            { value: '', label: t('audit.every') },
            ...ACTIONS.map((value) => ({ value, label: t(`auditActions.${value}`) })),
          ]}
          value={action ?? ''}
          onChange={({ currentTarget }) => set({ action: currentTarget.value })}
        />
        <TextInput
          label={t('audit.target')}
          value={target ?? ''}
          onChange={({ currentTarget }) => set({ target: currentTarget.value })}
        />
        <TextInput
          type="date"
          label={t('audit.from')}
          value={from ?? ''}
          onChange={({ currentTarget }) => set({ from: currentTarget.value })}
        />
        <TextInput
          type="date"
          label={t('audit.to')}
          value={to ?? ''}
          onChange={({ currentTarget }) => set({ to: currentTarget.value })}
        />
        {role === 'ADMIN' && (
          <NativeSelect
            label={t('audit.scope')}
            data={(['Account', 'Operator', 'All'] as const).map((value) => ({
              value,
              label: t(`audit.scopes.${value}`),
            }))}
            value={scope ?? 'Account'}
            onChange={({ currentTarget }) =>
              set({ scope: currentTarget.value === 'Account' ? '' : currentTarget.value })
            }
          />
        )}
      </div>
      {(entries.error ?? users.error) && <Problem error={entries.error ?? users.error} />}
      {entries.isPending && <Skeleton height={240} radius="md" mt="md" />}
      {entries.data && (
        <>
          <p className={`${classes.soft} ${classes.bar}`} role="status">
            {t('audit.found', { count: entries.data.total })}
          </p>
          {entries.data.body.length === 0 && (
            <p className={classes.soft}>{t(isFiltered ? 'audit.none' : 'audit.nothing')}</p>
          )}
          {entries.data.body.length > 0 && (
            <Table
              label={t('tab.audit')}
              columns={(['date', 'who', 'action', 'target', 'details'] as const).map((name) => t(`audit.${name}`))}
            >
              {entries.data.body.map((entry) => (
                <tr key={entry.id}>
                  <td className={classes.nowrap}>{formatMoment(entry.date)}</td>
                  <td>
                    {entry.userName}
                    {entry.impersonator && (
                      <div className={classes.soft}>{t('audit.as', { name: entry.impersonator.userName })}</div>
                    )}
                  </td>
                  <td className={classes.nowrap}>
                    <span title={entry.action}>{t(`auditActions.${entry.action}`)}</span>
                  </td>
                  <td>
                    {entry.targetId !== null && (
                      <Button size="compact-sm" variant="subtle" onClick={() => set({ target: entry.targetId ?? '' })}>
                        {entry.targetName ?? entry.targetId}
                      </Button>
                    )}
                  </td>
                  <td>
                    {Object.keys(entry.details).length > 0 && <code>{JSON.stringify(entry.details)}</code>}
                    {entry.requestId !== null && (
                      <div className={classes.soft}>{t('audit.request', { id: entry.requestId })}</div>
                    )}
                  </td>
                </tr>
              ))}
            </Table>
          )}
          <Pages page={page} pageRows={PAGE_ROWS} total={entries.data.total} onChange={setPage} />
        </>
      )}
    </section>
  );
}

/** @returns midnight `days` days after `day`, in the browser's zone; `day` itself when `day` is not a date. */
function toInstant(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00`);
  if (Number.isNaN(date.getTime())) return day;
  date.setDate(date.getDate() + days);
  return date.toISOString();
}
