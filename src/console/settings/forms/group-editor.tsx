/** Editor for one group in the definition of a form: the name and the fields of the group. */
import { Button, Checkbox, NativeSelect, Select, Textarea, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from '../../parts/view.module.css';
import { useCatalogues } from '../../structure/structure-queries.ts';
import {
  FIELD_TYPES,
  type FieldDraft,
  type FieldType,
  type GroupDraft,
  movedUp,
  NEW_FIELD,
  withAt,
} from './form-draft.ts';

interface GroupEditorProps {
  /** Position of the group in the form, from 1. */
  readonly number: number;
  readonly group: GroupDraft;
  /** Called with the changed group, or with undefined when the user removes the group. */
  readonly onChange: (group: GroupDraft | undefined) => void;
}

/** Inputs for a group's name and for each of its fields. */
export function GroupEditor({ number, group, onChange }: GroupEditorProps) {
  const { t } = useTranslation('settings');
  const { fields } = group;
  return (
    <fieldset className={classes.group}>
      <legend>{t('forms.group', { number })}</legend>
      <div className={`${classes.bar} ${classes.end}`}>
        <TextInput
          required
          className={classes.grow ?? ''}
          label={t('forms.groupName')}
          value={group.name}
          onChange={({ currentTarget }) => onChange({ ...group, name: currentTarget.value })}
        />
        <Button variant="default" onClick={() => onChange(undefined)}>
          {t('forms.removeGroup')}
        </Button>
      </div>
      {fields.map((field, index) => (
        <FieldEditor
          // A field has no id, so its position is the key.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          key={index}
          number={index + 1}
          field={field}
          onChange={(changed) => onChange({ ...group, fields: withAt(fields, index, changed) })}
          onUp={index === 0 ? undefined : () => onChange({ ...group, fields: movedUp(fields, index) })}
        />
      ))}
      <p className={classes.bar}>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => onChange({ ...group, fields: [...fields, NEW_FIELD] })}
        >
          {t('forms.addField')}
        </Button>
      </p>
    </fieldset>
  );
}

interface FieldEditorProps {
  readonly number: number;
  readonly field: FieldDraft;
  readonly onChange: (field: FieldDraft | undefined) => void;
  readonly onUp: (() => void) | undefined;
}

function FieldEditor({ number, field, onChange, onUp }: FieldEditorProps) {
  const { t } = useTranslation('settings');
  const name = field.name || t('forms.field', { number });
  const set = (change: Partial<FieldDraft>) => onChange({ ...field, ...change });
  return (
    <fieldset className={classes.inset} aria-label={name}>
      <div className={classes.form}>
        <TextInput
          required
          label={t('forms.fieldName')}
          value={field.name}
          onChange={({ currentTarget }) => set({ name: currentTarget.value })}
        />
        <NativeSelect
          label={t('forms.type')}
          data={FIELD_TYPES.map((value) => ({ value, label: t(`forms.types.${value}`) }))}
          value={field.type}
          onChange={({ currentTarget }) => set({ type: currentTarget.value as FieldType })}
        />
        {(field.type === 'Int' || field.type === 'Double') && <Numeric field={field} onChange={set} />}
        <TextInput
          label={t('forms.description')}
          value={field.description}
          onChange={({ currentTarget }) => set({ description: currentTarget.value })}
        />
        {field.type !== 'Boolean' && (
          <Textarea
            label={t('forms.choices')}
            description={t('forms.choicesHint')}
            autosize={false}
            rows={2}
            value={field.choices}
            onChange={({ currentTarget }) => set({ choices: currentTarget.value })}
          />
        )}
      </div>
      <div className={`${classes.bar} ${classes.between}`}>
        <Checkbox
          label={t('forms.isRequired')}
          checked={field.isRequired}
          onChange={({ currentTarget }) => set({ isRequired: currentTarget.checked })}
        />
        <span className={classes.bar}>
          {onUp && (
            <Button size="compact-sm" variant="subtle" onClick={onUp}>
              {t('forms.up', { name })}
            </Button>
          )}
          <Button size="compact-sm" variant="subtle" onClick={() => onChange(undefined)}>
            {t('forms.removeField', { name })}
          </Button>
        </span>
      </div>
    </fieldset>
  );
}

interface NumericProps {
  readonly field: FieldDraft;
  readonly onChange: (change: Partial<FieldDraft>) => void;
}

/** Inputs for the unit and the range of a numeric field. */
function Numeric({ field, onChange }: NumericProps) {
  const { t } = useTranslation('settings');
  const units = useCatalogues(['units']).get('units') ?? [];
  return (
    <>
      <Select
        label={t('forms.unit')}
        searchable
        clearable
        limit={100}
        // Without options, a click would not open the list, and the list would stay closed when the options arrive.
        disabled={units.length === 0}
        data={[...units]}
        value={field.unitId === '' ? null : field.unitId}
        onChange={(unitId) => onChange({ unitId: unitId ?? '' })}
      />
      {(['minimum', 'maximum'] as const).map((name) => (
        <TextInput
          key={name}
          label={t(`forms.${name}`)}
          inputMode="decimal"
          value={field[name]}
          onChange={({ currentTarget }) => onChange({ [name]: currentTarget.value })}
        />
      ))}
    </>
  );
}
