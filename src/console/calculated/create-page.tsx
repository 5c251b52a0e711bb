/** Page that creates a calculated variable, optionally with one input, and then opens the variable's script page. */
import { Button, Group, Select, Switch, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../api/client.ts';
import type { operations } from '../api/openapi.d.ts';
import { useDraft } from '../parts/draft.ts';
import { Problem } from '../parts/problem.tsx';
import { useSession } from '../session/session.tsx';
import './texts.ts';
import { useVariables } from './calculated-queries.ts';
import classes from './create-page.module.css';
import { EMPTY_FORMULA, freeAlias, starterScript } from './declaration.ts';
import { PlacePicker } from './pickers/place-picker.tsx';
import { UnitPicker } from './pickers/unit-picker.tsx';
import { VariablePicker } from './pickers/variable-picker.tsx';

const TIME_BASES = ['Minute', 'Hour', 'Day', 'Week', 'Month', 'Year'] as const;
type NewVariable = NonNullable<operations['createVariable']['requestBody']>['content']['application/json'];

const route = getRouteApi('/console/variables/new');

interface Wanted {
  readonly name: string;
  readonly inputId?: number | undefined;
  /** Source of the new variable; undefined means the source of the input. */
  readonly sourceId?: number | undefined;
  readonly granularity: string;
  readonly timeBase: (typeof TIME_BASES)[number];
  readonly unitId: number | null;
  readonly isVersioned: boolean;
}

const EMPTY: Wanted = { name: '', granularity: '1', timeBase: 'Hour', unitId: null, isVersioned: true };

/**
 * Renders the route. The URL parameter `input` is the id of the preselected first input. Each value of `input` has a
 * draft of its own.
 */
export function CreatePage() {
  const { input } = route.useSearch();
  const { mayManage } = useSession();
  if (!mayManage) return <Forbidden />;
  const key = `new-variable.${input ?? ''}`;
  return <CreateForm key={key} draftKey={key} input={input} />;
}

function CreateForm({ draftKey, input }: { readonly draftKey: string; readonly input: number | undefined }) {
  const { t } = useTranslation('calculated');
  const navigate = route.useNavigate();
  const saved = input === undefined ? EMPTY : { ...EMPTY, inputId: input };
  const [wanted, setWanted, dropDraft] = useDraft<Wanted>(draftKey, saved);
  const isChanged = JSON.stringify(wanted) !== JSON.stringify(saved);
  const set = (change: Partial<Wanted>) => setWanted({ ...wanted, ...change });
  const first = useVariables(wanted.inputId === undefined ? [] : [wanted.inputId]).data?.get(wanted.inputId ?? 0);
  const sourceId = wanted.sourceId ?? first?.sourceId;
  const create = useMutation({
    mutationFn: () => createVariable(wanted, sourceId ?? 0, first?.name ?? ''),
    onSuccess: ({ id }) => {
      dropDraft();
      return navigate({ to: '/console/variables/$variableId/script', params: { variableId: id } });
    },
  });
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
      <PlacePicker
        kind="sources"
        label={t('create.source')}
        description={t('create.sourceHint')}
        isRequired
        value={sourceId}
        onChange={(next) => set({ sourceId: next })}
      />
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
      <UnitPicker label={t('create.unit')} value={wanted.unitId} onChange={(unitId) => set({ unitId })} />
      <Switch
        label={t('create.versions')}
        checked={wanted.isVersioned}
        onChange={(event) => set({ isVersioned: event.currentTarget.checked })}
      />
      {create.error && <Problem error={create.error} />}
      <Group gap="sm">
        <Button type="submit" loading={create.isPending} disabled={wanted.name.trim() === '' || sourceId === undefined}>
          {t('create.button')}
        </Button>
        {isChanged && (
          <Button variant="default" onClick={() => dropDraft()}>
            {t('create.discard')}
          </Button>
        )}
      </Group>
    </form>
  );
}

/**
 * Creates the variable. Its script copies the points of the first input; when the user chose no first input, the script
 * is empty.
 */
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
    ...(unitId !== null && { unitId }),
    isVersioned,
    calculated: { friendlyName: name.trim(), calculatedVariableFormulas: [formula] },
  };
  // The cast is needed: in the generated type, lists are not readonly, and enumerations are not plain strings.
  return bodyOf(
    api.POST('/variables/source/{sourceId}', { params: { path: { sourceId } }, body: body as unknown as NewVariable }),
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
