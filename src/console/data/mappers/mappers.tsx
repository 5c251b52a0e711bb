/** The mappers of the account, which turn other formats into pushes. */
import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { Ago } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { State } from '../../parts/state.tsx';
import classes from '../../parts/view.module.css';

/** @returns the query of the mappers. */
export function useMappers() {
  return useQuery({ queryKey: ['mappers'], queryFn: () => bodyOf(api.GET('/account/mappers')) });
}

/** The tab "Mappers" when no mapper is open. */
export function Mappers() {
  const { t } = useTranslation('data');
  const navigate = useNavigate();
  const mappers = useMappers();
  const create = () => void navigate({ to: '/console/data', search: { tab: 'mappers', mapper: 'new' } });
  if (mappers.error) return <Problem error={mappers.error} onRetry={() => void mappers.refetch()} />;
  if (!mappers.data) return <Skeleton height={160} radius="md" />;
  if (mappers.data.length === 0)
    return (
      <div className={classes.empty}>
        <h2>{t('mappers.none')}</h2>
        <p>{t('mappers.noneHint')}</p>
        <Button mt="sm" onClick={create}>
          {t('mappers.create')}
        </Button>
      </div>
    );
  return (
    <section className={classes.card} aria-label={t('tab.mappers')}>
      <ul className={classes.list}>
        {mappers.data.map(({ id, name, isEnabled, modifiedDate }) => (
          <li key={id} className={classes.row}>
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
          </li>
        ))}
      </ul>
      <Button mt="sm" onClick={create}>
        {t('mappers.create')}
      </Button>
    </section>
  );
}
