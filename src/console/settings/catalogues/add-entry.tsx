/** The form that adds an entry to a catalogue. The browser stores unsaved input. */
import { Button, NativeSelect, Select, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useDraft } from '../../parts/draft.ts';
import { Problem } from '../../parts/problem.tsx';
import classes from '../../parts/view.module.css';
import { toNumber } from '../../structure/fields.ts';
import { CALLS, type Catalogue, type NewEntry, useEntries } from './catalogue-calls.ts';

const AGGREGATES = ['AVG', 'SUM', 'MIN', 'MAX', 'COUNT', 'VAR', 'STDEV'];
const EMPTY = { name: '', symbol: '', unitFamilyId: '', divisor: '1', offset: '0', aggregate: 'AVG' };

type Fields = typeof EMPTY;

/** @returns the new entry, with only the members that entries of this catalogue have. */
function toEntry(catalogue: Catalogue, fields: Fields): NewEntry {
  const { name, symbol, unitFamilyId, divisor, offset, aggregate } = fields;
  if (catalogue === 'variableTypes') return { name, aggregate };
  if (catalogue !== 'units') return { name };
  return { name, symbol, unitFamilyId: Number(unitFamilyId), divisor: toNumber(divisor), offset: toNumber(offset) };
}

/** Form that adds an entry to the catalogue. */
export function AddEntry({ catalogue }: { readonly catalogue: Catalogue }) {
  const { t } = useTranslation('settings');
  const queries = useQueryClient();
  const [fields, setFields, dropFields] = useDraft<Fields>(`catalogue.${catalogue}`, EMPTY);
  const families = useEntries('unitFamily');
  const add = useMutation({
    mutationFn: () => CALLS[catalogue].add(toEntry(catalogue, fields)),
    onSuccess: () => {
      dropFields(EMPTY);
      return queries.invalidateQueries({ queryKey: [catalogue] });
    },
  });
  const inputOf = (name: 'name' | 'symbol' | 'divisor' | 'offset', description?: string) => (
    <TextInput
      label={t(`catalogue.${name}`)}
      description={description}
      required={name === 'name'}
      value={fields[name]}
      onChange={({ currentTarget }) => setFields({ ...fields, [name]: currentTarget.value })}
    />
  );
  return (
    <form
      className={classes.card}
      aria-labelledby="add"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      <h2 id="add">{t('catalogue.addTitle')}</h2>
      <div className={classes.form}>
        {inputOf('name')}
        {catalogue === 'units' && (
          <>
            {inputOf('symbol')}
            <Select
              label={t('catalogue.family')}
              description={t('catalogue.familyHint')}
              withAsterisk
              searchable
              allowDeselect={false}
              // A click before the options arrive would leave the list closed, so the select is disabled until then.
              disabled={!families.data}
              data={(families.data ?? []).map(({ id, name }) => ({ value: String(id), label: name }))}
              value={fields.unitFamilyId === '' ? null : fields.unitFamilyId}
              onChange={(id) => id !== null && setFields({ ...fields, unitFamilyId: id })}
            />
            {inputOf('divisor', t('catalogue.divisorHint'))}
            {inputOf('offset')}
          </>
        )}
        {catalogue === 'variableTypes' && (
          <NativeSelect
            label={t('catalogue.aggregate')}
            data={AGGREGATES}
            value={fields.aggregate}
            onChange={({ currentTarget }) => setFields({ ...fields, aggregate: currentTarget.value })}
          />
        )}
      </div>
      {(families.error ?? add.error) && <Problem error={families.error ?? add.error} />}
      <p className={classes.bar}>
        <Button
          type="submit"
          loading={add.isPending}
          disabled={fields.name.trim() === '' || (catalogue === 'units' && fields.unitFamilyId === '')}
        >
          {t('catalogue.add')}
        </Button>
      </p>
    </form>
  );
}
