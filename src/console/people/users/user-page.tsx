/** Shows one user: profile, role, permissions, site access, features, claims, and buttons such as lock and delete. */
import { Button, Skeleton } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { useDraft } from '../../parts/draft.ts';
import { formatMoment } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { SaveBar } from '../../parts/save-bar.tsx';
import { State } from '../../parts/state.tsx';
import classes from '../../parts/view.module.css';
import { type Role, useSession } from '../../session/session.tsx';
import { notifyDone } from '../../shell/notify.ts';
import { Features, OtherClaims, Permissions } from './claims.tsx';
import { PersonFields } from './person-fields.tsx';
import { useRenew } from './renew.ts';
import { SiteAccess } from './site-access.tsx';
import { nameOf, rolesToGive, toUserFields, type User, type UserFields } from './user-fields.ts';

/** Page of one user. The tab "Users" shows it in place of the list of users. */
export function UserPage({ id }: { readonly id: string }) {
  const { t } = useTranslation('people');
  const user = useQuery({
    queryKey: ['user', id],
    queryFn: () => bodyOf(api.GET('/account/user/{userId}', { params: { path: { userId: id } } })),
  });
  return (
    <>
      <p className={classes.bar}>
        <Link to="/console/people">{t('users.all')}</Link>
      </p>
      {user.error && <Problem error={user.error} onRetry={() => void user.refetch()} />}
      {user.isPending && <Skeleton height={300} radius="md" />}
      {user.data && (
        <>
          <Profile user={user.data} />
          <Permissions user={user.data} />
          <SiteAccess user={user.data} />
          <Features user={user.data} kind="features" />
          <Features user={user.data} kind="secondaryAccesses" />
          <OtherClaims user={user.data} />
        </>
      )}
    </>
  );
}

function Profile({ user }: { readonly user: User }) {
  const { t } = useTranslation('people');
  const { role, userId: myId } = useSession();
  const { id } = user;
  const path = { userId: id };
  const navigate = useNavigate();
  const renew = useRenew(id);
  const saved = toUserFields(user);
  const [fields, setFields, dropFields] = useDraft<UserFields>(`user.${id}`, saved);
  const isChanged = JSON.stringify(fields) !== JSON.stringify(saved);
  const save = useMutation({
    mutationFn: () => {
      const { role: given, firstName, lastName, email, phoneNumber, language } = fields;
      const texts = { firstName: firstName || null, lastName: lastName || null, phoneNumber: phoneNumber || null };
      return bodyOf(
        api.POST('/account/user/{userId}', {
          params: { path },
          body: { ...texts, email: email || null, language, ...(given !== saved.role && { roles: [given] }) },
        }),
      );
    },
    onSuccess: async () => {
      dropFields(fields);
      notifyDone(t('users.saved'));
      await renew();
    },
  });
  const lock = useMutation({
    mutationFn: () =>
      bodyOf(api.POST('/account/user/{userId}/lock', { params: { path }, body: { isLocked: !user.isLocked } })),
    onSuccess: renew,
  });
  const reset = useMutation({
    mutationFn: () => bodyOf(api.POST('/account/user/{userId}/resetpassword', { params: { path } })),
    onSuccess: () => notifyDone(t('users.mailed')),
  });
  const remove = useMutation({
    mutationFn: () => bodyOf(api.DELETE('/account/user/{userId}', { params: { path } })),
    onSuccess: async () => {
      await navigate({ to: '/console/people' });
      await renew();
    },
  });
  const error = save.error ?? lock.error ?? reset.error ?? remove.error;
  return (
    <section className={classes.card} aria-labelledby="user">
      <div className={`${classes.bar} ${classes.between}`}>
        <h2 id="user">{nameOf(user)}</h2>
        <State tone={user.isLocked ? 'bad' : 'good'}>{t(user.isLocked ? 'users.locked' : 'users.active')}</State>
      </div>
      <p className={classes.soft}>
        {user.userName} · {user.accounts.map(({ name }) => name).join(', ')}
        {user.lockedUntil && ` · ${t('users.lockedUntil', { date: formatMoment(user.lockedUntil) })}`}
      </p>
      <div className={`${classes.form} ${classes.bar}`}>
        <PersonFields
          fields={fields}
          names={['firstName', 'lastName', 'email', 'phoneNumber']}
          roles={[...new Set<Role>([...rolesToGive(role), saved.role])]}
          isRoleFixed={id === myId || (saved.role === 'ADMIN' && role !== 'ADMIN')}
          onChange={setFields}
        />
      </div>
      {error && <Problem error={error} />}
      <SaveBar
        isChanged={isChanged}
        isBusy={save.isPending}
        onSave={() => save.mutate()}
        onDiscard={() => dropFields(saved)}
      >
        <Button variant="default" loading={reset.isPending} onClick={() => reset.mutate()}>
          {t('users.reset')}
        </Button>
        {id !== myId && (
          <>
            <ConfirmButton
              label={t(user.isLocked ? 'users.unlock' : 'users.lock')}
              question={t(user.isLocked ? 'users.reallyUnlock' : 'users.reallyLock', { name: nameOf(user) })}
              isBusy={lock.isPending}
              onConfirm={() => lock.mutate()}
            />
            <ConfirmButton
              label={t('delete')}
              question={t('users.reallyDelete', { name: nameOf(user) })}
              isBusy={remove.isPending}
              onConfirm={() => remove.mutate()}
            />
          </>
        )}
      </SaveBar>
      <p className={`${classes.soft} ${classes.bar}`}>
        <Link to="/console/people" search={{ tab: 'audit', by: id }}>
          {t('users.did')}
        </Link>
        <Link to="/console/people" search={{ tab: 'audit', target: id }}>
          {t('users.happened')}
        </Link>
      </p>
    </section>
  );
}
