/** The mappers of the account. A mapper turns JSON, XML or CSV of any structure into pushes. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { EntryList } from '../../parts/entry-list.tsx';
import { Ago } from '../../parts/moment.tsx';
import { State } from '../../parts/state.tsx';
import classes from '../../parts/view.module.css';

/** @returns the query of the mappers. */
export function useMappers() {
  return useQuery({ queryKey: ['mappers'], queryFn: () => bodyOf(api.GET('/account/mappers')) });
}

/** Content of the tab "Mappers" while no mapper is open: the list of the mappers. */
export function Mappers() {
  const { t } = useTranslation('data');
  const navigate = useNavigate();
  return (
    <EntryList
      label={t('tab.mappers')}
      entries={useMappers()}
      texts={{ none: t('mappers.none'), noneHint: t('mappers.noneHint'), create: t('mappers.create') }}
      onCreate={() => void navigate({ to: '/console/data', search: { tab: 'mappers', mapper: 'new' } })}
    >
      {({ id, name, isEnabled, modifiedDate }) => (
        <>
          <div>
            <Link to="/console/data" search={{ tab: 'mappers', mapper: id }}>
              {name}
            </Link>
            <div className={classes.soft}>
              <code>POST /api/generic/{id}</code>
            </div>
          </div>
          {!isEnabled && <State tone="plain">{t('mappers.disabled')}</State>}
          <span className={classes.soft}>
            <Ago instant={modifiedDate} />
          </span>
        </>
      )}
    </EntryList>
  );
}
