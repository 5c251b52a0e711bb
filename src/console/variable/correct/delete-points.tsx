/** Deletes the points of a range. Before the user confirms, the dialog shows how many dates have points. */
import { Button, Group, Modal } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { Problem } from '../../parts/problem.tsx';
import { notifyDone } from '../../shell/notify.ts';
import { type Range, toInstant } from '../chart-rules.ts';

interface DeletePointsProps {
  readonly variableId: number;
  readonly range: Range;
}

/** Deletes the points of the range; with `whatIf`, only counts them. @returns the number of dates that have points. */
async function removePoints({ variableId, range }: DeletePointsProps, whatIf: boolean): Promise<number> {
  const body = {
    variableIds: [variableId],
    fromDateUtc: toInstant(range.from),
    toDateUtc: toInstant(range.to),
    whatIf,
  };
  const { results } = await bodyOf(api.DELETE('/data', { body }));
  return results.reduce((sum, { datapointCount }) => sum + datapointCount, 0);
}

/** The button that deletes the points of a range, and its confirmation. */
export function DeletePoints(props: DeletePointsProps) {
  const { t } = useTranslation('variable');
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Group mt="md">
        <Button variant="subtle" color="red" size="compact-sm" onClick={() => setOpen(true)}>
          {t('remove.open')}
        </Button>
      </Group>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={t('remove.title')}
        lockScroll={false}
        closeButtonProps={{ 'aria-label': t('correct.close') }}
      >
        {isOpen && <Question {...props} onEnd={() => setOpen(false)} />}
      </Modal>
    </>
  );
}

function Question({ onEnd, ...props }: DeletePointsProps & { readonly onEnd: () => void }) {
  const { t } = useTranslation('variable');
  const queries = useQueryClient();
  const { variableId, range } = props;
  const [problem, setProblem] = useState<unknown>();
  const [isRunning, setRunning] = useState(false);
  const count = useQuery({
    queryKey: ['delete', variableId, range.from, range.to],
    queryFn: () => removePoints(props, true),
    gcTime: 0,
    staleTime: 0,
  });
  const remove = async () => {
    setRunning(true);
    try {
      const removed = await removePoints(props, false);
      for (const name of ['bounds', 'points', 'versions', 'stops', 'point', 'correct', 'compare'])
        void queries.invalidateQueries({ queryKey: [name, variableId] });
      notifyDone(t('remove.done', { count: removed }));
      onEnd();
    } catch (error) {
      setProblem(error);
      setRunning(false);
    }
  };
  const shown = problem ?? count.error;
  return (
    <>
      {shown ? <Problem error={shown} /> : null}
      {count.data !== undefined && (
        <p role="status">
          {count.data === 0 ? t('remove.none') : `${t('remove.count', { count: count.data })} ${t('remove.warning')}`}
        </p>
      )}
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onEnd}>
          {t('remove.cancel')}
        </Button>
        <Button
          color="red.9"
          disabled={!count.data}
          loading={isRunning || count.isPending}
          onClick={() => void remove()}
        >
          {t('remove.confirm')}
        </Button>
      </Group>
    </>
  );
}
