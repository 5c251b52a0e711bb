/**
 * Components that edit what the script of a formula reads: inputs with their windows and versions, form values and
 * constants.
 */
import { ActionIcon, Button, Select, Switch, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Icon } from '../../shell/icon.tsx';
import { type Constant, type Form, type Formula, freeAlias, type Input, parseScalar } from '../declaration.ts';
import { PlacePicker } from '../pickers/place-picker.tsx';
import { UnitPicker } from '../pickers/unit-picker.tsx';
import { VariablePicker } from '../pickers/variable-picker.tsx';
import classes from './script.module.css';

const PERIODS = ['RelativeDate', 'LastNPoints', 'AbsoluteDate'] as const;
const TIME_BASES = ['Millisecond', 'Second', 'Minute', 'Hour', 'Day', 'Week', 'Month', 'Year'] as const;
const BUCKETS = ['Raw', 'Minute', 'Hour', 'Day', 'Week', 'Month', 'Year', 'All'] as const;
const ALIGNMENTS = ['Day', 'Week', 'Month', 'Year'] as const;
const AGGREGATES = ['SUM', 'MIN', 'MAX', 'AVG', 'COUNT', 'VAR', 'STDEV'];
const OWNERS = ['Site', 'Source'] as const;

interface InputsProps {
  readonly formula: Formula;
  readonly isReadOnly: boolean;
  readonly onChange: (change: Partial<Formula>) => void;
}

/** Shows the components that edit everything the script reads: variables, form values and constants. */
export function Inputs(props: InputsProps) {
  return (
    <>
      <Variables {...props} />
      <Forms {...props} />
      <Constants {...props} />
    </>
  );
}

function Variables({ formula: { variables }, isReadOnly, onChange }: InputsProps) {
  const { t } = useTranslation('calculated');
  const set = (index: number, change: Partial<Input>) =>
    onChange({ variables: variables.map((input, at) => (at === index ? { ...input, ...change } : input)) });
  const add = (variableId: number, name: string) => {
    const alias = freeAlias(
      name,
      variables.map((input) => input.alias),
    );
    const window = { periodType: 'RelativeDate', period: 1, periodTimeBase: 'Day' };
    onChange({ variables: [...variables, { alias, variableId, canBeUsedAsATrigger: true, ...window }] });
  };
  return (
    <section aria-label={t('inputs.title')}>
      <h3>{t('inputs.title')}</h3>
      {variables.length === 0 && <p className={classes.soft}>{t('inputs.empty')}</p>}
      {variables.map((input, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: while its alias is typed, an input is known by its position
        <fieldset key={index} className={classes.input} disabled={isReadOnly}>
          <legend className={classes.hidden}>{input.alias}</legend>
          <InputRow input={input} isReadOnly={isReadOnly} onChange={(change) => set(index, change)} />
          <Remove
            label={t('inputs.remove', { alias: input.alias })}
            isReadOnly={isReadOnly}
            onClick={() => onChange({ variables: variables.filter((_, at) => at !== index) })}
          />
        </fieldset>
      ))}
      {!isReadOnly && (
        <VariablePicker key={variables.length} label={t('inputs.add')} value={undefined} onChange={add} />
      )}
    </section>
  );
}

interface RowProps {
  readonly input: Input;
  readonly isReadOnly: boolean;
  readonly onChange: (change: Partial<Input>) => void;
}

