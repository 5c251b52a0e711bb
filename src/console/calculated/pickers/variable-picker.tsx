/** Lets the user search for a variable by its name, its mapping or the name of its source, and choose it. */
import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useFoundVariables, useVariables } from '../calculated-queries.ts';

const DEBOUNCE_MS = 200;

interface PickerProps {
  readonly label: string;
  /** Chosen variable. */
  readonly value: number | undefined;
  readonly onChange: (variableId: number, name: string) => void;
  readonly isReadOnly?: boolean;
}

/** A search box with the hits listed below it. */
export function VariablePicker({ label, value, onChange, isReadOnly = false }: PickerProps) {
  const { t } = useTranslation('calculated');
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [search] = useDebouncedValue(text, DEBOUNCE_MS);
  const chosen = useVariables(value === undefined ? [] : [value]).data?.get(value ?? 0);
  const nameOf = ({ id, name, sourceName }: { id: number; name: string | null; sourceName: string }) =>
    `${name || `#${id}`} · ${sourceName}`;
  // While the box shows the name of the chosen variable, the user is not searching.
  const isSearch = chosen === undefined || search !== nameOf(chosen);
  const { data: found = [], isSuccess } = useFoundVariables(isSearch ? search : '', isOpen);
  const all = chosen && !found.some(({ id }) => id === chosen.id) ? [chosen, ...found] : found;
  return (
    <Select
      label={label}
      placeholder={t('inputs.search')}
      searchable
      allowDeselect={false}
      readOnly={isReadOnly}
      data={all.map((variable) => ({ value: String(variable.id), label: nameOf(variable) }))}
      filter={({ options }) => options}
      value={value === undefined ? null : String(value)}
      nothingFoundMessage={isSuccess && t('inputs.nothingFound')}
      onSearchChange={setText}
      onDropdownOpen={() => setOpen(true)}
      onChange={(id) => {
        const variable = all.find((each) => String(each.id) === id);
        if (variable) onChange(variable.id, variable.name ?? '');
      }}
    />
  );
}
