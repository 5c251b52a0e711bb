/**
 * The script of a calculated variable: editor, inputs, preview, differences and history. Unsaved work stays in this
 * browser.
 */
import { Button, SegmentedControl, Skeleton, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDraft } from '../../parts/draft.ts';
import { formatMoment } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useSession } from '../../session/session.tsx';
import { notifyDone } from '../../shell/notify.ts';
import { useVariable, type VariableContext } from '../../variable/variable-queries.ts';
import '../texts.ts';
import { evaluate, type PreviewDates, saveDeclaration, useValidation, useWindows } from '../calculated-queries.ts';
import { changeFormula, type Declaration, EMPTY_FORMULA, type Formula, toDeclaration } from '../declaration.ts';
import { Heading } from '../heading.tsx';
import { Differences } from './differences.tsx';
import { type DraftState, useDraftDeclaration } from './draft.ts';
import { Editor } from './editor.tsx';
import { History } from './history.tsx';
import { Inputs } from './inputs.tsx';
import { InputChart } from './preview/input-chart.tsx';
import { Preview } from './preview/preview.tsx';
import { linesOf, othersOf } from './problem-lines.ts';
import { Schedule } from './schedule.tsx';
import classes from './script.module.css';

const NO_DATES: PreviewDates = { from: '', to: '' };
const TYPING_MS = 500;
const SIDES = ['preview', 'windows', 'diff', 'history'] as const;
const route = getRouteApi('/console/variables/$variableId/script');

/** Renders the route. */
export function ScriptPage() {
  const { variableId } = route.useParams();
  const context = useVariable(variableId);
  const { accountId } = useSession();
  if (context.error) return <Problem error={context.error} onRetry={() => void context.refetch()} />;
  if (!context.data) return <Skeleton height={420} radius="md" />;
  return <Script key={variableId} context={context.data} draftKey={`${accountId}.${variableId}`} />;
}

function Script({ context, draftKey }: { readonly context: VariableContext; readonly draftKey: string }) {
  const { t } = useTranslation('calculated');
  const { variable, timeZone } = context;
  const place = { sourceId: variable.sourceId, id: variable.id };
  const isReadOnly = !useSession().mayManage;
  const saved = useMemo(() => toDeclaration(variable.calculated), [variable.calculated]);
  const draft = useDraftDeclaration(draftKey, saved);
  const [at, setAt] = useState(0);
  const { declaration, change } = draft;
  const index = Math.min(at, declaration.calculatedVariableFormulas.length - 1);
  const formula = declaration.calculatedVariableFormulas[index] ?? EMPTY_FORMULA;
  const [dates, setDates] = useDraft<PreviewDates>(`preview.${draftKey}`, NO_DATES);
  const [side, setSide] = useState<(typeof SIDES)[number]>('preview');
  const [settled] = useDebouncedValue(declaration, TYPING_MS);
  const validation = useValidation(place, settled, !isReadOnly);
  const windows = useWindows(place, settled, dates, !isReadOnly && side === 'windows');
  const preview = useMutation({ mutationFn: () => evaluate(place, declaration, dates) });
  const edit = (next: Partial<Formula>) => change(changeFormula(declaration, index, next));
  const script = formula.formula ?? '';
  const lines = useMemo(() => linesOf(validation.data, index, script), [validation.data, index, script]);
  const run = () => {
    setSide('preview');
    preview.mutate();
  };
  const symbols = {
    inputs: formula.variables.map(({ alias }) => alias),
    forms: formula.entities.map(({ alias }) => alias),
    constants: formula.constants.map(({ alias }) => alias),
  };
  return (
    <>
      <Heading context={context}>{!isReadOnly && <Saving context={context} draft={draft} />}</Heading>
      {draft.isOutdated && <p className={classes.problem}>{t('draft.outdated')}</p>}
      <div className={classes.columns}>
        <div className={classes.column}>
          <Formulas declaration={declaration} index={index} isReadOnly={isReadOnly} onShow={setAt} onChange={change} />
          <Editor
            key={index}
            label={t('script.label')}
            value={script}
            onChange={(text) => edit({ formula: text })}
            symbols={symbols}
            problems={lines}
            isReadOnly={isReadOnly}
            {...(!isReadOnly && { onRun: run })}
          />
          <p className={classes.soft}>{t(isReadOnly ? 'script.readOnly' : 'script.hint')}</p>
          <Problems validation={validation.data} error={validation.error} index={index} />
          <section className={classes.card}>
            <Inputs key={index} formula={formula} isReadOnly={isReadOnly} onChange={edit} />
            <Schedule formula={formula} timeZone={timeZone} isReadOnly={isReadOnly} onChange={edit} />
          </section>
        </div>
        <section className={classes.side} aria-label={t('side.title')}>
          {!isReadOnly && (
            <Period dates={dates} timeZone={timeZone} isRunning={preview.isPending} onDates={setDates} onRun={run} />
          )}
          <SegmentedControl
            fullWidth
            className={classes.choice ?? ''}
            aria-label={t('side.title')}
            value={side}
            onChange={(value) => setSide(value as (typeof SIDES)[number])}
            data={SIDES.filter((name) => !isReadOnly || name === 'history').map((value) => ({
              value,
              label: t(`side.${value}`),
            }))}
          />
          {side === 'preview' && !isReadOnly && (
            <>
              {preview.error && <Problem error={preview.error} onRetry={run} />}
              {preview.isPending && <Skeleton height={260} radius="md" />}
              {preview.data && !preview.isPending && (
                <Preview
                  evaluation={preview.data}
                  name={variable.name ?? ''}
                  unitId={variable.unitId}
                  timeZone={timeZone}
                />
              )}
              {preview.isIdle && <p className={classes.soft}>{t('preview.idle')}</p>}
            </>
          )}
          {side === 'windows' && (
            <>
              <p className={classes.soft}>{t('windows.hint')}</p>
              {windows.error && <Problem error={windows.error} />}
              {windows.data && <InputChart evaluation={windows.data} timeZone={timeZone} />}
              {formula.variables.length === 0 && <p className={classes.soft}>{t('inputs.empty')}</p>}
            </>
          )}
          {side === 'diff' && <Differences before={saved} after={declaration} />}
          {(side === 'history' || isReadOnly) && (
            <History
              place={place}
              isReadOnly={isReadOnly}
              onRestore={(restored, save) => {
                draft.restore(
                  restored,
                  t('history.restored', { date: save.date === null ? '' : formatMoment(save.date) }),
                );
                setSide('diff');
              }}
            />
          )}
        </section>
      </div>
    </>
  );
}

