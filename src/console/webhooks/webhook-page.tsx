/** Page of one webhook: an input form, a test message, and the list of deliveries. */
import { Button, NativeSelect, Skeleton, Switch, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../api/client.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { useDraft } from '../parts/draft.ts';
import { Problem } from '../parts/problem.tsx';
import { SaveBar } from '../parts/save-bar.tsx';
import classes from '../parts/view.module.css';
import { notifyDone } from '../shell/notify.ts';
import { Deliveries } from './deliveries.tsx';
import { ScopePicker } from './scope-picker.tsx';
import { Trial } from './trial.tsx';
import {
  EVENT_TYPES,
  type EventType,
  NEW_WEBHOOK,
  toBody,
  toFields,
  type Webhook,
  type WebhookFields,
} from './webhook-fields.ts';

/**
 * Secrets of newly created webhooks by webhook id. They are kept here, because the API returns each secret only once.
 */
const secrets = new Map<string, string>();

/** Shows the form of a webhook and, below the form, the webhook's deliveries. @param id the webhook's id, or `new`. */
export function WebhookPage({ id }: { readonly id: string }) {
  const { t } = useTranslation('webhooks');
  const isNew = id === 'new';
  const webhook = useQuery({
    queryKey: ['webhook', id],
    queryFn: () =>
      bodyOf(api.GET('/account/webhooks/{id}', { params: { path: { id }, query: { DisplayLevel: 'Verbose' } } })),
    enabled: !isNew,
  });
  return (
    <>
      <p className={classes.bar}>
        <Link to="/console/webhooks">{t('all')}</Link>
      </p>
      {webhook.error && <Problem error={webhook.error} onRetry={() => void webhook.refetch()} />}
      {!isNew && webhook.isPending && <Skeleton height={300} radius="md" />}
      {isNew && <Editor id={id} />}
      {webhook.data && <Editor id={id} webhook={webhook.data} />}
      {webhook.data && <Deliveries id={id} />}
    </>
  );
}

function Editor({ id, webhook }: { readonly id: string; readonly webhook?: Webhook }) {
  const { t } = useTranslation('webhooks');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const saved = webhook ? toFields(webhook) : NEW_WEBHOOK;
  const [fields, setFields, dropFields] = useDraft<WebhookFields>(`webhook.${id}`, saved);
  const isChanged = JSON.stringify(fields) !== JSON.stringify(saved);
  const [trialId, setTrialId] = useState<string>();
  const leave = async (search: { readonly webhook?: string }) => {
    await queries.invalidateQueries({ queryKey: ['webhooks'] });
    await queries.invalidateQueries({ queryKey: ['webhook', id] });
    await navigate({ to: '/console/webhooks', search });
  };
  const save = useMutation({
    mutationFn: async () => {
      if (webhook) {
        await bodyOf(api.PUT('/account/webhooks/{id}', { params: { path: { id } }, body: toBody(fields) }));
        return id;
      }
      const made = await bodyOf(api.POST('/account/webhooks', { body: toBody(fields) }));
      if (made.secret !== undefined) secrets.set(made.id, made.secret);
      return made.id;
    },
    onSuccess: async (kept) => {
      dropFields(webhook ? fields : NEW_WEBHOOK);
      notifyDone(t('saved'));
      await leave({ webhook: kept });
    },
  });
  const remove = useMutation({
    mutationFn: () => bodyOf(api.DELETE('/account/webhooks/{id}', { params: { path: { id } } })),
    onSuccess: () => leave({}),
  });
  const test = useMutation({
    mutationFn: async () => {
      const { isEnabled: _enabled, ...body } = toBody(fields);
      // A test message is signed with the stored secret only if it goes to the stored URL.
      const signer = webhook?.url === body.url ? { id } : {};
      return bodyOf(api.POST('/account/webhooks/test', { body: { ...body, name: body.name || null, ...signer } }));
    },
    onSuccess: ({ id: started }) => setTrialId(started),
  });
  const secret = secrets.get(id);
  const error = save.error ?? remove.error ?? test.error;
  return (
    <>
      {secret !== undefined && (
        <section className={classes.card} aria-labelledby="secret">
          <h2 id="secret">{t('secret')}</h2>
          <p className={classes.soft}>{t('secretHint')}</p>
          <pre className={classes.code}>{secret}</pre>
        </section>
      )}
      <section className={classes.card} aria-label={t('webhook')}>
        {webhook?.disabledReason && (
          <p className={classes.message}>{t('wasDisabled', { reason: webhook.disabledReason })}</p>
        )}
        <Form fields={fields} onChange={setFields} />
        {error && <Problem error={error} />}
        <SaveBar
          isChanged={isChanged}
          isNew={!webhook}
          isBusy={save.isPending}
          onSave={() => save.mutate()}
          onDiscard={() => dropFields(saved)}
        >
          <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
            {t('test')}
          </Button>
          {webhook && (
            <ConfirmButton
              label={t('delete')}
              question={t('reallyDelete', { name: webhook.name })}
              isBusy={remove.isPending}
              onConfirm={() => remove.mutate()}
            />
          )}
        </SaveBar>
      </section>
      {trialId !== undefined && <Trial key={trialId} id={trialId} />}
    </>
  );
}

const SCOPES = [
  ['sites', 'siteIds'],
  ['sources', 'sourceIds'],
  ['variables', 'variableIds'],
] as const;

interface FormProps {
  readonly fields: WebhookFields;
  readonly onChange: (fields: WebhookFields) => void;
}

function Form({ fields, onChange }: FormProps) {
  const { t } = useTranslation('webhooks');
  const set = (name: keyof WebhookFields) => (event: { readonly currentTarget: { readonly value: string } }) =>
    onChange({ ...fields, [name]: event.currentTarget.value });
  return (
    <div className={classes.form}>
      <TextInput label={t('field.name')} value={fields.name} onChange={set('name')} />
      <NativeSelect
        className={classes.double ?? ''}
        label={t('field.eventType')}
        // Each label also shows the name of the event type: messages contain this name, so the author of a receiver
        // must know it.
        data={EVENT_TYPES.map((value) => ({ value, label: `${t(`events.${value}`)} (${value})` }))}
        value={fields.eventType}
        onChange={({ currentTarget }) => onChange({ ...fields, eventType: currentTarget.value as EventType })}
      />
      <TextInput
        className={classes.wide ?? ''}
        label={t('field.url')}
        description={t('field.urlHint')}
        type="url"
        value={fields.url}
        onChange={set('url')}
      />
      {SCOPES.map(([kind, name]) => (
        <ScopePicker
          key={name}
          kind={kind}
          label={t(`field.${name}`)}
          value={fields[name]}
          onChange={(value) => onChange({ ...fields, [name]: value })}
        />
      ))}
      <NativeSelect
        label={t('field.httpMethod')}
        description={t('field.httpMethodHint')}
        data={['POST', 'PUT']}
        value={fields.httpMethod}
        onChange={set('httpMethod')}
      />
      <Textarea
        className={`${classes.area} ${classes.wide}`}
        label={t('field.headers')}
        description={t('field.headersHint')}
        rows={2}
        value={fields.headers}
        onChange={set('headers')}
      />
      <Textarea
        className={`${classes.area} ${classes.wide}`}
        label={t('field.bodyTemplate')}
        description={t('field.bodyTemplateHint')}
        rows={4}
        spellCheck={false}
        value={fields.bodyTemplate}
        onChange={set('bodyTemplate')}
      />
      <Switch
        label={t('field.isEnabled')}
        checked={fields.isEnabled}
        onChange={({ currentTarget }) => onChange({ ...fields, isEnabled: currentTarget.checked })}
      />
    </div>
  );
}
