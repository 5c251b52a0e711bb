/** Lets the user search for and choose the sites, sources or variables whose events a webhook receives. */
import { MultiSelect } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../api/client.ts';
import { type ElementKind, toFilter } from '../find/search-rules.ts';

const DEBOUNCE_MS = 200;
const MAX_FOUND = 20;
const ID_FILTERS = { sites: 'siteIds', sources: 'sourceIds', variables: 'variableIds' } as const;

interface Element {
  readonly id: number;
  readonly name: string | null;
  readonly siteName?: string;
  readonly sourceName?: string;
}

interface ScopePickerProps {
  readonly kind: ElementKind;
  readonly label: string;
  /** Ids of the chosen elements, separated by commas, as the draft of a webhook holds them. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A field with the names of the chosen elements; typing in it searches for further elements. */
export function ScopePicker({ kind, label, value, onChange }: ScopePickerProps) {
  const { t } = useTranslation('webhooks');
  const [text, setText] = useState('');
  const [search] = useDebouncedValue(text.trim(), DEBOUNCE_MS);
  const ids = value.split(/[\s,]+/).filter((id) => id !== '');
  // Keeps only ids of at most nine digits. A draft that an earlier release saved may contain texts that are not ids.
  const readable = ids.filter((id) => /^\d{1,9}$/.test(id)).map(Number);
  const chosen = useElements(kind, { [ID_FILTERS[kind]]: readable }, readable.length) ?? [];
  const found = useElements(kind, search === '' ? {} : { customFilter: toFilter(search, kind) }, MAX_FOUND);
  const known = new Map([...chosen, ...(found ?? [])].map((element) => [String(element.id), nameOf(element)]));
  return (
    <MultiSelect
      label={label}
      description={t('field.scopeHint')}
      placeholder={t('field.search')}
      searchable
      hidePickedOptions
      // `known` has no name for a deleted element or for a text that is not an id.
      data={[...new Set([...known.keys(), ...ids])].map((id) => ({ value: id, label: known.get(id) ?? `#${id}` }))}
      filter={({ options }) => options}
      value={ids}
      nothingFoundMessage={found && t('field.nothingFound')}
      onSearchChange={setText}
      onChange={(next) => onChange(next.join(', '))}
    />
  );
}

/**
 * @returns at most `limit` elements that match the filter. Until the API answers, returns the previous result, if any.
 */
function useElements(kind: ElementKind, filter: object, limit: number): readonly Element[] | undefined {
  return useQuery({
    queryKey: ['scope', kind, filter, limit],
    queryFn: () => readElements(kind, { ...filter, pageNumber: 0, itemsPerPage: limit }),
    enabled: limit > 0,
    placeholderData: keepPreviousData,
  }).data;
}

function readElements(kind: ElementKind, query: object): Promise<readonly Element[]> {
  if (kind === 'sites') return bodyOf(api.GET('/sites', { params: { query } }));
  if (kind === 'sources') return bodyOf(api.GET('/sources', { params: { query } }));
  return bodyOf(api.GET('/variables', { params: { query } }));
}

function nameOf({ id, name, siteName, sourceName }: Element): string {
  return [name || `#${id}`, sourceName ?? siteName].filter(Boolean).join(' · ');
}
