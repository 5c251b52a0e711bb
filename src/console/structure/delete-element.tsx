/** Deletes a site, source or variable. If the API refuses the deletion (409), a second button forces the deletion. */
import { Progress } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ApiError, api, bodyOf } from '../api/client.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Problem } from '../parts/problem.tsx';
import classes from '../parts/view.module.css';
import { notifyDone } from '../shell/notify.ts';
import type { Kind } from './fields.ts';
import type { Stored } from './structure-queries.ts';

interface DeleteElementProps {
  readonly kind: Kind;
  readonly stored: Stored;
  readonly onStarted: (deletionId: string) => void;
}

/** @param onStarted called with the id of the deletion if the API answers 202: the deletion runs in the background. */
export function DeleteElement({ kind, stored, onStarted }: DeleteElementProps) {
  const { t } = useTranslation('structure');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { id } = stored;
  const name = stored.name || `#${id}`;
  const remove = useMutation({
    mutationFn: (hardDelete: boolean) => call(kind, stored, hardDelete),
    onSuccess: async (deletion) => {
      if (deletion) {
        onStarted(deletion.id);
        return;
      }
      notifyDone(t('delete.gone', { name }));
      await navigate({ to: '/console/find' });
      queries.removeQueries({ queryKey: ['element', kind, id] });
      await queries.invalidateQueries();
    },
  });
  const isRefused = remove.error instanceof ApiError && remove.error.status === 409;
  return (
    <>
      {remove.error && <Problem error={remove.error} />}
      <p className={classes.bar}>
        <ConfirmButton
          label={t('delete.button')}
          question={t(`delete.${kind}`, { name })}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate(false)}
        />
        {isRefused && (
          <ConfirmButton
            label={t(kind === 'Variable' ? 'delete.anyway' : 'delete.all')}
            question={t(`delete.really${kind}`, { name })}
            isBusy={remove.isPending}
            onConfirm={() => remove.mutate(true)}
          />
        )}
      </p>
    </>
  );
}

async function call(kind: Kind, { id, sourceId = 0 }: Stored, hardDelete: boolean) {
  const query = hardDelete ? { hardDelete } : {};
  const path = { id };
  if (kind === 'Site') return bodyOf(api.DELETE('/sites/{id}', { params: { path, query } }));
  if (kind === 'Source') return bodyOf(api.DELETE('/sources/{id}', { params: { path, query } }));
  const variable = { ...path, sourceId };
  return bodyOf(api.DELETE('/sources/{sourceId}/variables/{id}', { params: { path: variable, query } }));
}

const POLL_MS = 1000;

/** Shows the progress of a deletion that continues in the background; afterwards, shows that it has ended. */
export function DeletionProgress({ id }: { readonly id: string }) {
  const { t } = useTranslation('structure');
  const deletion = useQuery({
    queryKey: ['deletion', id],
    queryFn: () => bodyOf(api.GET('/deletions/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data?.state === 'Completed' ? false : POLL_MS),
  });
  if (deletion.error) return <Problem error={deletion.error} />;
  if (!deletion.data) return null;
  const { targetName: name, state, variables, pointsPending: pending } = deletion.data;
  const isDone = state === 'Completed';
  const { total, deleted } = variables;
  const steps = 2 * Math.max(total, 1);
  return (
    <section className={classes.card} role="status">
      <p>{isDone ? t('delete.done', { name }) : t('delete.running', { name, count: total, deleted, pending })}</p>
      <Progress
        mt="sm"
        aria-label={t('delete.button')}
        value={isDone ? 100 : (100 * (2 * deleted - Math.min(pending, deleted))) / steps}
      />
      {!isDone && <p className={classes.soft}>{t('delete.leave')}</p>}
    </section>
  );
}
