/** The page on which administrators create, change, disable or delete an OAuth client, or replace its secret. */
import { Button, NativeSelect, Skeleton } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { copyText } from '../../parts/copy-text.ts';
import { useDraft } from '../../parts/draft.ts';
import { formatMoment } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { SaveBar } from '../../parts/save-bar.tsx';
import { State } from '../../parts/state.tsx';
import classes from '../../parts/view.module.css';
import { notifyDone, notifyProblem } from '../../shell/notify.ts';
import { type Client, type ClientFields, NEW_CLIENT, toChange, toFields, toNewClient } from './client-fields.ts';
import { ClientForm } from './client-form.tsx';
import { useClients } from './client-queries.ts';

/** The newest secret that the user created for each client since the page was loaded, by client id. */
const secrets = new Map<string, string>();

/** @param id id of the client that the page shows, or `new` to create a client. */
export function ClientPage({ id }: { readonly id: string }) {
  const { t } = useTranslation('people');
  const clients = useClients();
  const client = clients.data?.find(({ clientId }) => clientId === id);
  return (
    <>
      <p className={classes.bar}>
        <Link to="/console/people" search={{ tab: 'clients' }}>
          {t('clients.all')}
        </Link>
      </p>
      {id === 'new' && <NewClient />}
      {id !== 'new' && clients.error && <Problem error={clients.error} onRetry={() => void clients.refetch()} />}
      {id !== 'new' && clients.isPending && <Skeleton height={300} radius="md" />}
      {client && <StoredClient client={client} />}
      {id !== 'new' && clients.data && !client && <p className={classes.empty}>{t('clients.missing', { id })}</p>}
    </>
  );
}

function NewClient() {
  const { t } = useTranslation('people');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [fields, setFields, dropFields] = useDraft<ClientFields>('client.new', NEW_CLIENT);
  const create = useMutation({
    mutationFn: () => bodyOf(api.POST('/admin/clients', { body: toNewClient(fields) })),
    onSuccess: async ({ clientId, secret }) => {
      if (secret !== undefined) secrets.set(clientId, secret);
      dropFields();
      await queries.invalidateQueries({ queryKey: ['clients'] });
      await navigate({ to: '/console/people', search: { tab: 'clients', client: clientId } });
    },
  });
  return (
    <form
      className={classes.card}
      aria-labelledby="new-client"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <h2 id="new-client">{t('clients.create')}</h2>
      <p className={classes.soft}>{t('clients.createHint')}</p>
      <div className={classes.bar}>
        <div className={classes.grow}>
          <ClientForm isNew fields={fields} onChange={setFields} />
        </div>
      </div>
      {create.error && <Problem error={create.error} />}
      <p className={classes.bar}>
        <Button type="submit" loading={create.isPending}>
          {t('clients.createButton')}
        </Button>
      </p>
    </form>
  );
}

function StoredClient({ client }: { readonly client: Client }) {
  const { t } = useTranslation('people');
  const { clientId, name, isPublic, isEnabled, isBuiltIn, createdDate } = client;
  const [secret, setSecret] = useState(() => secrets.get(clientId));
  const keepSecret = (replaced: string | undefined) => {
    if (replaced !== undefined) secrets.set(clientId, replaced);
    setSecret(replaced);
  };
  return (
    <>
      {secret !== undefined && <SecretCard secret={secret} />}
      <section className={classes.card} aria-labelledby="client">
        <h2 id="client">{name ?? clientId}</h2>
        <p className={`${classes.bar} ${classes.soft}`}>
          <State tone={isEnabled ? 'good' : 'bad'}>{t(isEnabled ? 'clients.enabled' : 'clients.disabled')}</State>
          <code>{clientId}</code>
          <span>{t('clients.createdOn', { date: formatMoment(createdDate) })}</span>
          {isPublic && <span>{t('clients.public')}</span>}
          <Link to="/console/people" search={{ tab: 'audit', target: clientId, scope: 'Operator' }}>
            {t('clients.changes')}
          </Link>
        </p>
        {isBuiltIn ? <p className={classes.bar}>{t('clients.builtIn')}</p> : <Settings client={client} />}
      </section>
      {!isPublic && <ReplaceSecret client={client} onReplaced={keepSecret} />}
    </>
  );
}