/** A field for a note, a button that saves the declaration with the note, and a button that drops unsaved changes. */
function Saving({ context, draft }: { readonly context: VariableContext; readonly draft: DraftState }) {
  const { t } = useTranslation('calculated');
  const queries = useQueryClient();
  const { variable } = context;
  const save = useMutation({
    mutationFn: () =>
      saveDeclaration(
        { sourceId: variable.sourceId, id: variable.id },
        variable.calculated,
        draft.declaration,
        draft.note.trim(),
      ),
    onSuccess: async () => {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['variable', variable.id] }),
        queries.invalidateQueries({ queryKey: ['declarations', variable.id] }),
      ]);
      draft.drop();
      notifyDone(t('save.done'));
    },
    // The save may have failed because another declaration was saved meanwhile.
    onError: () => queries.invalidateQueries({ queryKey: ['variable', variable.id] }),
  });
  return (
    <div className={classes.saving}>
      {save.error && <Problem error={save.error} />}
      <div className={classes.buttons}>
        <TextInput
          aria-label={t('save.note')}
          placeholder={t('save.note')}
          value={draft.note}
          maxLength={2000}
          onChange={(event) => draft.setNote(event.currentTarget.value)}
        />
        <Button
          disabled={!draft.isChanged && draft.note.trim() === ''}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          {t('save.button')}
        </Button>
        {draft.isChanged && (
          <Button variant="default" onClick={draft.drop}>
            {t('save.drop')}
          </Button>
        )}
      </div>
      {draft.isChanged && <p className={classes.soft}>{t('save.unsaved')}</p>}
    </div>
  );
}

interface FormulasProps {
  readonly declaration: Declaration;
  readonly index: number;
  readonly isReadOnly: boolean;
  readonly onShow: (index: number) => void;
  readonly onChange: (declaration: Declaration) => void;
}

/**
 * Selects, adds and removes the formulas of a variable, which may have a different formula for each period. Edits the
 * period of the selected formula, and the friendly name of the variable's declaration.
 */
