/**
 * The retention policy of the account or of one variable: the counts of rolled up and refused points so far, a preview
 * of the points that rollups would replace, and the settings of the policy.
 */
import { Button, NativeSelect, Select, Skeleton, Switch, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { useDraft } from '../../parts/draft.ts';
import { formatMoment } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import classes from '../../parts/view.module.css';
import { notifyDone } from '../../shell/notify.ts';
import { useTimeZones } from '../../structure/structure-queries.ts';
import '../texts.ts';
import {
  callPreview,
  callRetention,
  type RetentionFields,
  type RetentionState,
  type Rollup,
  removeRetention,
  ruleOf,
  saveRetention,
  toRetentionFields,
} from './retention-calls.ts';

interface RetentionPolicyProps {
  /** Variable of the policy; absent means the policy of the account. */
  readonly variableId?: number;
}

/**
 * Shows and edits the policy. Render this component only for managers and administrators: the API does not let the role
 * USER read or change a policy.
 */
export function RetentionPolicy({ variableId }: RetentionPolicyProps) {
  const state = useQuery({ queryKey: ['retention', variableId], queryFn: () => callRetention(variableId) });
  if (state.error) return <Problem error={state.error} onRetry={() => void state.refetch()} />;
  if (!state.data) return <Skeleton height={200} radius="md" />;
  return <Editor state={state.data} {...(variableId !== undefined && { variableId })} />;
}

type EditorProps = RetentionPolicyProps & { readonly state: RetentionState };

function Editor({ state, variableId }: EditorProps) {
  const { t } = useTranslation('settings');
  const queries = useQueryClient();
  const saved = toRetentionFields(state);
  const [fields, setFields, dropFields] = useDraft<RetentionFields>(`retention.${variableId ?? 'account'}`, saved);
  const isChanged = JSON.stringify(fields) !== JSON.stringify(saved);
  const renew = (kept: RetentionFields) => {
    dropFields(kept);
    return queries.invalidateQueries({ queryKey: ['retention', variableId] });
  };
  const save = useMutation({
    mutationFn: () => saveRetention(variableId, fields),
    onSuccess: async () => {
      notifyDone(t('saved'));
      await renew(fields);
    },
  });
  const remove = useMutation({
    mutationFn: () => removeRetention(variableId),
    onSuccess: () => renew(toRetentionFields({ ...state, retention: null })),
  });
  const preview = useMutation({ mutationFn: () => callPreview(variableId, fields) });
  // The counts are valid only for the rule that was previewed. After the rule changes, the policy needs a new preview
  // before it can be activated.
  const isCounted = preview.data?.rule === ruleOf(fields);
  const error = save.error ?? remove.error ?? preview.error;
  return (
    <section className={classes.card} aria-labelledby="retention">
      <h2 id="retention">{t('retention.title')}</h2>
      <State state={state} isVariable={variableId !== undefined} />
      <Fields fields={fields} onChange={setFields} />
      {isCounted && preview.data && <Counts counts={preview.data.counts} />}
      {preview.isPending && (
        <p className={classes.soft} role="status">
          {t('retention.counting')}
        </p>
      )}
      {error && <Problem error={error} />}
      {fields.isActive && isChanged && !isCounted && <p className={classes.soft}>{t('retention.previewFirst')}</p>}
      <p className={classes.bar}>
        <Button
          variant={isChanged && !isCounted ? 'filled' : 'default'}
          disabled={fields.keepRawYears.trim() === ''}
          loading={preview.isPending}
          onClick={() => preview.mutate()}
        >
          {t('retention.preview')}
        </Button>
        {fields.isActive && isChanged && isCounted && (
          <ConfirmButton
            label={t('retention.activate')}
            question={t('retention.reallySave')}
            isBusy={save.isPending}
            onConfirm={() => save.mutate()}
          />
        )}
        {!fields.isActive && (
          <Button
            disabled={!isChanged || fields.keepRawYears.trim() === ''}
            loading={save.isPending}
            onClick={() => save.mutate()}
          >
            {t('save')}
          </Button>
        )}
        {isChanged && (
          <Button variant="default" onClick={() => dropFields(saved)}>
            {t('discard')}
          </Button>
        )}
        {state.retention && (
          <ConfirmButton
            label={t('retention.remove')}
            question={t(variableId === undefined ? 'retention.reallyRemove' : 'retention.reallyRemoveVariable')}
            isBusy={remove.isPending}
            onConfirm={() => remove.mutate()}
          />
        )}
      </p>
    </section>
  );
}

/** Shows whether a policy is saved and active, and the counts of rolled up and refused points so far. */
function State({ state, isVariable }: { readonly state: RetentionState; readonly isVariable: boolean }) {
  const { t } = useTranslation('settings');
  const { retention, pointCount: points, rollupCount: rollups, variableCount: variables } = state;
  return (
    <>
      {!retention && <p>{t(isVariable ? 'retention.noneVariable' : 'retention.none')}</p>}
      {retention && (
        <p>
          {retention.isActive
            ? t('retention.active', { date: formatMoment(retention.modifiedDate), name: retention.userName })
            : t('retention.inactive')}
        </p>
      )}
      {points > 0 && <p>{t('retention.rolledUp', countTexts(t, { points, rollups, variables }))}</p>}
      {state.refusedPointCount > 0 && (
        <p className={classes.message}>
          {t('retention.refused', {
            count: state.refusedPointCount,
            date: state.lastRefusedDate === null ? '' : formatMoment(state.lastRefusedDate),
          })}
        </p>
      )}
      {isVariable && <p className={classes.soft}>{t('retention.of')}</p>}
    </>
  );
}

interface FieldsProps {
  readonly fields: RetentionFields;
  readonly onChange: (fields: RetentionFields) => void;
}

function Fields({ fields, onChange }: FieldsProps) {
  const { t } = useTranslation('settings');
  const zones = useTimeZones();
  return (
    <div className={`${classes.form} ${classes.bar}`}>
      <TextInput
        label={t('retention.keepRawYears')}
        inputMode="numeric"
        value={fields.keepRawYears}
        onChange={({ currentTarget }) => onChange({ ...fields, keepRawYears: currentTarget.value })}
      />
      <NativeSelect
        label={t('retention.rollup')}
        description={t('retention.rollupHint')}
        data={(['Day', 'Hour'] as const).map((value) => ({ value, label: t(`retention.rollups.${value}`) }))}
        value={fields.rollup}
        onChange={({ currentTarget }) => onChange({ ...fields, rollup: currentTarget.value as Rollup })}
      />
      <Select
        label={t('retention.timeZoneId')}
        description={t('retention.zoneHint')}
        searchable
        clearable
        limit={100}
        data={zones.includes(fields.timeZoneId) || fields.timeZoneId === '' ? [...zones] : [fields.timeZoneId]}
        value={fields.timeZoneId === '' ? null : fields.timeZoneId}
        onChange={(zone) => onChange({ ...fields, timeZoneId: zone ?? '' })}
      />
      <Switch
        className={classes.level ?? ''}
        label={t('retention.isActive')}
        checked={fields.isActive}
        onChange={({ currentTarget }) => onChange({ ...fields, isActive: currentTarget.checked })}
      />
    </div>
  );
}

type Counted = 'points' | 'versions' | 'rollups' | 'variables';

/** @returns a text for each count: the number, and its noun in the singular or the plural. */
function countTexts<Name extends Counted>(
  t: TFunction<'settings'>,
  counts: Readonly<Record<Name, number>>,
): Readonly<Record<Name, string>> {
  const entries = Object.entries<number>(counts) as [Name, number][];
  return Object.fromEntries(
    entries.map(([name, count]) => [name, t(`retention.counts.${name as Counted}`, { count })]),
  ) as Record<Name, string>;
}

/** Shows how many points and versions the policy would replace, and how many rollups would replace them. */
function Counts({ counts }: { readonly counts: Awaited<ReturnType<typeof callPreview>>['counts'] }) {
  const { t } = useTranslation('settings');
  const { firstDate, boundary, pointCount, versionCount, variableCount, rollupCount, isComplete } = counts;
  return (
    <div role="status" className={classes.bar}>
      {firstDate === null && isComplete && (
        <p className={classes.soft}>{t('retention.nothing', { date: formatMoment(boundary, 'UTC') })}</p>
      )}
      {firstDate !== null && (
        <p className={classes.message}>
          {t('retention.would', {
            ...countTexts(t, { points: pointCount, versions: versionCount }),
            ...countTexts(t, { variables: variableCount, rollups: rollupCount }),
            ...{ from: formatMoment(firstDate, 'UTC'), until: formatMoment(boundary, 'UTC') },
          })}
        </p>
      )}
      {!isComplete && (
        <p className={classes.message}>
          {t('retention.incomplete', { date: formatMoment(counts.countedUntil, 'UTC') })}
        </p>
      )}
    </div>
  );
}