function Settings({ client }: { readonly client: Client }) {
  const { t } = useTranslation('people');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { clientId, isEnabled } = client;
  const saved = toFields(client);
  const [fields, setFields, dropFields] = useDraft<ClientFields>(`client.${clientId}`, saved);
  const isChanged = JSON.stringify(fields) !== JSON.stringify(saved);
  const params = { path: { clientId } };
  const renew = () => queries.invalidateQueries({ queryKey: ['clients'] });
  const save = useMutation({
    mutationFn: () => bodyOf(api.PUT('/admin/clients/{clientId}', { params, body: toChange(fields) })),
    onSuccess: async (stored) => {
      dropFields(toFields(stored));
      notifyDone(t('clients.saved'));
      await renew();
    },
  });
  const enable = useMutation({
    mutationFn: () => bodyOf(api.PUT('/admin/clients/{clientId}', { params, body: { isEnabled: !isEnabled } })),
    onSuccess: renew,
  });
  const remove = useMutation({
    mutationFn: () => bodyOf(api.DELETE('/admin/clients/{clientId}', { params })),
    onSuccess: async () => {
      dropFields();
      secrets.delete(clientId);
      await navigate({ to: '/console/people', search: { tab: 'clients' } });
      await renew();
    },
  });
  const error = save.error ?? enable.error ?? remove.error;
  return (
    <>
      <div className={classes.bar}>
        <div className={classes.grow}>
          <ClientForm isNew={false} fields={fields} onChange={setFields} />
        </div>
      </div>
      {error && <Problem error={error} />}
      <SaveBar
        isChanged={isChanged}
        isBusy={save.isPending}
        onSave={() => save.mutate()}
        onDiscard={() => dropFields()}
      >
        {isEnabled ? (
          <ConfirmButton
            label={t('clients.disable')}
            question={t('clients.reallyDisable', { client: clientId })}
            isBusy={enable.isPending}
            onConfirm={() => enable.mutate()}
          />
        ) : (
          <Button variant="default" loading={enable.isPending} onClick={() => enable.mutate()}>
            {t('clients.enable')}
          </Button>
        )}
        <ConfirmButton
          label={t('delete')}
          question={t('clients.reallyDelete', { client: clientId })}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate()}
        />
      </SaveBar>
    </>
  );
}

/** Hours for which the old secret stays valid. */
const OVERLAPS = { none: 0, hour: 1, day: 24, week: 168 } as const;
type Overlap = keyof typeof OVERLAPS;

interface ReplaceSecretProps {
  readonly client: Client;
  readonly onReplaced: (secret: string | undefined) => void;
}

function ReplaceSecret({ client: { clientId, secretDate, previousSecretUntil }, onReplaced }: ReplaceSecretProps) {
  const { t } = useTranslation('people');
  const queries = useQueryClient();
  const [overlap, setOverlap] = useState<Overlap>('day');
  const replace = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/admin/clients/{clientId}/secret', {
          params: { path: { clientId } },
          body: { overlapHours: OVERLAPS[overlap] },
        }),
      ),
    onSuccess: async ({ secret }) => {
      onReplaced(secret);
      await queries.invalidateQueries({ queryKey: ['clients'] });
    },
  });
  return (
    <section className={classes.card} aria-labelledby="replace-secret">
      <h2 id="replace-secret">{t('clients.replaceTitle')}</h2>
      <p className={classes.soft}>
        {secretDate === null ? t('clients.neverReplaced') : t('clients.replaced', { date: formatMoment(secretDate) })}{' '}
        {previousSecretUntil !== null && t('clients.oldValid', { date: formatMoment(previousSecretUntil) })}
      </p>
      <div className={`${classes.bar} ${classes.end}`}>
        <NativeSelect
          label={t('clients.overlap')}
          data={(Object.keys(OVERLAPS) as Overlap[]).map((value) => ({ value, label: t(`clients.overlaps.${value}`) }))}
          value={overlap}
          onChange={({ currentTarget }) => setOverlap(currentTarget.value as Overlap)}
        />
        <ConfirmButton
          label={t('clients.replace')}
          question={t(overlap === 'none' ? 'clients.reallyReplaceNow' : 'clients.reallyReplace', { client: clientId })}
          isBusy={replace.isPending}
          onConfirm={() => replace.mutate()}
        />
      </div>
      {replace.error && <Problem error={replace.error} />}
    </section>
  );
}

/** Shows the secret, with a button that copies it. */
function SecretCard({ secret }: { readonly secret: string }) {
  const { t } = useTranslation('people');
  const copy = () => copyText(secret).then(() => notifyDone(t('clients.secretCopied')), notifyProblem);
  return (
    <section className={classes.card} aria-labelledby="client-secret" role="status">
      <h2 id="client-secret">{t('clients.secret')}</h2>
      <p className={classes.soft}>{t('clients.secretHint')}</p>
      <pre className={`${classes.code} ${classes.bar}`}>{secret}</pre>
      <p className={classes.bar}>
        <Button variant="default" onClick={() => void copy()}>
          {t('clients.copySecret')}
        </Button>
      </p>
    </section>
  );
}
