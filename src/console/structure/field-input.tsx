/** One field of a site, a source or a variable. */
import { NativeSelect, Select, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Field, QUANTITIES, TIME_BASES } from './fields.ts';
import type { Option } from './structure-queries.ts';

interface FieldInputProps {
  readonly field: Field;
  readonly text: string;
  /** Entries of the field's catalogue, or the time zones. */
  readonly options: readonly Option[];
  readonly isDisabled: boolean;
  readonly onChange: (text: string) => void;
}

/** Renders the input that fits the type of a field. */
export function FieldInput({ field, text, options, isDisabled, onChange }: FieldInputProps) {
  const { t } = useTranslation('structure');
  const common = {
    label: t(`field.${field.name as 'name'}`),
    description: field.hint === undefined ? undefined : t(`hint.${field.hint as 'tags'}`),
    disabled: isDisabled,
  };
  if (field.input === 'entry' || field.input === 'zone') {
    // A stored id that is not among the options stays visible.
    const isKnown = text === '' || options.some(({ value }) => value === text);
    const data = isKnown ? options : [{ value: text, label: field.input === 'zone' ? text : `#${text}` }, ...options];
    return (
      <Select
        {...common}
        searchable
        clearable
        limit={100}
        // A click on an empty list would leave the list closed even after the options arrive. So the field is disabled
        // while its list is empty.
        disabled={isDisabled || data.length === 0}
        data={[...data]}
        value={text === '' ? null : text}
        onChange={(value) => onChange(value ?? '')}
      />
    );
  }
  const choices = field.input === 'choice' ? field.choices : field.input === 'flag' ? ['true', 'false'] : undefined;
  if (choices) {
    return (
      <NativeSelect
        {...common}
        data={[{ value: '', label: '–' }, ...choices.map((value) => ({ value, label: labelOf(value) }))]}
        value={text}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  }
  return (
    <TextInput
      {...common}
      required={field.isRequired ?? false}
      {...(field.input === 'number' && { inputMode: 'decimal' })}
      value={text}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );

  function labelOf(value: string): string {
    const timeBase = TIME_BASES.find((each) => each === value);
    if (timeBase) return t(`timeBase.${timeBase}`);
    const quantity = QUANTITIES.find((each) => each === value);
    if (quantity) return t(`quantity.${quantity}`);
    if (value === 'true') return t('yes');
    return value === 'false' ? t('no') : value;
  }
}