function Formulas({ declaration, index, isReadOnly, onShow, onChange }: FormulasProps) {
  const { t } = useTranslation('calculated');
  const formulas = declaration.calculatedVariableFormulas;
  const formula = formulas[index] ?? EMPTY_FORMULA;
  const set = (name: 'validFrom' | 'validUntil', text: string) =>
    onChange(changeFormula(declaration, index, { [name]: text === '' ? null : text }));
  const add = () => {
    const copy = { ...formula, validFrom: formula.validUntil ?? null, validUntil: null, schedule: null };
    onChange({ ...declaration, calculatedVariableFormulas: [...formulas, copy] });
    onShow(formulas.length);
  };
  const remove = () => {
    onChange({ ...declaration, calculatedVariableFormulas: formulas.filter((_, at) => at !== index) });
    onShow(0);
  };
  const isDated = Boolean(formula.validFrom) || Boolean(formula.validUntil);
  const isOne = formulas.length === 1;
  return (
    <details className={classes.formulas} open={!isOne || isDated}>
      <summary>{isOne && isDated ? t('formulas.dated') : t('formulas.title', { count: formulas.length })}</summary>
      {formulas.length > 1 && (
        <SegmentedControl
          aria-label={t('formulas.title', { count: formulas.length })}
          value={String(index)}
          onChange={(value) => onShow(Number(value))}
          data={formulas.map(({ validFrom }, at) => ({ value: String(at), label: validFrom ?? `${at + 1}` }))}
        />
      )}
      <div className={classes.fields}>
        <TextInput
          label={t('formulas.friendlyName')}
          value={declaration.friendlyName ?? ''}
          readOnly={isReadOnly}
          onChange={(event) => onChange({ ...declaration, friendlyName: event.currentTarget.value })}
        />
        <TextInput
          label={t('formulas.from')}
          placeholder="2026-03-01T00:00:00"
          value={formula.validFrom ?? ''}
          readOnly={isReadOnly}
          onChange={(event) => set('validFrom', event.currentTarget.value)}
        />
        <TextInput
          label={t('formulas.until')}
          placeholder="2027-01-01T00:00:00"
          value={formula.validUntil ?? ''}
          readOnly={isReadOnly}
          onChange={(event) => set('validUntil', event.currentTarget.value)}
        />
      </div>
      {!isReadOnly && (
        <div className={classes.buttons}>
          <Button size="xs" variant="default" onClick={add}>
            {t('formulas.add')}
          </Button>
          {formulas.length > 1 && (
            <Button size="xs" variant="subtle" onClick={remove}>
              {t('formulas.remove')}
            </Button>
          )}
        </div>
      )}
    </details>
  );
}

interface PeriodProps {
  readonly dates: PreviewDates;
  readonly timeZone: string;
  readonly isRunning: boolean;
  readonly onDates: (dates: PreviewDates) => void;
  readonly onRun: () => void;
}

/** Fields for a period, and the button that runs the preview. The preview treats points in this period as changed. */
function Period({ dates, timeZone, isRunning, onDates, onRun }: PeriodProps) {
  const { t } = useTranslation('calculated');
  return (
    <div className={classes.period}>
      {(['from', 'to'] as const).map((name) => (
        <TextInput
          key={name}
          type="datetime-local"
          label={t(`preview.${name}`, { zone: timeZone })}
          value={dates[name]}
          onChange={(event) => onDates({ ...dates, [name]: event.currentTarget.value })}
        />
      ))}
      <Button loading={isRunning} onClick={onRun}>
        {t('preview.run')}
      </Button>
    </div>
  );
}

interface ProblemsProps {
  readonly validation: Parameters<typeof othersOf>[0];
  readonly error: unknown;
  readonly index: number;
}

/** Lists all warnings, and the problems that are not shown beside a line of this script. */
function Problems({ validation, error, index }: ProblemsProps) {
  const { t } = useTranslation('calculated');
  if (error) return <Problem error={error} />;
  const others = othersOf(validation, index);
  const count = validation ? validation.problems.length + validation.warnings.length : 0;
  return (
    <div aria-live="polite" data-problems={validation && count}>
      {validation && count === 0 && <p className={classes.good}>{t('script.valid')}</p>}
      {others.length > 0 && (
        <ul className={classes.problems}>
          {others.map(({ path, message, isWarning }) => (
            <li key={path + message} data-warning={isWarning}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
