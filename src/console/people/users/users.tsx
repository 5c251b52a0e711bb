/** Lists the users of the account and searches them by name or email address. */
import { Button, Skeleton, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { answerOf, api } from '../../api/client.ts';
import { Ago } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { State } from '../../parts/state.tsx';
import { Pages, Table } from '../../parts/table.tsx';
import classes from '../../parts/view.module.css';
import { nameOf } from './user-fields.ts';

const DELAY_MS = 250;
const PAGE_ROWS = 100;

/** The tab "Users" when no user is open. */
export function Users() {
  const { t } = useTranslation('people');
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [words] = useDebouncedValue(text.trim(), DELAY_MS);
  const [page, setPage] = useState(0);
  const users = useQuery({
    queryKey: ['users', words, page],
    queryFn: () =>
      answerOf(
        api.GET('/account/users', {
          params: {
            query: {
              DisplayLevel: 'Verbose',
              'Paging.PageNumber': page,
              'Paging.ItemsPerPage': PAGE_ROWS,
              includeItemsCount: true,
              ...(words !== '' && { SearchText: words }),
            },
          },
        }),
      ),
    placeholderData: keepPreviousData,
  });
  return (
    <section className={classes.card} aria-label={t('tab.users')}>
      <div className={`${classes.bar} ${classes.end}`}>
        <TextInput
          className={classes.grow ?? ''}
          label={t('users.search')}
          type="search"
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            setPage(0);
          }}
        />
        <Button onClick={() => void navigate({ to: '/console/people', search: { user: 'new' } })}>
          {t('users.create')}
        </Button>
      </div>
      {users.error && <Problem error={users.error} onRetry={() => void users.refetch()} />}
      {users.isPending && <Skeleton height={200} radius="md" mt="md" />}
      {users.data && (
        <>
          <p className={`${classes.soft} ${classes.bar}`} role="status">
            {t('users.found', { count: users.data.total })}
          </p>
          <Table
            label={t('tab.users')}
            columns={(['name', 'email', 'role', 'lastLogin', 'state'] as const).map((name) => t(`users.${name}`))}
          >
            {users.data.body.map((user) => (
              <tr key={user.id}>
                <td>
                  <Link to="/console/people" search={{ user: user.id }}>
                    {nameOf(user)}
                  </Link>
                </td>
                <td>{user.email}</td>
                <td>{(user.roles ?? []).map(({ name }) => t(`role.${name as 'ADMIN'}`)).join(', ')}</td>
                <td>{user.lastLoginDate ? <Ago instant={user.lastLoginDate} /> : t('users.never')}</td>
                <td>
                  <State tone={user.isLocked ? 'bad' : 'good'}>
                    {t(user.isLocked ? 'users.locked' : 'users.active')}
                  </State>
                </td>
              </tr>
            ))}
          </Table>
          <Pages page={page} pageRows={PAGE_ROWS} total={users.data.total} onChange={setPage} />
        </>
      )}
    </section>
  );
}
