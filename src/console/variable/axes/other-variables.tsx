/** Lets the user search for further variables, add them to the chart of a variable, and remove them. */
import { ActionIcon, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { toFilter } from '../../find/search-rules.ts';
import { Icon } from '../../shell/icon.tsx';
import { MAX_OTHERS } from '../variable-address.ts';
import { type VariableContext, variableQuery } from '../variable-queries.ts';
import classes from './other-variables.module.css';

const HITS = 20;
const TYPING_MS = 250;

/** @returns the contexts of the other variables, except those that are not loaded yet or cannot be read. */
export function useOtherVariables(ids: readonly number[]): readonly VariableContext[] {
  return useQueries({
    queries: ids.map(variableQuery),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  });
}

interface OtherVariablesProps {
  /** Id of the variable whose page is shown. */
  readonly variableId: number;
  readonly others: readonly VariableContext[];
  readonly ids: readonly number[];
  readonly onChange: (ids: readonly number[]) => void;
}

/**
 * Shows each variable in `others` with a button that removes the variable. When `ids` has fewer than MAX_OTHERS ids,
 * also shows a search field that adds a variable.
 */
export function OtherVariables({ variableId, others, ids, onChange }: OtherVariablesProps) {
  const { t } = useTranslation('variable');
  return (
    <div className={classes.bar}>
      {others.map(({ variable: { id, name }, source }) => (
        <span key={id} className={classes.chosen}>
          <Link to="/console/variables/$variableId" params={{ variableId: id }}>
            {name || `#${id}`}
          </Link>
          <span className={classes.source}>{source.name}</span>
          <ActionIcon
            variant="subtle"
            size="xs"
            aria-label={t('axes.remove', { name: name || `#${id}` })}
            onClick={() => onChange(ids.filter((each) => each !== id))}
          >
            <Icon name="close" size={12} />
          </ActionIcon>
        </span>
      ))}
      {ids.length < MAX_OTHERS ? (
        <Picker taken={[variableId, ...ids]} onPick={(id) => onChange([...ids, id])} />
      ) : (
        <span className={classes.source}>{t('axes.full', { count: MAX_OTHERS + 1 })}</span>
      )}
    </div>
  );
}

function Picker({ taken, onPick }: { readonly taken: readonly number[]; readonly onPick: (id: number) => void }) {
  const { t } = useTranslation('variable');
  const [typed, setTyped] = useState('');
  const [text] = useDebouncedValue(typed.trim(), TYPING_MS);
  const hits = useQuery({
    queryKey: ['pick', text],
    queryFn: () => {
      const query = { customFilter: toFilter(text, 'variables'), pageNumber: 0, itemsPerPage: HITS };
      return bodyOf(api.GET('/variables', { params: { query } }));
    },
    enabled: text !== '',
  });
  const data = (hits.data ?? [])
    .filter(({ id }) => !taken.includes(id))
    .map(({ id, name, sourceName }) => ({ value: String(id), label: [name || `#${id}`, sourceName].join(' · ') }));
  return (
    <Select
      className={classes.picker ?? ''}
      size="xs"
      aria-label={t('axes.add')}
      placeholder={t('axes.add')}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      value={null}
      data={data}
      filter={({ options }) => options}
      nothingFoundMessage={text === '' ? t('axes.type') : hits.isSuccess && t('axes.nothing')}
      onChange={(value) => {
        if (value === null) return;
        setTyped('');
        onPick(Number(value));
      }}
    />
  );
}
