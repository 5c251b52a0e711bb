/** The account's own settings. */
import { NativeSelect, Select, Skeleton, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { useDraft } from '../../parts/draft.ts';
import { Problem } from '../../parts/problem.tsx';
import { SaveBar } from '../../parts/save-bar.tsx';
import classes from '../../parts/view.module.css';
import { notifyDone } from '../../shell/notify.ts';
import { useTimeZones } from '../../structure/structure-queries.ts';

type Account = components['schemas']['Account'];

/** The tab "Account". */
export function AccountSettings() {
  const account = useQuery({
    queryKey: ['account'],
    queryFn: () => bodyOf(api.GET('/account', { params: { query: { displayLevel: 'Normal' } } })),
  });
  if (account.error) return <Problem error={account.error} onRetry={() => void account.refetch()} />;
  if (!account.data) return <Skeleton height={280} radius="md" />;
  return <Editor account={account.data} />;
}

function toFields({ name, language, timeZoneId, currency, versionLimit, emailSettings, smsSettings }: Account) {
  return {
    ...{ name: name ?? '', language: language ?? '', timeZoneId: timeZoneId ?? '', currency: currency ?? '' },
    versionLimit: String(versionLimit ?? ''),
    emailSender: emailSettings?.senderName ?? '',
    replyTo: emailSettings?.replyTo ?? '',
    smsSender: smsSettings?.senderName ?? '',
  };
}

type Fields = ReturnType<typeof toFields>;

/** Sends only the settings that changed. When one of the two `emailSettings` changed, sends both. */
async function save(fields: Fields, saved: Fields): Promise<unknown> {
  const { name, language, timeZoneId, currency, versionLimit, emailSender, replyTo, smsSender } = fields;
  const isChanged = (...names: (keyof Fields)[]) => names.some((each) => fields[each] !== saved[each]);
  const body = {
    ...(isChanged('name') && { name }),
    ...(isChanged('language') && { language }),
    ...(isChanged('timeZoneId') && { timeZoneId }),
    ...(isChanged('currency') && { currency: currency.trim() || null }),
    ...(isChanged('versionLimit') && { versionLimit: Number(versionLimit) }),
    ...(isChanged('emailSender', 'replyTo') && {
      emailSettings: { senderName: emailSender || null, replyTo: replyTo || null },
    }),
    ...(isChanged('smsSender') && { smsSettings: { senderName: smsSender || null } }),
  };
  return bodyOf(api.PUT('/account', { body }));
}

function Editor({ account }: { readonly account: Account }) {
  const { t } = useTranslation('settings');
  const queries = useQueryClient();
  const saved = toFields(account);
  const [fields, setFields, dropFields] = useDraft<Fields>('account', saved);
  const isChanged = JSON.stringify(fields) !== JSON.stringify(saved);
  const languages = useQuery({ queryKey: ['languages'], queryFn: () => bodyOf(api.GET('/languages')) });
  const zones = useTimeZones();
  const change = useMutation({
    mutationFn: () => save(fields, saved),
    onSuccess: async () => {
      dropFields(fields);
      notifyDone(t('saved'));
      await Promise.all([['account'], ['accounts']].map((queryKey) => queries.invalidateQueries({ queryKey })));
    },
  });
  const inputOf = (name: Exclude<keyof Fields, 'language' | 'timeZoneId'>, description?: string) => (
    <TextInput
      key={name}
      label={t(`account.${name}`)}
      description={description}
      required={name === 'name' || name === 'versionLimit'}
      value={fields[name]}
      onChange={({ currentTarget }) => setFields({ ...fields, [name]: currentTarget.value })}
    />
  );
  return (
    <form
      className={classes.card}
      aria-label={t('tab.account')}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <div className={classes.form}>
        {inputOf('name')}
        <NativeSelect
          label={t('account.language')}
          data={(languages.data ?? [{ id: fields.language, name: fields.language }]).map(({ id, name }) => ({
            value: id,
            label: name,
          }))}
          value={fields.language}
          onChange={({ currentTarget }) => setFields({ ...fields, language: currentTarget.value })}
        />
        <Select
          label={t('account.timeZoneId')}
          searchable
          allowDeselect={false}
          limit={100}
          data={zones.length === 0 ? [fields.timeZoneId] : [...zones]}
          value={fields.timeZoneId}
          onChange={(zone) => zone !== null && setFields({ ...fields, timeZoneId: zone })}
        />
        {inputOf('currency', t('account.currencyHint'))}
        {inputOf('versionLimit', t('account.versionLimitHint'))}
        {inputOf('emailSender')}
        {inputOf('replyTo')}
        {inputOf('smsSender')}
      </div>
      {change.error && <Problem error={change.error} />}
      <SaveBar isChanged={isChanged} isBusy={change.isPending} onDiscard={() => dropFields(saved)} />
    </form>
  );
}
