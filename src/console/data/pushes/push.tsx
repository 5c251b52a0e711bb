/** The newest push with a given label: the state of its operation, and its rejected elements. */
import { Button, Skeleton } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { answerOf, api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { Ago } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { State, type Tone } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import classes from '../../parts/view.module.css';
import { settings } from '../../session/settings.ts';
import { notifyDone } from '../../shell/notify.ts';

type Operation = components['schemas']['Operation'];

/** Maximum rejected elements shown. */
const MAX_SHOWN = 100;
const REFRESH_MS = 2000;
const TONES: Readonly<Record<Operation['state'], Tone>> = {
  Queued: 'plain',
  Processing: 'plain',
  Completed: 'good',
  Rejected: 'bad',
  Failed: 'bad',
};
const isOver = ({ state }: Operation) => state !== 'Queued' && state !== 'Processing';
/** Base URL of the push API. */
const AT_PUSH = { baseUrl: settings.push };

/** Shows the newest push that has the given label. */
export function Push({ label }: { readonly label: string }) {
  const { t } = useTranslation('data');
  const path = { label };
  const push = useQuery({
    queryKey: ['push', label],
    queryFn: async () => {
      const found = await bodyOf(api.GET('/api/operations/{label}', { params: { path }, ...AT_PUSH }));
      return Array.isArray(found) ? found[0] : found;
    },
    refetchInterval: ({ state: { data } }) => (data && !isOver(data) ? REFRESH_MS : false),
  });
  const queries = useQueryClient();
  const replay = useMutation({
    mutationFn: () => bodyOf(api.POST('/api/operations/{label}/replay', { params: { path }, ...AT_PUSH })),
    onSuccess: async ({ accepted, rejected }) => {
      notifyDone(t('pushes.replayed', { accepted: accepted.elements, rejected: rejected.length }));
      await Promise.all(
        ['push', 'push-rejected', 'health'].map((name) => queries.invalidateQueries({ queryKey: [name] })),
      );
    },
  });
  if (push.error) return <Problem error={push.error} onRetry={() => void push.refetch()} />;
  if (!push.data) return <Skeleton height={160} radius="md" mt="md" />;
  const { state, accepted, rejected, failure, warnings, acceptedDate, isReplay } = push.data;
  return (
    <section className={classes.card} aria-labelledby="push">
      <div className={`${classes.bar} ${classes.between}`}>
        <h2 id="push">
          <code>{label}</code>
        </h2>
        <span role="status">
          <State tone={TONES[state]}>{t(`pushes.state.${state}`)}</State>
        </span>
      </div>
      <p className={classes.soft}>
        <Ago instant={acceptedDate} />
        {' · '}
        {t('pushes.accepted', { elements: accepted.elements, readings: accepted.readings })}
        {isReplay && ` · ${t('pushes.isReplay')}`}
      </p>
      {failure !== undefined && <p className={classes.message}>{failure}</p>}
      {warnings.map((warning) => (
        <p key={warning.path + warning.code} className={classes.soft}>
          <code>{warning.path}</code> {warning.message}
        </p>
      ))}
      {rejected.length > 0 && (
        <>
          <Rejected label={label} />
          {replay.error && <Problem error={replay.error} />}
          <p className={classes.bar}>
            <Button loading={replay.isPending} onClick={() => replay.mutate()}>
              {t('pushes.replay')}
            </Button>
            <span className={classes.soft}>{t('pushes.replayHint')}</span>
          </p>
        </>
      )}
    </section>
  );
}

function Rejected({ label }: { readonly label: string }) {
  const { t } = useTranslation('data');
  const rejected = useQuery({
    queryKey: ['push-rejected', label],
    queryFn: () =>
      answerOf(
        api.GET('/api/operations/{label}/rejected', {
          params: {
            path: { label },
            query: { pageNumber: 0, itemsPerPage: MAX_SHOWN, includeItemsCount: true },
          },
          ...AT_PUSH,
        }),
      ),
  });
  if (rejected.error) return <Problem error={rejected.error} onRetry={() => void rejected.refetch()} />;
  if (!rejected.data) return <Skeleton height={120} radius="md" />;
  const { body, total } = rejected.data;
  return (
    <>
      <Table label={t('pushes.content')} columns={[[t('pushes.element')], t('rows.reason'), t('pushes.content')]}>
        {body.map(({ index, message, element }) => (
          <tr key={index}>
            <td className={classes.number}>{index}</td>
            <td className={classes.message}>{message}</td>
            <td>
              <code>{shorten(JSON.stringify(element))}</code>
            </td>
          </tr>
        ))}
      </Table>
      {total > body.length && <p className={classes.soft}>{t('pushes.first', { shown: body.length, count: total })}</p>}
    </>
  );
}

const MAX_CHARACTERS = 400;

function shorten(text: string | undefined): string {
  if (text === undefined) return '';
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)} …` : text;
}