function InputRow({ input, isReadOnly, onChange }: RowProps) {
  const { t } = useTranslation('calculated');
  const periodType = input.periodType ?? 'RelativeDate';
  return (
    <div className={classes.fields}>
      <TextInput
        label={t('inputs.alias')}
        value={input.alias}
        spellCheck={false}
        onChange={(event) => onChange({ alias: event.currentTarget.value })}
      />
      <VariablePicker
        label={t('inputs.variable')}
        value={input.variableId}
        isReadOnly={isReadOnly}
        onChange={(variableId) => onChange({ variableId })}
      />
      <Select
        label={t('inputs.window')}
        data={PERIODS.map((value) => ({ value, label: t(`period.${value}`) }))}
        value={periodType}
        allowDeselect={false}
        onChange={(value) => value !== null && onChange({ periodType: value })}
      />
      {periodType === 'AbsoluteDate' ? (
        <>
          <Instant
            label={t('inputs.from')}
            value={input.fromAbsolutePeriod}
            onChange={(it) => onChange({ fromAbsolutePeriod: it })}
          />
          <Instant
            label={t('inputs.to')}
            value={input.toAbsolutePeriod}
            onChange={(it) => onChange({ toAbsolutePeriod: it })}
          />
        </>
      ) : (
        <div className={classes.pair}>
          <TextInput
            type="number"
            min={0}
            label={t('inputs.length')}
            value={input.period ?? 0}
            onChange={(event) => onChange({ period: Math.max(0, Math.trunc(Number(event.currentTarget.value))) })}
          />
          {periodType === 'RelativeDate' && (
            <Select
              label={t('inputs.timeBase')}
              data={TIME_BASES.map((value) => ({ value, label: t(`timeBase.${value}`) }))}
              value={input.periodTimeBase ?? 'Hour'}
              allowDeselect={false}
              onChange={(value) => value !== null && onChange({ periodTimeBase: value })}
            />
          )}
        </div>
      )}
      <Switch
        className={classes.switch ?? ''}
        label={t('inputs.trigger')}
        checked={input.canBeUsedAsATrigger ?? true}
        onChange={(event) => onChange({ canBeUsedAsATrigger: event.currentTarget.checked })}
      />
      <MoreFields input={input} isReadOnly={isReadOnly} onChange={onChange} />
    </div>
  );
}

/** Shows the settings that most inputs of a script do not need: buckets, alignment, unit, versions and tags. */
function MoreFields({ input, onChange }: RowProps) {
  const { t } = useTranslation('calculated');
  const { version, asOf, relativeVersion, horizon, tags, alignTo, unitId } = input;
  const hasMore = [version, asOf, relativeVersion, horizon, tags, alignTo, unitId].some(Boolean);
  const text = (name: 'version' | 'asOf' | 'relativeVersion' | 'horizon' | 'tags', placeholder: string) => (
    <TextInput
      label={t(`inputs.${name}`)}
      placeholder={placeholder}
      value={[input[name] ?? ''].flat().join(', ')}
      onChange={(event) =>
        onChange({ [name]: toList(event.currentTarget.value, name === 'version' || name === 'tags') })
      }
    />
  );
  return (
    <details className={classes.more} open={hasMore || (input.granularity ?? 'Raw') !== 'Raw'}>
      <summary>{t('inputs.more')}</summary>
      <div className={classes.fields}>
        <Select
          label={t('inputs.granularity')}
          data={BUCKETS.map((value) => ({ value, label: t(`bucket.${value}`) }))}
          value={input.granularity ?? 'Raw'}
          allowDeselect={false}
          onChange={(value) => value !== null && onChange({ granularity: value })}
        />
        <Select
          label={t('inputs.aggregation')}
          data={AGGREGATES}
          value={input.aggregation ?? null}
          clearable
          onChange={(aggregation) => onChange({ aggregation })}
        />
        <Select
          label={t('inputs.alignTo')}
          data={ALIGNMENTS.map((value) => ({ value, label: t(`timeBase.${value}`) }))}
          value={alignTo ?? null}
          clearable
          onChange={(chosen) => onChange({ alignTo: chosen })}
        />
        <UnitPicker
          label={t('inputs.unit')}
          placeholder={t('inputs.ownUnit')}
          value={unitId ?? null}
          onChange={(chosen) => onChange({ unitId: chosen })}
        />
        {text('version', 'measured')}
        {text('asOf', '2026-03-01T00:00:00Z')}
        {text('relativeVersion', '-1')}
        {text('horizon', 'PT24H')}
        {text('tags', 'quality:good')}
      </div>
    </details>
  );
}

/**
 * @returns null when the text is empty. When `isList` is true and the text contains a comma, returns the list of the
 * items between the commas. Otherwise returns the text.
 */
function toList(text: string, isList: boolean): string | readonly string[] | null {
  if (text === '') return null;
  const items = isList ? text.split(/,\s*/) : [text];
  return items.length === 1 ? text : items;
}

interface InstantProps {
  readonly label: string;
  readonly value: string | null | undefined;
  readonly onChange: (value: string | null) => void;
}

function Instant({ label, value, onChange }: InstantProps) {
  return (
    <TextInput
      label={label}
      placeholder="2026-03-01T00:00:00"
      value={value ?? ''}
      onChange={(event) => onChange(event.currentTarget.value === '' ? null : event.currentTarget.value)}
    />
  );
}

