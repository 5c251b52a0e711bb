/** The users of the account, searched by the words of a name or mail address. */
import { Button, Skeleton, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { answerOf, api } from '../../api/client.ts';
import { Frame } from '../../parts/frame.tsx';
import { Ago } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { State } from '../../parts/state.tsx';
import classes from '../../parts/view.module.css';
import { nameOf } from './user-fields.ts';

const DELAY_MS = 250;
const PAGE_ROWS = 100;

/** The tab "Users" when no user is open. */
export function Users() {
  const { t } = useTranslation('people');
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
      <TextInput
        label={t('users.search')}
        type="search"
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          setPage(0);
        }}
      />
      {users.error && <Problem error={users.error} onRetry={() => void users.refetch()} />}
      {users.isPending && <Skeleton height={200} radius="md" mt="md" />}
      {users.data && (
        <>
          <p className={`${classes.soft} ${classes.bar}`} role="status">
            {t('users.found', { count: users.data.total })}
          </p>
          <Frame label={t('tab.users')}>
            <table className={classes.table}>
              <thead>
                <tr>
                  {(['name', 'email', 'role', 'lastLogin', 'state'] as const).map((name) => (
                    <th key={name} scope="col">
                      {t(`users.${name}`)}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
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
              </tbody>
            </table>
          </Frame>
          {users.data.total > PAGE_ROWS && (
            <p className={classes.bar}>
              <Button size="compact-sm" variant="default" disabled={page === 0} onClick={() => setPage(page - 1)}>
                {t('page.back')}
              </Button>
              <span className={classes.soft}>
                {t('page.of', { page: page + 1, pages: Math.ceil(users.data.total / PAGE_ROWS) })}
              </span>
              <Button
                size="compact-sm"
                variant="default"
                disabled={(page + 1) * PAGE_ROWS >= users.data.total}
                onClick={() => setPage(page + 1)}
              >
                {t('page.forth')}
              </Button>
            </p>
          )}
        </>
      )}
    </section>
  );
}
