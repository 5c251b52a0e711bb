/** Creates a calculated variable with a first input, then shows its script. */
import { Button, Select, Switch, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../api/client.ts';
import type { operations } from '../api/openapi.d.ts';
import { toFilter } from '../find/search-rules.ts';
import { Problem } from '../parts/problem.tsx';
import { useSession } from '../session/session.tsx';
import './texts.ts';
import { useVariables } from './calculated-queries.ts';
import classes from './create-page.module.css';
import { EMPTY_FORMULA, freeAlias, starterScript } from './declaration.ts';
import { VariablePicker } from './script/variable-picker.tsx';

const TIME_BASES = ['Minute', 'Hour', 'Day', 'Week', 'Month', 'Year'] as const;
const DEBOUNCE_MS = 200;
const MAX_FOUND = 20;
type NewVariable = NonNullable<operations['createVariable']['requestBody']>['content']['application/json'];

const route = getRouteApi('/console/variables/new');

interface Wanted {
  readonly name: string;
  readonly inputId: number | undefined;
  /** Undefined: the source of the input. */
  readonly sourceId: number | undefined;
  readonly granularity: string;
  readonly timeBase: (typeof TIME_BASES)[number];
  readonly unitId: string | null;
  readonly isVersioned: boolean;
}

/** The route; `input` in the address is the first input. */
export function CreatePage() {
  const { t } = useTranslation('calculated');
  const { input } = route.useSearch();
  const navigate = route.useNavigate();
  const { mayManage } = useSession();
  const [wanted, setWanted] = useState<Wanted>({
    ...{
      name: '',
      inputId: input,
      sourceId: undefined,
      granularity: '1',
      timeBase: 'Hour',
      unitId: null,
      isVersioned: true,
    },
  });
  const set = (change: Partial<Wanted>) => setWanted({ ...wanted, ...change });
  const first = useVariables(wanted.inputId === undefined ? [] : [wanted.inputId]).data?.get(wanted.inputId ?? 0);
  const sourceId = wanted.sourceId ?? first?.sourceId;
  const create = useMutation({
    mutationFn: () => createVariable(wanted, sourceId ?? 0, first?.name ?? ''),
    onSuccess: ({ id }) => navigate({ to: '/console/variables/$variableId/script', params: { variableId: id } }),
  });
  if (!mayManage) return <Forbidden />;
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <div>
        <h1>{t('create.title')}</h1>
        <p className={classes.soft}>{t('create.lead')}</p>
      </div>
      <TextInput
        required
        autoFocus
        label={t('create.name')}
        value={wanted.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <VariablePicker label={t('create.input')} value={wanted.inputId} onChange={(inputId) => set({ inputId })} />
      <SourcePicker value={sourceId} onChange={(next) => set({ sourceId: next })} />
      <div className={classes.pair}>
        <TextInput
          type="number"
          min={1}
          label={t('create.granularity')}
          value={wanted.granularity}
          onChange={(event) => set({ granularity: event.currentTarget.value })}
        />
        <Select
          aria-label={t('inputs.timeBase')}
          data={TIME_BASES.map((value) => ({ value, label: t(`timeBase.${value}`) }))}
          value={wanted.timeBase}
          allowDeselect={false}
          onChange={(value) => set({ timeBase: TIME_BASES.find((each) => each === value) ?? 'Hour' })}
        />
      </div>
      <Units value={wanted.unitId} onChange={(unitId) => set({ unitId })} />
      <Switch
        label={t('create.versions')}
        checked={wanted.isVersioned}
        onChange={(event) => set({ isVersioned: event.currentTarget.checked })}
      />
      {create.error && <Problem error={create.error} />}
      <div>
        <Button type="submit" loading={create.isPending} disabled={wanted.name.trim() === '' || sourceId === undefined}>
          {t('create.button')}
        </Button>
      </div>
    </form>
  );
}

/** A formula without a script is a draft: it has the first input, and the editor adds the script. */
function createVariable(wanted: Wanted, sourceId: number, inputName: string) {
  const { name, inputId, granularity, timeBase, unitId, isVersioned } = wanted;
  const alias = freeAlias(inputName, []);
  const window = { periodType: 'RelativeDate', period: 1, periodTimeBase: 'Day', canBeUsedAsATrigger: true };
  const formula =
    inputId === undefined
      ? EMPTY_FORMULA
      : { ...EMPTY_FORMULA, formula: starterScript(alias), variables: [{ alias, variableId: inputId, ...window }] };
  const body = {
    name: name.trim(),
    ...(Number(granularity) > 0 && { granularity: Math.trunc(Number(granularity)), granularityTimeBase: timeBase }),
    ...(unitId !== null && { unitId: Number(unitId) }),
    isVersioned,
    calculated: { friendlyName: name.trim(), calculatedVariableFormulas: [formula] },
  };
  // A cast only: the JSON is the same, but the generated type has no readonly lists.
  return bodyOf(
    api.POST('/variables/source/{sourceId}', { params: { path: { sourceId } }, body: body as unknown as NewVariable }),
  );
}

function SourcePicker({ value, onChange }: { value: number | undefined; onChange: (sourceId: number) => void }) {
  const { t } = useTranslation('calculated');
  const [text, setText] = useState('');
  const [search] = useDebouncedValue(text, DEBOUNCE_MS);
  const chosen = useQuery({
    queryKey: ['sources', [value]],
    queryFn: async () => {
      const sources = await bodyOf(api.GET('/sources', { params: { query: { sourceIds: [value ?? 0] } } }));
      return new Map(sources.map((source) => [source.id, source] as const));
    },
    enabled: value !== undefined,
  }).data?.get(value ?? 0);
  const label = ({ name, siteName }: { name: string; siteName?: string }) =>
    [name, siteName].filter(Boolean).join(' · ');
  const isSearch = search.trim() !== '' && !(chosen && search === label(chosen));
  const found = useQuery({
    queryKey: ['found-sources', isSearch ? search : ''],
    queryFn: () => {
      const filter = isSearch ? { customFilter: toFilter(search, 'sources') } : {};
      return bodyOf(api.GET('/sources', { params: { query: { ...filter, pageNumber: 0, itemsPerPage: MAX_FOUND } } }));
    },
    placeholderData: (previous) => previous,
  }).data;
  const all = [...(chosen && !found?.some(({ id }) => id === chosen.id) ? [chosen] : []), ...(found ?? [])];
  return (
    <Select
      label={t('create.source')}
      description={t('create.sourceHint')}
      placeholder={t('inputs.search')}
      // Not `required`: the field is empty until the name of the source is loaded, and the browser would refuse to send.
      withAsterisk
      searchable
      allowDeselect={false}
      data={all.map((source) => ({ value: String(source.id), label: label(source) }))}
      filter={({ options }) => options}
      value={value === undefined ? null : String(value)}
      nothingFoundMessage={t('inputs.nothingFound')}
      onSearchChange={setText}
      onChange={(id) => id !== null && onChange(Number(id))}
    />
  );
}

function Units({ value, onChange }: { value: string | null; onChange: (unitId: string | null) => void }) {
  const { t } = useTranslation('calculated');
  const units = useQuery({ queryKey: ['units'], queryFn: () => bodyOf(api.GET('/units')), staleTime: 300_000 });
  return (
    <Select
      label={t('create.unit')}
      searchable
      clearable
      data={(units.data ?? []).map(({ id, name, symbol }) => ({
        value: String(id),
        label: symbol && symbol !== name ? `${name} (${symbol})` : name,
      }))}
      value={value}
      onChange={onChange}
    />
  );
}

function Forbidden() {
  const { t } = useTranslation('calculated');
  return (
    <>
      <h1>{t('create.title')}</h1>
      <p className={classes.soft}>{t('create.forbidden')}</p>
      <Link to="/console/find">{t('tabs.data')}</Link>
    </>
  );
}
