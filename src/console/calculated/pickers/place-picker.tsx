/** A field in which the user searches for a site or a source and selects it. */
import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { toFilter } from '../../find/search-rules.ts';

const DEBOUNCE_MS = 200;
const MAX_FOUND = 20;

type PlaceKind = 'sites' | 'sources';

interface Place {
  readonly id: number;
  readonly name: string | null;
  readonly siteName?: string;
}

interface PlacePickerProps {
  readonly kind: PlaceKind;
  readonly label: string;
  readonly description?: string;
  /** Text of the empty field. */
  readonly placeholder?: string;
  readonly value: number | undefined;
  readonly isReadOnly?: boolean;
  /** True marks the field as required. Otherwise the user can clear the field. */
  readonly isRequired?: boolean;
  readonly onChange: (id: number | undefined) => void;
}

/** A search box with a list of the matching sites or sources. */
export function PlacePicker({ kind, label, value, onChange, isReadOnly, isRequired, ...shown }: PlacePickerProps) {
  const { t } = useTranslation('calculated');
  const [text, setText] = useState('');
  const [search] = useDebouncedValue(text, DEBOUNCE_MS);
  const [chosen] =
    useQuery({
      queryKey: ['places', kind, value],
      queryFn: () => readPlaces(kind, value === undefined ? {} : { [ID_FILTERS[kind]]: [value] }),
      enabled: value !== undefined,
    }).data ?? [];
  const isSearch = search.trim() !== '' && !(chosen && search === nameOf(chosen));
  const found = useQuery({
    queryKey: ['found-places', kind, isSearch ? search : ''],
    queryFn: () => readPlaces(kind, isSearch ? { customFilter: toFilter(search, kind) } : {}),
    placeholderData: (previous) => previous,
    enabled: !isReadOnly,
  }).data;
  const all = [...(chosen && !found?.some(({ id }) => id === chosen.id) ? [chosen] : []), ...(found ?? [])];
  return (
    <Select
      label={label}
      placeholder={t('inputs.search')}
      {...shown}
      // `required` is not set: the field is empty until the name is loaded. Until then, `required` would prevent the
      // browser from submitting the form.
      withAsterisk={isRequired === true}
      clearable={isRequired !== true}
      allowDeselect={false}
      searchable
      readOnly={isReadOnly === true}
      data={all.map((place) => ({ value: String(place.id), label: nameOf(place) }))}
      filter={({ options }) => options}
      value={value === undefined ? null : String(value)}
      nothingFoundMessage={found && t('inputs.nothingFound')}
      onSearchChange={setText}
      onChange={(id) => onChange(id === null ? undefined : Number(id))}
    />
  );
}

const ID_FILTERS = { sites: 'siteIds', sources: 'sourceIds' } as const;

function readPlaces(kind: PlaceKind, filter: object): Promise<readonly Place[]> {
  const query = { ...filter, pageNumber: 0, itemsPerPage: MAX_FOUND };
  return kind === 'sites'
    ? bodyOf(api.GET('/sites', { params: { query } }))
    : bodyOf(api.GET('/sources', { params: { query } }));
}

function nameOf({ id, name, siteName }: Place): string {
  return [name || `#${id}`, siteName].filter(Boolean).join(' · ');
}
