/** Edits the fields and form values of a site, source or variable. The browser keeps changes that are not yet saved. */
import { Skeleton } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useDraft } from '../parts/draft.ts';
import { Problem } from '../parts/problem.tsx';
import { SaveBar } from '../parts/save-bar.tsx';
import classes from '../parts/view.module.css';
import { useSession } from '../session/session.tsx';
import { FieldInput } from './field-input.tsx';
import {
  type CatalogueName,
  FIELDS,
  type Field,
  type Kind,
  type Members,
  type Texts,
  toChanges,
  toTexts,
} from './fields.ts';
import { type Form, type FormTexts, toFormTexts, withFormTexts } from './form-rules.ts';
import { FormValues } from './form-values.tsx';
import {
  type Option,
  type Stored,
  saveElement,
  type Target,
  useCatalogues,
  useForms,
  useTimeZones,
} from './structure-queries.ts';

interface ElementFormProps {
  readonly kind: Kind;
  readonly target: Target;
  /** The element as stored; absent for a new element. */
  readonly stored?: Stored;
  readonly onSaved: (id: number) => void | Promise<void>;
}

/**
 * Shows the editor as soon as the definitions of the forms are loaded. The editor needs the definitions to show stored
 * values as text.
 */
export function ElementForm(props: ElementFormProps) {
  const forms = useForms(props.kind);
  if (forms.error) return <Problem error={forms.error} onRetry={() => void forms.refetch()} />;
  if (!forms.data) return <Skeleton height={280} radius="md" />;
  return <Editor {...props} forms={forms.data} />;
}

interface Draft {
  readonly texts: Texts;
  readonly values: FormTexts;
}

const NOTHING: Members = {};

function Editor({ kind, target, stored, onSaved, forms }: ElementFormProps & { readonly forms: readonly Form[] }) {
  const { t } = useTranslation('structure');
  const { mayManage } = useSession();
  const queries = useQueryClient();
  const clientData = stored?.clientData;
  const saved: Draft = { texts: toTexts(kind, stored ?? NOTHING), values: toFormTexts(forms, clientData) };
  const key = stored ? `${kind}.${stored.id}` : `${kind}.new.${target.parentId ?? ''}`;
  const [draft, setDraft, dropDraft] = useDraft<Draft>(key, saved);
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved);
  const save = useMutation({
    mutationFn: () => {
      const hasValues = JSON.stringify(draft.values) !== JSON.stringify(saved.values);
      return saveElement(kind, target, {
        ...toChanges(kind, draft.texts, saved.texts),
        ...(hasValues && { clientData: withFormTexts(forms, clientData, draft.values, saved.values) }),
      });
    },
    onSuccess: async (id) => {
      dropDraft(stored ? draft : saved);
      // Invalidates all queries, because the tree, searches and other pages show the name of the element.
      await queries.invalidateQueries();
      await onSaved(id);
    },
  });
  return (
    <form
      aria-label={t('properties')}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <section className={classes.card} aria-label={t('properties')}>
        <Fields
          kind={kind}
          texts={draft.texts}
          isDisabled={!mayManage}
          onChange={(texts) => setDraft({ ...draft, texts })}
        />
      </section>
      <fieldset className={classes.plain} disabled={!mayManage}>
        <FormValues forms={forms} texts={draft.values} onChange={(values) => setDraft({ ...draft, values })} />
      </fieldset>
      {stored?.formProblems && (
        <div className={classes.card}>
          <p>{t('forms.problems')}</p>
          {stored.formProblems.map(({ path, message }) => (
            <p key={path + message} className={classes.message}>
              <code>{path}</code> {message}
            </p>
          ))}
        </div>
      )}
      {save.error && <Problem error={save.error} />}
      {mayManage && (
        <SaveBar
          isChanged={isChanged}
          isNew={stored === undefined}
          isBusy={save.isPending}
          {...(!stored && { label: t(`create.${kind}`) })}
          onDiscard={() => dropDraft(saved)}
        />
      )}
    </form>
  );
}

interface FieldsProps {
  readonly kind: Kind;
  readonly texts: Texts;
  readonly isDisabled: boolean;
  readonly onChange: (texts: Texts) => void;
}

function Fields({ kind, texts, isDisabled, onChange }: FieldsProps) {
  const names = FIELDS[kind].flatMap((field) => (field.input === 'entry' ? [field.catalogue] : []));
  const catalogues = useCatalogues([...new Set<CatalogueName>(names)]);
  const zones = useTimeZones().map((zone) => ({ value: zone, label: zone }));
  const optionsOf = (field: Field): readonly Option[] =>
    field.input === 'zone' ? zones : field.input === 'entry' ? (catalogues.get(field.catalogue) ?? []) : [];
  return (
    <div className={classes.form}>
      {FIELDS[kind].map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          text={texts[field.name] ?? ''}
          options={optionsOf(field)}
          isDisabled={isDisabled}
          onChange={(typed) => onChange({ ...texts, [field.name]: typed })}
        />
      ))}
    </div>
  );
}
