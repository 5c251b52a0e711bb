/** The forms of the account, by what they belong to. */
import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { Ago } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { State } from '../../parts/state.tsx';
import classes from '../../parts/view.module.css';

/** @returns the query of all forms. */
export function useAllForms() {
  return useQuery({ queryKey: ['forms'], queryFn: () => bodyOf(api.GET('/form')) });
}

/** The tab "Forms" when no form is open. */
export function Forms() {
  const { t } = useTranslation('settings');
  const navigate = useNavigate();
  const forms = useAllForms();
  const create = () => void navigate({ to: '/console/settings', search: { tab: 'forms', form: 'new' } });
  if (forms.error) return <Problem error={forms.error} onRetry={() => void forms.refetch()} />;
  if (!forms.data) return <Skeleton height={200} radius="md" />;
  if (forms.data.length === 0)
    return (
      <div className={classes.empty}>
        <h2>{t('forms.none')}</h2>
        <p>{t('forms.noneHint')}</p>
        <Button mt="sm" onClick={create}>
          {t('forms.create')}
        </Button>
      </div>
    );
  return (
    <section className={classes.card} aria-label={t('tab.forms')}>
      <ul className={classes.list}>
        {forms.data.map(({ id, name, entityType, groups, modifiedDate }) => (
          <li key={id} className={classes.row}>
            <div>
              <Link to="/console/settings" search={{ tab: 'forms', form: String(id) }}>
                {name}
              </Link>
              <div className={classes.soft}>
                {t('forms.fields', { count: groups.reduce((sum, { fields }) => sum + fields.length, 0) })}
              </div>
            </div>
            <State tone="plain">{t(`kind.${entityType}`)}</State>
            <span className={classes.soft}>
              <Ago instant={modifiedDate} />
            </span>
          </li>
        ))}
      </ul>
      <Button mt="sm" onClick={create}>
        {t('forms.create')}
      </Button>
    </section>
  );
}
