/**
 * The sites that a user may access: whole sites, or only some of their sources. Managers and administrators may access
 * every site of the account.
 */
import { Button, MultiSelect, NativeSelect } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { useDraft } from '../../parts/draft.ts';
import { Problem } from '../../parts/problem.tsx';
import classes from '../../parts/view.module.css';
import { useRenew } from './renew.ts';
import { toUserFields, type User } from './user-fields.ts';

const LEVELS = ['Read', 'Write', 'Admin'] as const;
type Level = (typeof LEVELS)[number];

/** The form requests at most this number of sources of a site. */
const MAX_SOURCES = 1000;

/** Form for the sites and sources that a user may use. @param user the user as stored. */
export function SiteAccess({ user }: { readonly user: User }) {
  const { t } = useTranslation('people');
  const isWhole = toUserFields(user).role !== 'USER';
  const sites = useQuery({
    queryKey: ['sites-by-name'],
    queryFn: () => bodyOf(api.GET('/sites')),
    enabled: !isWhole,
  });
  const nameOfSite = (id: number) => sites.data?.find((site) => site.id === id)?.name ?? `#${id}`;
  return (
    <section className={classes.card} aria-labelledby="sites">
      <h2 id="sites">{t('sites.title')}</h2>
      {isWhole && <p className={classes.soft}>{t('sites.every')}</p>}
      {!isWhole && user.sites.length === 0 && <p className={classes.soft}>{t('sites.none')}</p>}
      {!isWhole && (
        <>
          <ul className={classes.list}>
            {user.sites.map((access) => (
              <li key={access.siteId}>
                <Granted userId={user.id} access={access} siteName={nameOfSite(access.siteId)} />
              </li>
            ))}
          </ul>
          <Grant user={user} sites={sites.data ?? []} />
        </>
      )}
      {sites.error && <Problem error={sites.error} />}
    </section>
  );
}

type Access = User['sites'][number];

/** @returns a mutation that grants access to one site, replacing an earlier grant of that site. */
function useGrant(userId: string, onDone?: () => void) {
  const renew = useRenew(userId);
  return useMutation({
    mutationFn: ({ sourceIds = null, ...grant }: { siteId: number; level: Level; sourceIds?: number[] | null }) =>
      bodyOf(
        api.POST('/account/user/{userId}/sites', { params: { path: { userId } }, body: [{ ...grant, sourceIds }] }),
      ),
    onSuccess: () => {
      onDone?.();
      return renew();
    },
  });
}

interface GrantedProps {
  readonly userId: string;
  readonly access: Access;
  readonly siteName: string;
}

/**
 * One site to which the user has access. A new access level is saved as soon as it is chosen. Only the choice of
 * sources has a form to submit.
 */
function Granted({ userId, access, siteName }: GrantedProps) {
  const { t } = useTranslation('people');
  const { siteId, level, sourceIds } = access;
  const renew = useRenew(userId);
  const [isOpen, setOpen] = useState(false);
  const grant = useGrant(userId);
  const revoke = useMutation({
    mutationFn: () =>
      bodyOf(api.DELETE('/account/user/{userId}/sites', { params: { path: { userId } }, body: [siteId] })),
    onSuccess: renew,
  });
  const error = grant.error ?? revoke.error;
  return (
    <>
      <div className={classes.row}>
        <span>
          {siteName}{' '}
          <span className={classes.soft}>
            ({sourceIds ? t('sites.sources', { count: sourceIds.length }) : t('sites.wholeShort')})
          </span>
        </span>
        <NativeSelect
          aria-label={t('sites.levelOf', { site: siteName })}
          size="xs"
          data={LEVELS.map((value) => ({ value, label: t(`sites.level.${value}`) }))}
          value={level}
          disabled={grant.isPending}
          onChange={({ currentTarget }) =>
            grant.mutate({ siteId, level: currentTarget.value as Level, sourceIds: sourceIds ?? null })
          }
        />
        <Button size="compact-sm" variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t('sites.choices')}
        </Button>
        <Button size="compact-sm" variant="default" loading={revoke.isPending} onClick={() => revoke.mutate()}>
          {t('sites.revoke')}
        </Button>
      </div>
      {isOpen && <Sources userId={userId} access={access} siteName={siteName} onSaved={() => setOpen(false)} />}
      {error && <Problem error={error} />}
    </>
  );
}