function Forms({ formula: { entities }, isReadOnly, onChange }: InputsProps) {
  const { t } = useTranslation('calculated');
  const set = (index: number, change: Partial<Form>) =>
    onChange({ entities: entities.map((form, at) => (at === index ? { ...form, ...change } : form)) });
  const add = () => {
    const alias = freeAlias(
      'form',
      entities.map((form) => form.alias),
    );
    onChange({ entities: [...entities, { alias, entityType: 'Source', path: '' }] });
  };
  return (
    <section aria-label={t('forms.title')}>
      <h3>{t('forms.title')}</h3>
      {entities.map(({ alias, entityType, path, siteId, sourceId, canBeUsedAsATrigger }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: as for inputs
        <fieldset key={index} className={classes.input} disabled={isReadOnly}>
          <legend className={classes.hidden}>{alias}</legend>
          <div className={classes.fields}>
            <TextInput
              label={t('inputs.alias')}
              value={alias}
              onChange={(event) => set(index, { alias: event.currentTarget.value })}
            />
            <Select
              label={t('forms.owner')}
              data={OWNERS.map((value) => ({ value, label: t(`forms.${value}`) }))}
              value={String(entityType)}
              allowDeselect={false}
              onChange={(value) => value !== null && set(index, { entityType: value, siteId: null, sourceId: null })}
            />
            <PlacePicker
              key={String(entityType)}
              kind={entityType === 'Site' ? 'sites' : 'sources'}
              label={t(`forms.chosen.${entityType === 'Site' ? 'Site' : 'Source'}`)}
              placeholder={t('forms.own')}
              isReadOnly={isReadOnly}
              value={(entityType === 'Site' ? siteId : sourceId) ?? undefined}
              onChange={(id) => set(index, { [entityType === 'Site' ? 'siteId' : 'sourceId']: id ?? null })}
            />
            <TextInput
              label={t('forms.path')}
              value={path}
              onChange={(event) => set(index, { path: event.currentTarget.value })}
            />
            <Switch
              className={classes.switch ?? ''}
              label={t('inputs.trigger')}
              checked={canBeUsedAsATrigger ?? false}
              onChange={(event) => set(index, { canBeUsedAsATrigger: event.currentTarget.checked })}
            />
          </div>
          <Remove
            label={t('inputs.remove', { alias })}
            isReadOnly={isReadOnly}
            onClick={() => onChange({ entities: entities.filter((_, at) => at !== index) })}
          />
        </fieldset>
      ))}
      {!isReadOnly && (
        <Button variant="default" size="xs" onClick={add}>
          {t('forms.add')}
        </Button>
      )}
    </section>
  );
}

function Constants({ formula: { constants }, isReadOnly, onChange }: InputsProps) {
  const { t } = useTranslation('calculated');
  const set = (index: number, change: Partial<Constant>) =>
    onChange({ constants: constants.map((constant, at) => (at === index ? { ...constant, ...change } : constant)) });
  const add = () => {
    const alias = freeAlias(
      'constant',
      constants.map((constant) => constant.alias),
    );
    onChange({ constants: [...constants, { alias, value: 1 }] });
  };
  return (
    <section aria-label={t('constants.title')}>
      <h3>{t('constants.title')}</h3>
      {constants.map(({ alias, value }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: as for inputs
        <fieldset key={index} className={classes.input} disabled={isReadOnly}>
          <legend className={classes.hidden}>{alias}</legend>
          <div className={classes.fields}>
            <TextInput
              label={t('inputs.alias')}
              value={alias}
              onChange={(event) => set(index, { alias: event.currentTarget.value })}
            />
            <TextInput
              label={t('constants.value')}
              defaultValue={value === null ? '' : String(value)}
              onBlur={(event) => set(index, { value: parseScalar(event.currentTarget.value) })}
            />
          </div>
          <Remove
            label={t('inputs.remove', { alias })}
            isReadOnly={isReadOnly}
            onClick={() => onChange({ constants: constants.filter((_, at) => at !== index) })}
          />
        </fieldset>
      ))}
      {!isReadOnly && (
        <Button variant="default" size="xs" onClick={add}>
          {t('constants.add')}
        </Button>
      )}
    </section>
  );
}

function Remove({ label, isReadOnly, onClick }: { label: string; isReadOnly: boolean; onClick: () => void }) {
  if (isReadOnly) return null;
  return (
    <ActionIcon className={classes.remove ?? ''} variant="subtle" color="gray" aria-label={label} onClick={onClick}>
      <Icon name="close" size={15} />
    </ActionIcon>
  );
}
