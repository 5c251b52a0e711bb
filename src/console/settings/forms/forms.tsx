/** Lists the forms of the account. Each entry shows the kind of element that the form is for. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { EntryList } from '../../parts/entry-list.tsx';
import { Ago } from '../../parts/moment.tsx';
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
  return (
    <EntryList
      label={t('tab.forms')}
      entries={useAllForms()}
      texts={{ none: t('forms.none'), noneHint: t('forms.noneHint'), create: t('forms.create') }}
      onCreate={() => void navigate({ to: '/console/settings', search: { tab: 'forms', form: 'new' } })}
    >
      {({ id, name, entityType, groups, modifiedDate }) => (
        <>
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
        </>
      )}
    </EntryList>
  );
}
