/** Lists elements that have values for a form, each with the number of problems in its values (at most 100). */
import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { answerOf, api } from '../../api/client.ts';
import { Problem } from '../../parts/problem.tsx';
import { State } from '../../parts/state.tsx';
import classes from '../../parts/view.module.css';
import type { Form } from './form-draft.ts';

const MAX_SHOWN = 100;

/** Lists the first 100 elements that have values for the form. */
export function Filled({ form }: { readonly form: Form }) {
  const { t } = useTranslation('settings');
  const { id, modifiedDate } = form;
  const filled = useQuery({
    queryKey: ['forms', 'filled', id, modifiedDate],
    queryFn: () =>
      answerOf(
        api.GET('/form/{id}/values', {
          params: { path: { id }, query: { pageNumber: 0, itemsPerPage: MAX_SHOWN } },
          headers: { 'x-total-count': 'true' },
        }),
      ),
  });
  if (filled.error) return <Problem error={filled.error} onRetry={() => void filled.refetch()} />;
  if (!filled.data) return <Skeleton height={120} radius="md" />;
  const { body, total } = filled.data;
  return (
    <section className={classes.card} aria-labelledby="filled">
      <h2 id="filled">{t('forms.values')}</h2>
      {body.length === 0 && <p className={classes.soft}>{t('forms.noValues')}</p>}
      <ul className={classes.list}>
        {body.map((element) => (
          <li key={element.id} className={classes.row}>
            <ElementLink kind={form.entityType} id={element.id} name={element.name} />
            {element.problems && element.problems.length > 0 ? (
              <State tone="bad">{t('forms.problems', { count: element.problems.length })}</State>
            ) : (
              <State tone="good">{t('forms.good')}</State>
            )}
          </li>
        ))}
      </ul>
      {total > body.length && (
        <p className={`${classes.soft} ${classes.bar}`}>{t('forms.more', { shown: MAX_SHOWN, count: total })}</p>
      )}
    </section>
  );
}

interface ElementLinkProps {
  readonly kind: Form['entityType'];
  readonly id: number;
  readonly name: string;
}

function ElementLink({ kind, id, name }: ElementLinkProps) {
  const text = name || `#${id}`;
  if (kind === 'Site')
    return (
      <Link to="/console/sites/$siteId" params={{ siteId: id }}>
        {text}
      </Link>
    );
  if (kind === 'Source')
    return (
      <Link to="/console/sources/$sourceId" params={{ sourceId: id }}>
        {text}
      </Link>
    );
  return (
    <Link to="/console/variables/$variableId/properties" params={{ variableId: id }}>
      {text}
    </Link>
  );
}
