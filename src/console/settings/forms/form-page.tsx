/** One form: an editor of its definition, and the list of the elements that have values for it. */
import { Button, NativeSelect, Skeleton, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { useDraft } from '../../parts/draft.ts';
import { Problem } from '../../parts/problem.tsx';
import { SaveBar } from '../../parts/save-bar.tsx';
import classes from '../../parts/view.module.css';
import { notifyDone } from '../../shell/notify.ts';
import { Filled } from './filled.tsx';
import { type Form, type FormDraft, NEW_FIELD, NEW_FORM, toFormBody, toFormDraft, withAt } from './form-draft.ts';
import { useAllForms } from './forms.tsx';
import { GroupEditor } from './group-editor.tsx';

/** The content of the tab "Forms" while one form is open. @param id id of the form; `new` for a form to be created. */
export function FormPage({ id }: { readonly id: string }) {
  const { t } = useTranslation('settings');
  const forms = useAllForms();
  const form = forms.data?.find((each) => String(each.id) === id);
  return (
    <>
      <p className={classes.bar}>
        <Link to="/console/settings" search={{ tab: 'forms' }}>
          {t('forms.all')}
        </Link>
      </p>
      {forms.error && <Problem error={forms.error} onRetry={() => void forms.refetch()} />}
      {forms.isPending && <Skeleton height={300} radius="md" />}
      {forms.data && !form && id !== 'new' && <p>{t('forms.missing')}</p>}
      {forms.data && id === 'new' && <Editor />}
      {form && <Editor form={form} />}
      {form && <Filled form={form} />}
    </>
  );
}

function Editor({ form }: { readonly form?: Form }) {
  const { t } = useTranslation('settings');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const saved = form ? toFormDraft(form) : NEW_FORM;
  const [draft, setDraft, dropDraft] = useDraft<FormDraft>(`form.${form?.id ?? 'new'}`, saved);
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved);
  const leave = async (kept?: number) => {
    await queries.invalidateQueries({ queryKey: ['forms'] });
    await navigate({
      to: '/console/settings',
      search: { tab: 'forms', ...(kept !== undefined && { form: String(kept) }) },
    });
  };
  const save = useMutation({
    mutationFn: async () => {
      // In a number field, text that is not a number is sent unchanged; the service refuses it with a reason.
      const body = toFormBody(draft) as never;
      if (!form) return (await bodyOf(api.POST('/form', { body }))).id;
      await bodyOf(api.PUT('/form/{id}', { params: { path: { id: form.id } }, body }));
      return form.id;
    },
    onSuccess: async (kept) => {
      dropDraft(form ? draft : NEW_FORM);
      notifyDone(t('saved'));
      await leave(kept);
    },
  });
  const remove = useMutation({
    mutationFn: () => bodyOf(api.DELETE('/form/{id}', { params: { path: { id: form?.id ?? 0 } } })),
    onSuccess: () => {
      dropDraft();
      return leave();
    },
  });
  const error = save.error ?? remove.error;
  return (
    <form
      className={classes.card}
      aria-label={t('forms.form')}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Definition draft={draft} isStored={form !== undefined} onChange={setDraft} />
      {error && <Problem error={error} />}
      <SaveBar isChanged={isChanged} isBusy={save.isPending} onDiscard={() => dropDraft(saved)}>
        {form && (
          <ConfirmButton
            label={t('delete')}
            question={t('forms.reallyDelete', { name: form.name })}
            isBusy={remove.isPending}
            onConfirm={() => remove.mutate()}
          />
        )}
      </SaveBar>
    </form>
  );
}

interface DefinitionProps {
  readonly draft: FormDraft;
  readonly isStored: boolean;
  readonly onChange: (draft: FormDraft) => void;
}

function Definition({ draft, isStored, onChange }: DefinitionProps) {
  const { t } = useTranslation('settings');
  const { name, entityType, groups } = draft;
  const description = isStored ? t('forms.fixedHint') : undefined;
  return (
    <>
      <div className={classes.form}>
        <TextInput
          required
          label={t('forms.name')}
          description={description}
          value={name}
          onChange={({ currentTarget }) => onChange({ ...draft, name: currentTarget.value })}
        />
        <NativeSelect
          label={t('forms.kind')}
          description={description}
          data={(['Site', 'Source', 'Variable'] as const).map((value) => ({ value, label: t(`kind.${value}`) }))}
          value={entityType}
          onChange={({ currentTarget }) =>
            onChange({ ...draft, entityType: currentTarget.value as FormDraft['entityType'] })
          }
        />
      </div>
      {groups.map((group, index) => (
        <GroupEditor
          // A group has no id, so its position is the key.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          key={index}
          number={index + 1}
          group={group}
          onChange={(changed) => onChange({ ...draft, groups: withAt(groups, index, changed) })}
        />
      ))}
      <p className={classes.bar}>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => onChange({ ...draft, groups: [...groups, { name: '', fields: [NEW_FIELD] }] })}
        >
          {t('forms.addGroup')}
        </Button>
      </p>
    </>
  );
}
