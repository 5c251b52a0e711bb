/**
 * Corrects points by hand: the user marks a range on the chart and changes its points together or date by date; a push
 * writes the changes. Managers and administrators can also delete the points of the range.
 */
import { Button, CloseButton, Group, NumberInput, Select, Skeleton, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatMoment } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useSession } from '../../session/session.tsx';
import { notifyDone } from '../../shell/notify.ts';
import { type Points, pointQuery, type Range, stepOf } from '../chart-rules.ts';
import { loadPoints } from '../points.ts';
import type { Variable } from '../variable-queries.ts';
import classes from './correct-panel.module.css';
import {
  applyChange,
  type ChangeKind,
  type Edits,
  editOne,
  MAX_CORRECTED,
  type Step,
  toRows,
  toStep,
} from './correction-rules.ts';
import { CorrectionTable } from './correction-table.tsx';
import { DeletePoints } from './delete-points.tsx';
import { type Draft, keepDraft } from './draft.ts';
import { useMayCorrect } from './may-correct.ts';
import { writeCorrection } from './write-correction.ts';

interface CorrectPanelProps {
  readonly variable: Variable;
  readonly timeZone: string;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly onClose: () => void;
}

/** The panel below the chart while a correction is open. */
export function CorrectPanel({ variable, timeZone, draft, onDraft, onClose }: CorrectPanelProps) {
  const { t } = useTranslation('variable');
  const { mayManage } = useSession();
  const mayCorrect = useMayCorrect(variable.id);
  const { range } = draft;
  useEffect(() => keepDraft(variable.id, draft), [variable.id, draft]);
  return (
    <section className={classes.panel} aria-label={t('correct.title')}>
      <header className={classes.header}>
        <h2>{t('correct.title')}</h2>
        <CloseButton
          aria-label={t('correct.close')}
          onClick={() => {
            keepDraft(variable.id, undefined);
            onClose();
          }}
        />
      </header>
      {range ? (
        <p className={classes.range}>
          {t('correct.range', {
            from: formatMoment(range.from * 1000, timeZone),
            to: formatMoment(range.to * 1000, timeZone),
          })}
        </p>
      ) : (
        <p>{t('correct.choose')}</p>
      )}
      {range && mayCorrect && (
        <Correcting
          {...{ variable, timeZone, draft, onDraft, range }}
          onWritten={() => onDraft({ ...draft, edits: new Map() })}
        />
      )}
      {range && mayManage && <DeletePoints variableId={variable.id} range={range} />}
    </section>
  );
}

interface CorrectingProps extends Omit<CorrectPanelProps, 'onClose'> {
  readonly range: Range;
  readonly onWritten: () => void;
}

function Correcting({ variable, timeZone, draft, onDraft, range, onWritten }: CorrectingProps) {
  const { t } = useTranslation('variable');
  /** The range in which the last change was refused, because it would make too many edits. */
  const [refused, setRefused] = useState<Range>();
  const stepSec = stepOf(variable.granularity, variable.granularityTimeBase);
  const step = toStep(variable.granularity, variable.granularityTimeBase, timeZone);
  const isTooLong = (range.to - range.from) / stepSec > MAX_CORRECTED * 2;
  const points = useQuery({
    queryKey: ['correct', variable.id, range.from, range.to],
    queryFn: ({ signal }) => loadPoints(pointQuery(variable.id, range, 'latest', 'Raw'), signal),
    enabled: !isTooLong,
    gcTime: 0,
  });
  if (isTooLong || (points.data?.seconds.length ?? 0) > MAX_CORRECTED)
    return <p className={classes.note}>{t('correct.tooMany', { max: MAX_CORRECTED })}</p>;
  if (points.error) return <Problem error={points.error} onRetry={() => void points.refetch()} />;
  if (!points.data) return <Skeleton height={120} />;
  const change = (next: Draft) => {
    setRefused(undefined);
    onDraft(next);
  };
  const setEdits = (edits: Edits | undefined) => (edits ? change({ ...draft, edits }) : setRefused(range));
  const rows = toRows(points.data, draft.edits);
  return (
    <>
      <p className={classes.note}>
        {rows.length === 0 ? t('correct.empty') : t('correct.points', { count: points.data.seconds.length })}
      </p>
      <ChangeBar points={points.data} {...{ draft, range, step, setEdits }} />
      {refused === range && (
        <p className={classes.note} role="alert">
          {t('correct.tooMany', { max: MAX_CORRECTED })}
        </p>
      )}
      {rows.length > 0 && (
        <CorrectionTable
          rows={rows}
          timeZone={timeZone}
          onEdit={(seconds, value) => setEdits(editOne(points.data, draft.edits, seconds, value))}
        />
      )}
      <WriteBar
        {...{ variable, draft }}
        onDraft={change}
        onWritten={() => {
          void points.refetch();
          onWritten();
        }}
      />
    </>
  );
}

