/** The parts of a user's page that edit push permissions, other claims, features and secondary accesses. */
import { Button, NativeSelect, Switch, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { useDraft } from '../../parts/draft.ts';
import { Problem } from '../../parts/problem.tsx';
import classes from '../../parts/view.module.css';
import { useRenew } from './renew.ts';
import { PERMISSIONS, type User } from './user-fields.ts';

interface UserProps {
  readonly user: User;
}

/** Shows a switch for each push permission. The switch is on when the user has the permission. */
export function Permissions({ user }: UserProps) {
  const { t } = useTranslation('people');
  const renew = useRenew(user.id);
  const path = { userId: user.id };
  const change = useMutation({
    mutationFn: async ({ claimType, isGiven }: { readonly claimType: string; readonly isGiven: boolean }) => {
      if (isGiven) {
        const body = { claimType, claimValue: 'true' };
        await bodyOf(api.POST('/account/user/{userId}/claims/add', { params: { path }, body }));
        return;
      }
      const body = user.claims
        .filter((claim) => claim.claimType === claimType)
        .map(({ claimValue }) => ({ claimType, claimValue }));
      await bodyOf(api.POST('/account/user/{userId}/claims/remove', { params: { path }, body }));
    },
    onSuccess: renew,
  });
  return (
    <section className={classes.card} aria-labelledby="permissions">
      <h2 id="permissions">{t('claims.title')}</h2>
      {PERMISSIONS.map((claimType) => (
        <Switch
          key={claimType}
          mt="xs"
          label={t(`claims.${claimType === 'datapusher.standard' ? 'standard' : 'custom'}`)}
          description={claimType}
          checked={user.claims.some((claim) => claim.claimType === claimType && isGranting(claim))}
          disabled={change.isPending}
          onChange={({ currentTarget }) => change.mutate({ claimType, isGiven: currentTarget.checked })}
        />
      ))}
      {change.error && <Problem error={change.error} />}
    </section>
  );
}

/** A claim grants its permission unless its value is `false`. */
const isGranting = ({ claimValue }: { readonly claimValue: string }) => claimValue.toLowerCase() !== 'false';

const EMPTY = { claimType: '', claimValue: '' };

/** Edits the claims that mean nothing to the service: other programs read these claims. */
export function OtherClaims({ user }: UserProps) {
  const { t } = useTranslation('people');
  const renew = useRenew(user.id);
  const [fields, setFields, dropFields] = useDraft(`claim.${user.id}`, EMPTY);
  const add = useMutation({
    mutationFn: () => bodyOf(api.POST('/account/user/claims/add', { body: { ...fields, userId: user.id } })),
    onSuccess: () => {
      dropFields(EMPTY);
      return renew();
    },
  });
  const others = user.claims.filter(({ claimType }) => !(PERMISSIONS as readonly string[]).includes(claimType));
  return (
    <section className={classes.card} aria-labelledby="claims">
      <h2 id="claims">{t('claims.others')}</h2>
      {others.length === 0 && <p className={classes.soft}>{t('claims.noOthers')}</p>}
      <ul className={classes.list}>
        {others.map((claim) => (
          <li key={claim.claimType}>
            <Claim userId={user.id} claimType={claim.claimType} claimValue={claim.claimValue} />
          </li>
        ))}
      </ul>
      <form
        className={`${classes.bar} ${classes.end}`}
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate();
        }}
      >
        {(['claimType', 'claimValue'] as const).map((name) => (
          <TextInput
            key={name}
            required
            label={t(name === 'claimType' ? 'claims.type' : 'claims.value')}
            value={fields[name]}
            onChange={({ currentTarget }) => setFields({ ...fields, [name]: currentTarget.value })}
          />
        ))}
        <Button type="submit" loading={add.isPending}>
          {t('claims.add')}
        </Button>
      </form>
      {add.error && <Problem error={add.error} />}
    </section>
  );
}

interface ClaimProps {
  readonly userId: string;
  readonly claimType: string;
  readonly claimValue: string;
}

function Claim({ userId, claimType, claimValue }: ClaimProps) {
  const { t } = useTranslation('people');
  const renew = useRenew(userId);
  const [value, setValue, dropValue] = useDraft(`claim.${userId}.${claimType}`, claimValue);
  const change = useMutation({
    mutationFn: () => bodyOf(api.PUT('/account/user/claims/edit', { body: { userId, claimType, claimValue: value } })),
    onSuccess: () => {
      dropValue(value);
      return renew();
    },
  });
  const remove = useMutation({
    mutationFn: () => bodyOf(api.DELETE('/account/user/claims/remove', { body: [{ userId, claimType, claimValue }] })),
    onSuccess: () => {
      dropValue(claimValue);
      return renew();
    },
  });
  const error = change.error ?? remove.error;
  return (
    <>
      <form
        className={classes.row}
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        <code>{claimType}</code>
        <TextInput
          size="xs"
          aria-label={t('claims.valueOf', { type: claimType })}
          value={value}
          onChange={({ currentTarget }) => setValue(currentTarget.value)}
        />
        <Button
          type="submit"
          size="compact-sm"
          variant="default"
          disabled={value === claimValue}
          loading={change.isPending}
        >
          {t('claims.change')}
        </Button>
        <ConfirmButton
          size="compact-sm"
          label={t('claims.remove')}
          question={t('claims.reallyRemove', { type: claimType })}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate()}
        />
      </form>
      {error && <Problem error={error} />}
    </>
  );
}

const LEVELS = ['None', 'Read', 'Write', 'Admin'] as const;
type Level = (typeof LEVELS)[number];

interface FeaturesProps extends UserProps {
  readonly kind: 'features' | 'secondaryAccesses';
}

/** Sets a user's level for each feature or secondary access. The service refuses a level above the account's level. */
export function Features({ user, kind }: FeaturesProps) {
  const { t } = useTranslation('people');
  const renew = useRenew(user.id);
  const path = { userId: user.id };
  const change = useMutation({
    mutationFn: (body: { id: number; level: Level }[]) =>
      kind === 'features'
        ? bodyOf(api.POST('/account/user/{userId}/features', { params: { path }, body }))
        : bodyOf(api.POST('/account/user/{userId}/secondaryAccesses', { params: { path }, body })),
    onSuccess: renew,
  });
  if (user[kind].length === 0) return null;
  return (
    <section className={classes.card} aria-labelledby={kind}>
      <h2 id={kind}>{t(kind === 'features' ? 'features.title' : 'features.secondary')}</h2>
      <div className={classes.form}>
        {user[kind].map(({ id, name, level }) => (
          <NativeSelect
            key={id}
            // The catalogue can grow: a feature without a translation keeps the name that the API returns.
            label={t(`features.names.${name as 'Data'}`, { defaultValue: name })}
            data={LEVELS.map((value) => ({ value, label: t(`features.level.${value}`) }))}
            value={level}
            disabled={change.isPending}
            onChange={({ currentTarget }) => change.mutate([{ id, level: currentTarget.value as Level }])}
          />
        ))}
      </div>
      {change.error && <Problem error={change.error} />}
    </section>
  );
}
