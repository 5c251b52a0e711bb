/** The entries of a catalogue: the account's own entries, which can be edited, and the built-in entries. */
import { Button, NativeSelect, Skeleton, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { draftKey, readDraft, useDraft } from '../../parts/draft.ts';
import { Problem } from '../../parts/problem.tsx';
import { Table } from '../../parts/table.tsx';
import classes from '../../parts/view.module.css';
import { useSession } from '../../session/session.tsx';
import { AddEntry } from './add-entry.tsx';
import { CALLS, CATALOGUES, type Catalogue, type Entry, isOwn, useEntries } from './catalogue-calls.ts';

const route = getRouteApi('/console/settings');

/** The tab "Catalogues" of the settings. The URL names the catalogue that the tab shows; default: `units`. */
export function Catalogues() {
  const { t } = useTranslation('settings');
  const { catalogue } = route.useSearch();
  const navigate = route.useNavigate();
  const chosen = CATALOGUES.find((name) => name === catalogue) ?? 'units';
  return (
    <>
      <section className={classes.card}>
        <NativeSelect
          label={t('catalogue.label')}
          data={CATALOGUES.map((value) => ({ value, label: t(`catalogue.names.${value}`) }))}
          value={chosen}
          onChange={({ currentTarget }) =>
            void navigate({ search: { tab: 'catalogues', catalogue: currentTarget.value }, replace: true })
          }
        />
      </section>
      <Entries key={chosen} catalogue={chosen} />
    </>
  );
}

function Entries({ catalogue }: { readonly catalogue: Catalogue }) {
  const { t } = useTranslation('settings');
  const entries = useEntries(catalogue);
  if (entries.error) return <Problem error={entries.error} onRetry={() => void entries.refetch()} />;
  if (!entries.data) return <Skeleton height={200} radius="md" />;
  const builtIn = entries.data.filter((entry) => !isOwn(entry));
  return (
    <>
      <Own catalogue={catalogue} entries={entries.data.filter(isOwn)} />
      <AddEntry catalogue={catalogue} />
      {builtIn.length > 0 && (
        <details className={classes.card}>
          <summary>{t('catalogue.builtIn', { count: builtIn.length })}</summary>
          <p className={classes.soft}>{builtIn.map(labelOf).join(' · ')}</p>
        </details>
      )}
    </>
  );
}

function labelOf({ name, symbol }: Entry): string {
  return symbol && symbol !== name ? `${name} (${symbol})` : name;
}

interface OwnProps {
  readonly catalogue: Catalogue;
  readonly entries: readonly Entry[];
}

function Own({ catalogue, entries }: OwnProps) {
  const { t } = useTranslation('settings');
  const queries = useQueryClient();
  const { accountId } = useSession();
  const [editedId, setEditedId] = useState(
    () => entries.find(({ id }) => readDraft(draftKey(accountId, renameKey(catalogue, id))) !== undefined)?.id,
  );
  const renew = () => queries.invalidateQueries({ queryKey: [catalogue] });
  const remove = useMutation({ mutationFn: CALLS[catalogue].remove, onSuccess: renew });
  const columns = columnsOf(catalogue);
  const families = useEntries('unitFamily').data ?? [];
  const textOf = (entry: Entry, column: Column): string => {
    if (column === 'family') return families.find(({ id }) => id === entry.unitFamilyId)?.name ?? '';
    return String(entry[column] ?? '');
  };
  return (
    <section className={classes.card} aria-labelledby="own">
      <h2 id="own">{t('catalogue.own')}</h2>
      {entries.length === 0 && <p className={classes.soft}>{t('catalogue.none')}</p>}
      {entries.length > 0 && (
        <Table
          label={t('catalogue.own')}
          columns={[...columns.map((column) => t(`catalogue.${column}`)), t('catalogue.actions')]}
        >
          {entries.map((entry) => (
            <tr key={entry.id}>
              {entry.id === editedId ? (
                <td colSpan={columns.length + 1}>
                  <Rename catalogue={catalogue} entry={entry} onEnd={() => setEditedId(undefined)} />
                </td>
              ) : (
                <>
                  {columns.map((column) => (
                    <td key={column}>{textOf(entry, column)}</td>
                  ))}
                  <td>
                    <span className={classes.bar}>
                      <Button size="compact-sm" variant="default" onClick={() => setEditedId(entry.id)}>
                        {t('catalogue.edit')}
                      </Button>
                      <ConfirmButton
                        size="compact-sm"
                        label={t('delete')}
                        question={t('catalogue.reallyDelete', { name: entry.name })}
                        isBusy={remove.isPending && remove.variables === entry.id}
                        onConfirm={() => remove.mutate(entry.id)}
                      />
                    </span>
                  </td>
                </>
              )}
            </tr>
          ))}
        </Table>
      )}
      {remove.error && <Problem error={remove.error} />}
    </section>
  );
}

type Column = 'name' | 'symbol' | 'family' | 'divisor' | 'offset' | 'aggregate';

function columnsOf(catalogue: Catalogue): readonly Column[] {
  if (catalogue === 'units') return ['name', 'symbol', 'family', 'divisor', 'offset'];
  return catalogue === 'variableTypes' ? ['name', 'aggregate'] : ['name'];
}

const renameKey = (catalogue: Catalogue, id: number) => `catalogue.${catalogue}.${id}`;

interface RenameProps {
  readonly catalogue: Catalogue;
  readonly entry: Entry;
  readonly onEnd: () => void;
}

/**
 * Lets the user change the name of an entry and, when the entry is a unit, also its symbol. The conversion of a unit
 * never changes, so that a repeated read in that unit returns the same values.
 */
function Rename({ catalogue, entry, onEnd }: RenameProps) {
  const { t } = useTranslation('settings');
  const queries = useQueryClient();
  const saved = { name: entry.name, symbol: entry.symbol ?? '' };
  const [{ name, symbol }, setFields, dropFields] = useDraft(renameKey(catalogue, entry.id), saved);
  const save = useMutation({
    mutationFn: () => CALLS[catalogue].change(entry.id, { name, ...(catalogue === 'units' && { symbol }) }),
    onSuccess: async () => {
      dropFields();
      await queries.invalidateQueries({ queryKey: [catalogue] });
      onEnd();
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <div className={`${classes.bar} ${classes.end}`}>
        <TextInput
          autoFocus
          required
          label={t('catalogue.name')}
          value={name}
          onChange={({ currentTarget }) => setFields({ name: currentTarget.value, symbol })}
        />
        {catalogue === 'units' && (
          <TextInput
            label={t('catalogue.symbol')}
            value={symbol}
            onChange={({ currentTarget }) => setFields({ name, symbol: currentTarget.value })}
          />
        )}
        <Button type="submit" loading={save.isPending}>
          {t('save')}
        </Button>
        <Button
          variant="default"
          onClick={() => {
            dropFields();
            onEnd();
          }}
        >
          {t('catalogue.cancel')}
        </Button>
      </div>
      {save.error && <Problem error={save.error} />}
    </form>
  );
}
