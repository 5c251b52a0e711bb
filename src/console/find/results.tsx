/** Search results: variables first, then sources, then sites. */
import { Skeleton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../parts/problem.tsx';
import { Icon, type IconName } from '../shell/icon.tsx';
import { formatNumber } from '../texts/language.ts';
import classes from './results.module.css';
import { type Hits, useSearch, useSourcesOf } from './structure.ts';

/** Shows the search results for a text. @param text must not be empty. */
export function Results({ text }: { readonly text: string }) {
  const { t } = useTranslation();
  const search = useSearch(text);
  if (search.error) return <Problem error={search.error} onRetry={() => void search.refetch()} />;
  if (!search.data) return <Skeleton height={160} radius="md" />;
  const { variables, sources, sites } = search.data;
  const total = variables.total + sources.total + sites.total;
  return (
    <div aria-busy={search.isFetching}>
      <p role="status" className={classes.status}>
        {total === 0 ? t('find.nothing') : t('find.found', { count: total })}
      </p>
      <Variables {...variables} />
      <Sources {...sources} />
      <Sites {...sites} />
    </div>
  );
}

interface GroupProps {
  readonly kind: 'variables' | 'sources' | 'sites';
  readonly total: number;
  readonly shown: number;
  readonly children: ReactNode;
}

function Group({ kind, total, shown, children }: GroupProps) {
  const { t } = useTranslation();
  if (total === 0) return null;
  return (
    <section className={classes.group}>
      <h2 className={classes.title}>
        {t(`find.kind.${kind}`)} <span className={classes.count}>{formatNumber(total)}</span>
      </h2>
      <ul className={classes.list}>{children}</ul>
      {shown < total && <p className={classes.more}>{t('find.more', { shown })}</p>}
    </section>
  );
}

interface HitProps {
  readonly icon: IconName;
  readonly name: ReactNode;
  readonly path: readonly (string | null | undefined)[];
  readonly tags?: readonly string[] | null | undefined;
}

function Hit({ icon, name, path, tags }: HitProps) {
  return (
    <li className={classes.hit}>
      <Icon name={icon} size={17} />
      <span className={classes.name}>{name}</span>
      <span className={classes.path}>{path.filter(Boolean).join(' › ')}</span>
      {tags?.map((tag) => (
        <span key={tag} className={classes.tag}>
          {tag}
        </span>
      ))}
    </li>
  );
}

function Variables({ body, total }: Hits['variables']) {
  const sources = useSourcesOf(body);
  return (
    <Group kind="variables" total={total} shown={body.length}>
      {body.map(({ id, name, sourceId, sourceName, mappingConfig }) => (
        <Hit
          key={id}
          icon="variable"
          name={
            <Link to="/console/variables/$variableId" params={{ variableId: id }}>
              {name || `#${id}`}
            </Link>
          }
          path={[sources.data?.get(sourceId)?.siteName, sourceName, mappingConfig]}
        />
      ))}
    </Group>
  );
}

function Sources({ body, total }: Hits['sources']) {
  return (
    <Group kind="sources" total={total} shown={body.length}>
      {body.map(({ id, name, siteName, serialNumber, tags }) => (
        <Hit
          key={id}
          icon="source"
          name={
            <Link to="/console/sources/$sourceId" params={{ sourceId: id }}>
              {name}
            </Link>
          }
          path={[siteName, serialNumber]}
          tags={tags}
        />
      ))}
    </Group>
  );
}

function Sites({ body, total }: Hits['sites']) {
  return (
    <Group kind="sites" total={total} shown={body.length}>
      {body.map(({ id, name, city, country }) => (
        <Hit
          key={id}
          icon="site"
          name={
            <Link to="/console/sites/$siteId" params={{ siteId: id }}>
              {name}
            </Link>
          }
          path={[city, country]}
        />
      ))}
    </Group>
  );
}
