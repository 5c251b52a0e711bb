/** The sites that a user may access. Managers and administrators may access every site of the account. */
import { Button, NativeSelect } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { Problem } from '../../parts/problem.tsx';
import { State } from '../../parts/state.tsx';
import classes from '../../parts/view.module.css';
import { useRenew } from './renew.ts';
import { toUserFields, type User } from './user-fields.ts';

const LEVELS = ['Read', 'Write', 'Admin'] as const;
type Level = (typeof LEVELS)[number];

/** @param user the stored user. */
export function SiteAccess({ user }: { readonly user: User }) {
  const { t } = useTranslation('people');
  const renew = useRenew(user.id);
  const path = { userId: user.id };
  const [siteId, setSiteId] = useState('');
  const [level, setLevel] = useState<Level>('Read');
  const isWhole = toUserFields(user).role !== 'USER';
  const sites = useQuery({
    queryKey: ['sites-by-name'],
    queryFn: () => bodyOf(api.GET('/sites')),
    enabled: !isWhole,
  });
  const grant = useMutation({
    mutationFn: () =>
      bodyOf(api.POST('/account/user/{userId}/sites', { params: { path }, body: [{ siteId: Number(siteId), level }] })),
    onSuccess: async () => {
      setSiteId('');
      await renew();
    },
  });
  const revoke = useMutation({
    mutationFn: (id: number) => bodyOf(api.DELETE('/account/user/{userId}/sites', { params: { path }, body: [id] })),
    onSuccess: renew,
  });
  const nameOfSite = (id: number) => sites.data?.find((site) => site.id === id)?.name ?? `#${id}`;
  const granted = new Set(user.sites.map((site) => site.siteId));
  const error = sites.error ?? grant.error ?? revoke.error;
  return (
    <section className={classes.card} aria-labelledby="sites">
      <h2 id="sites">{t('sites.title')}</h2>
      {isWhole && <p className={classes.soft}>{t('sites.every')}</p>}
      {!isWhole && user.sites.length === 0 && <p className={classes.soft}>{t('sites.none')}</p>}
      {!isWhole && (
        <>
          <ul className={classes.list}>
            {user.sites.map(({ siteId: id, level: given, sourceIds }) => (
              <li key={id} className={classes.row}>
                <span>
                  {nameOfSite(id)}
                  {sourceIds && (
                    <span className={classes.soft}> ({t('sites.sources', { count: sourceIds.length })})</span>
                  )}
                </span>
                <State tone="plain">{t(`sites.level.${given}`)}</State>
                <Button
                  size="compact-sm"
                  variant="default"
                  loading={revoke.isPending && revoke.variables === id}
                  onClick={() => revoke.mutate(id)}
                >
                  {t('sites.revoke')}
                </Button>
              </li>
            ))}
          </ul>
          <div className={`${classes.bar} ${classes.end}`}>
            <NativeSelect
              className={classes.grow ?? ''}
              label={t('sites.site')}
              data={[
                { value: '', label: t('sites.choose') },
                ...(sites.data ?? [])
                  .filter(({ id }) => !granted.has(id ?? 0))
                  .map(({ id, name }) => ({ value: String(id), label: name ?? `#${id}` })),
              ]}
              value={siteId}
              onChange={({ currentTarget }) => setSiteId(currentTarget.value)}
            />
            <NativeSelect
              label={t('sites.access')}
              data={LEVELS.map((value) => ({ value, label: t(`sites.level.${value}`) }))}
              value={level}
              onChange={({ currentTarget }) => setLevel(currentTarget.value as Level)}
            />
            <Button disabled={siteId === ''} loading={grant.isPending} onClick={() => grant.mutate()}>
              {t('sites.grant')}
            </Button>
          </div>
        </>
      )}
      {error && <Problem error={error} />}
    </section>
  );
}