function Sources({ userId, access, siteName, onSaved }: GrantedProps & { readonly onSaved: () => void }) {
  const { t } = useTranslation('people');
  const { siteId, level, sourceIds = [] } = access;
  const saved = sourceIds.map(String);
  const [chosen, setChosen, dropChosen] = useDraft<readonly string[]>(`access.${userId}.${siteId}`, saved);
  const sources = useQuery({
    queryKey: ['sources-of', siteId],
    queryFn: () => {
      const query = { siteIds: [siteId], pageNumber: 0, itemsPerPage: MAX_SOURCES };
      return bodyOf(api.GET('/sources', { params: { query } }));
    },
  });
  const grant = useGrant(userId, () => {
    dropChosen(chosen);
    onSaved();
  });
  const known = (sources.data ?? []).map(({ id, name }) => ({ value: String(id), label: name || `#${id}` }));
  const others = chosen.filter((id) => !known.some(({ value }) => value === id));
  return (
    <form
      className={`${classes.bar} ${classes.end}`}
      onSubmit={(event) => {
        event.preventDefault();
        grant.mutate({ siteId, level, sourceIds: chosen.length === 0 ? null : chosen.map(Number) });
      }}
    >
      <MultiSelect
        className={classes.grow ?? ''}
        label={t('sites.sourcesOf', { site: siteName })}
        placeholder={chosen.length === 0 ? t('sites.whole') : ''}
        searchable
        limit={100}
        // A click on an empty list would leave the list closed even after the options arrive. So the field is disabled
        // until the options arrive.
        disabled={!sources.data}
        data={[...known, ...others.map((value) => ({ value, label: `#${value}` }))]}
        value={[...chosen]}
        onChange={setChosen}
      />
      <Button type="submit" loading={grant.isPending}>
        {t('sites.save')}
      </Button>
      {(sources.error ?? grant.error) && <Problem error={sources.error ?? grant.error} />}
    </form>
  );
}

interface GrantFields {
  /** Empty when no site is chosen. */
  readonly siteId: string;
  readonly level: Level;
}

const NO_GRANT: GrantFields = { siteId: '', level: 'Read' };

interface GrantProps {
  readonly user: User;
  readonly sites: readonly { readonly id?: number; readonly name?: string }[];
}

/** Form that grants the user access to one more site. */
function Grant({ user, sites }: GrantProps) {
  const { t } = useTranslation('people');
  const [{ siteId, level }, setFields, dropFields] = useDraft<GrantFields>(`grant.${user.id}`, NO_GRANT);
  const grant = useGrant(user.id, () => dropFields());
  const granted = new Set(user.sites.map((site) => site.siteId));
  // After this draft began, another window may have granted access to the site that the draft names.
  const chosen = granted.has(Number(siteId)) ? '' : siteId;
  return (
    <>
      <div className={`${classes.bar} ${classes.end}`}>
        <NativeSelect
          className={classes.grow ?? ''}
          label={t('sites.site')}
          data={[
            { value: '', label: t('sites.choose') },
            ...sites
              .filter(({ id }) => !granted.has(id ?? 0))
              .map(({ id, name }) => ({ value: String(id), label: name ?? `#${id}` })),
          ]}
          value={chosen}
          onChange={({ currentTarget }) => setFields({ siteId: currentTarget.value, level })}
        />
        <NativeSelect
          label={t('sites.access')}
          data={LEVELS.map((value) => ({ value, label: t(`sites.level.${value}`) }))}
          value={level}
          onChange={({ currentTarget }) => setFields({ siteId, level: currentTarget.value as Level })}
        />
        <Button
          disabled={chosen === ''}
          loading={grant.isPending}
          onClick={() => grant.mutate({ siteId: Number(siteId), level })}
        >
          {t('sites.grant')}
        </Button>
      </div>
      {grant.error && <Problem error={grant.error} />}
    </>
  );
}
