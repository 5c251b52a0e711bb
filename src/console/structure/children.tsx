/** The sources of a site, or the variables of a source. */
import { Skeleton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Problem } from '../parts/problem.tsx';
import classes from '../parts/view.module.css';
import { useSession } from '../session/session.tsx';
import { Icon } from '../shell/icon.tsx';
import { MAX_CHILDREN, useChildren } from './structure-queries.ts';

interface ChildrenProps {
  readonly kind: 'Site' | 'Source';
  readonly id: number;
}

/**
 * Lists the sources of a site, or the variables of a source. Managers and administrators also see a link to the page
 * that adds a source or a variable.
 */
export function Children({ kind, id }: ChildrenProps) {
  const { t } = useTranslation('structure');
  const { mayManage } = useSession();
  const children = useChildren(kind, id);
  if (children.error) return <Problem error={children.error} onRetry={() => void children.refetch()} />;
  if (!children.data) return <Skeleton height={160} radius="md" />;
  const { body, total } = children.data;
  return (
    <section className={classes.card} aria-labelledby="children">
      <div className={`${classes.bar} ${classes.between}`}>
        <h2 id="children">{t(`children.${kind}`)}</h2>
        {mayManage && body.length > 0 && <Add kind={kind} id={id} />}
      </div>
      {body.length === 0 && (
        <p className={`${classes.soft} ${classes.bar}`}>
          {t(`children.none${kind}`)}
          {mayManage && <Add kind={kind} id={id} />}
        </p>
      )}
      <ul className={classes.list}>
        {body.map((child) => (
          <li key={child.id} className={classes.row}>
            <span className={classes.iconed}>
              <Icon name={kind === 'Site' ? 'source' : 'variable'} size={17} />
              {kind === 'Site' ? (
                <Link to="/console/sources/$sourceId" params={{ sourceId: child.id }}>
                  {child.name || `#${child.id}`}
                </Link>
              ) : (
                <Link to="/console/variables/$variableId" params={{ variableId: child.id }}>
                  {child.name || `#${child.id}`}
                </Link>
              )}
            </span>
            <span className={classes.soft}>{child.serialNumber ?? child.mappingConfig}</span>
          </li>
        ))}
      </ul>
      {total > body.length && (
        <p className={`${classes.soft} ${classes.bar}`}>
          {t('children.more', { shown: MAX_CHILDREN, count: total })}
          <Link to="/console/find" search={{ q: `${kind === 'Site' ? 'siteId' : 'sourceId'} = ${id}` }}>
            {t('children.all')}
          </Link>
        </p>
      )}
    </section>
  );
}

function Add({ kind, id }: ChildrenProps) {
  const { t } = useTranslation('structure');
  return kind === 'Site' ? (
    <Link to="/console/sites/$siteId/new-source" params={{ siteId: id }}>
      {t('newSource')}
    </Link>
  ) : (
    <Link to="/console/sources/$sourceId/new-variable" params={{ sourceId: id }}>
      {t('newVariable')}
    </Link>
  );
}
