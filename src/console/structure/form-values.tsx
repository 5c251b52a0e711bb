/** Input fields for the account's forms. The input fields edit the form values of one site, source or variable. */
import { NativeSelect, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from '../parts/view.module.css';
import { type Form, type FormField, type FormTexts, pathOf } from './form-rules.ts';
import { useCatalogues } from './structure-queries.ts';

interface FormValuesProps {
  readonly forms: readonly Form[];
  readonly texts: FormTexts;
  readonly onChange: (texts: FormTexts) => void;
}

/** A fieldset for each group of each form. */
export function FormValues({ forms, texts, onChange }: FormValuesProps) {
  const units = useCatalogues(['units']).get('units') ?? [];
  return forms.map((form) => (
    <section key={form.id} className={classes.card} aria-labelledby={`form-${form.id}`}>
      <h2 id={`form-${form.id}`}>{form.name}</h2>
      {form.groups.map((group) => (
        <fieldset key={group.name} className={classes.group}>
          <legend>{group.name}</legend>
          <div className={classes.form}>
            {group.fields.map((field) => {
              const path = pathOf(form.name, group.name, field.name);
              const unit = units.find(({ value }) => value === String(field.unitId))?.label;
              return (
                <Value
                  key={field.name}
                  field={field}
                  label={unit === undefined ? field.name : `${field.name}, ${unit}`}
                  text={texts[path] ?? ''}
                  onChange={(text) => onChange({ ...texts, [path]: text })}
                />
              );
            })}
          </div>
        </fieldset>
      ))}
    </section>
  ));
}

interface ValueProps {
  readonly field: FormField;
  readonly label: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
}

/**
 * The input of one field. The input is not `required` in the browser: the service requires the field only when at least
 * one field of the same form has a value.
 */
function Value({ field, label, text, onChange }: ValueProps) {
  const { t } = useTranslation('structure');
  const common = { label, description: field.description ?? undefined, withAsterisk: field.isRequired ?? false };
  const change = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
    onChange(currentTarget.value);
  const options = optionsOf(field, { yes: t('yes'), no: t('no') });
  if (options) {
    // A stored value that is no longer among the choices of the field stays visible.
    const unknown = text !== '' && !options.some(({ value }) => value === text) ? [{ value: text, label: text }] : [];
    const data = [{ value: '', label: t('forms.choose') }, ...unknown, ...options];
    return <NativeSelect {...common} data={data} value={text} onChange={change} />;
  }
  const isNumber = field.type === 'Int' || field.type === 'Double';
  return (
    <TextInput
      {...common}
      {...(isNumber && { inputMode: 'decimal', placeholder: rangeOf(field) })}
      {...(field.type === 'Date' && { placeholder: '2026-03-01' })}
      value={text}
      onChange={change}
    />
  );
}

interface Words {
  readonly yes: string;
  readonly no: string;
}

/** @returns the choices of a list field or a Boolean field; undefined for any other field. */
function optionsOf({ type, isList, items }: FormField, { yes, no }: Words) {
  if (isList) {
    const listed = (items ?? []) as readonly { readonly name?: string | null; readonly value: unknown }[];
    return listed.map(({ name, value }) => ({ value: JSON.stringify(value), label: name || String(value) }));
  }
  if (type !== 'Boolean') return undefined;
  return [
    { value: 'true', label: yes },
    { value: 'false', label: no },
  ];
}

function rangeOf({ minimum, maximum }: FormField): string {
  if (minimum === null || minimum === undefined) return maximum === null || maximum === undefined ? '' : `≤ ${maximum}`;
  return maximum === null || maximum === undefined ? `≥ ${minimum}` : `${minimum} – ${maximum}`;
}