const KINDS: readonly ChangeKind[] = ['set', 'add', 'scale', 'fill', 'create'];

interface ChangeBarProps {
  readonly points: Points;
  readonly draft: Draft;
  readonly range: Range;
  readonly step: Step;
  /** Called with the new edits, or with undefined when a change would make too many edits. */
  readonly setEdits: (edits: Edits | undefined) => void;
}

/** Fields and a button that apply one change to the whole range. */
function ChangeBar({ points, draft, range, step, setEdits }: ChangeBarProps) {
  const { t } = useTranslation('variable');
  const [kind, setKind] = useState<ChangeKind>('set');
  const [operand, setOperand] = useState<number | string>('');
  const isReady = kind === 'fill' || typeof operand === 'number';
  const apply = () => setEdits(applyChange(kind, Number(operand), points, draft.edits, range, step));
  return (
    <Group align="end" gap="sm" className={classes.bar ?? ''}>
      <Select
        label={t('correct.operation')}
        data={KINDS.map((value) => ({ value, label: t(`correct.kind.${value}`) }))}
        value={kind}
        allowDeselect={false}
        onChange={(value) => setKind((value as ChangeKind | null) ?? 'set')}
      />
      {kind !== 'fill' && <NumberInput label={t('correct.value')} value={operand} hideControls onChange={setOperand} />}
      <Button variant="default" disabled={!isReady} onClick={apply}>
        {t('correct.apply')}
      </Button>
    </Group>
  );
}

interface WriteBarProps {
  readonly variable: Variable;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly onWritten: () => void;
}

/** Fields for label and note, and the button that pushes the correction. */
function WriteBar({ variable, draft, onDraft, onWritten }: WriteBarProps) {
  const { t } = useTranslation('variable');
  const queries = useQueryClient();
  const [running, setRunning] = useState<string>();
  const [problem, setProblem] = useState<unknown>();
  const { edits, label, note } = draft;
  const write = async () => {
    setProblem(undefined);
    setRunning(t('correct.writing'));
    try {
      const { id: variableId, divider } = variable;
      const operation = await writeCorrection({ variableId, divider, edits, label, note }, (name) =>
        setRunning(t('correct.running', { label: name })),
      );
      if (operation.state !== 'Completed') {
        const reason = operation.failure ?? operation.rejected[0]?.message ?? operation.state;
        throw new Error(t('correct.rejected', { reason }));
      }
      for (const name of ['bounds', 'points', 'versions', 'stops', 'point', 'compare'])
        void queries.invalidateQueries({ queryKey: [name, variableId] });
      notifyDone(t('correct.done', { count: operation.accepted.readings }));
      onWritten();
    } catch (error) {
      setProblem(error);
    } finally {
      setRunning(undefined);
    }
  };
  return (
    <>
      <div className={classes.labels}>
        <TextInput
          label={t('correct.label')}
          value={label}
          maxLength={100}
          onChange={(event) => onDraft({ ...draft, label: event.currentTarget.value })}
        />
        <TextInput
          label={t('correct.note')}
          description={t('correct.noteHint')}
          value={note}
          maxLength={200}
          onChange={(event) => onDraft({ ...draft, note: event.currentTarget.value })}
        />
      </div>
      {problem !== undefined && <Problem error={problem} />}
      <Group gap="sm" className={classes.bar ?? ''}>
        <Button disabled={edits.size === 0} loading={running !== undefined} onClick={() => void write()}>
          {t('correct.submit')}
        </Button>
        <Button
          variant="default"
          disabled={edits.size === 0 || running !== undefined}
          onClick={() => onDraft({ ...draft, edits: new Map() })}
        >
          {t('correct.discard')}
        </Button>
        <span role="status" className={classes.note}>
          {running ?? t('correct.changed', { count: edits.size })}
        </span>
      </Group>
    </>
  );
}
