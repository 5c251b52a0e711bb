/**
 * Home: what needs attention in the account. Shows the number of items of each kind, then the items, each with a link
 * to its variable, runs, push, file or webhook. A manager or administrator who sees no variables gets the first steps
 * instead. A USER who sees no variables learns whom to ask.
 */
import { ActionIcon, Skeleton, Tooltip } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Ago } from '../parts/moment.tsx';
import { Problem } from '../parts/problem.tsx';
import { useSession } from '../session/session.tsx';
import { Icon, type IconName } from '../shell/icon.tsx';
import { formatNumber } from '../texts/language.ts';
import { countTroubles, type Health, KINDS, type Kind, useHealth } from './health.ts';
import classes from './home.module.css';
import { Troubles } from './troubles.tsx';

const ICONS: Readonly<Record<Kind, IconName>> = {
  silent: 'silent',
  calculations: 'script',
  pushes: 'push',
  files: 'file',
  webhooks: 'webhook',
};

/** The start page: what needs attention in the account, or a hint when the user sees no variables. */
export function Home() {
  const { t } = useTranslation();
  const health = useHealth();
  return (
    <>
      <header className={classes.header}>
        <div>
          <h1>{t('home.title')}</h1>
          {health.data && <Verdict health={health.data} />}
        </div>
        <div className={classes.checked}>
          {health.data && <Ago instant={health.data.checkedDate} />}
          <Tooltip label={t('home.refresh')}>
            <ActionIcon
              variant="subtle"
              size="lg"
              aria-label={t('home.refresh')}
              loading={health.isFetching}
              onClick={() => void health.refetch()}
            >
              <Icon name="refresh" />
            </ActionIcon>
          </Tooltip>
        </div>
      </header>
      {health.error && <Problem error={health.error} onRetry={() => void health.refetch()} />}
      {health.isPending && <Skeleton height={120} radius="md" />}
      {health.data && <Overview health={health.data} />}
    </>
  );
}

/** One sentence: all is well, or the number of items that need attention. */
function Verdict({ health }: { readonly health: Health }) {
  const { t } = useTranslation();
  const count = Object.values(countTroubles(health)).reduce((sum, each) => sum + each, 0);
  return (
    <p className={count === 0 ? classes.good : classes.lead}>
      {count === 0 ? t('home.good') : t('home.attention', { count })}
    </p>
  );
}

function Overview({ health }: { readonly health: Health }) {
  const { t } = useTranslation();
  const counts = countTroubles(health);
  if (health.variables.total === 0) return <Nothing />;
  return (
    <>
      <ul className={classes.tiles}>
        {KINDS.filter((kind) => counts[kind] !== undefined).map((kind) => (
          <Tile key={kind} kind={kind} count={counts[kind] ?? 0} />
        ))}
        <Waiting waiting={health.waiting} />
      </ul>
      <p className={classes.figures}>
        {t('home.figures', {
          total: health.variables.total,
          watched: health.variables.watched,
          empty: health.variables.empty,
        })}
      </p>
      <Troubles health={health} />
    </>
  );
}

function Tile({ kind, count }: { readonly kind: Kind; readonly count: number }) {
  const { t } = useTranslation();
  const content = (
    <>
      <span className={classes.icon}>
        <Icon name={count === 0 ? 'check' : ICONS[kind]} size={20} />
      </span>
      <span className={classes.count}>{formatNumber(count)}</span>
      <span className={classes.label}>{t(`home.kind.${kind}`, { count })}</span>
    </>
  );
  return (
    <li>
      {count === 0 ? (
        <div className={classes.tile}>{content}</div>
      ) : (
        <a className={classes.tile} data-trouble href={`#${kind}`}>
          {content}
        </a>
      )}
    </li>
  );
}

/** Shows one number: unfinished batches of pushes, plus unfinished files, plus calculations that have not started. */
function Waiting({ waiting }: { readonly waiting: Health['waiting'] }) {
  const { t } = useTranslation();
  const count = waiting.pushes + waiting.files + waiting.calculations;
  const seconds = waiting.oldestPushSeconds;
  return (
    <li>
      <div className={classes.tile} data-plain>
        <span className={classes.icon}>
          <Icon name="queue" size={20} />
        </span>
        <span className={classes.count}>{formatNumber(count)}</span>
        <span className={classes.label}>
          {seconds > 60 ? t('home.late', { seconds }) : t('home.waiting', { count })}
        </span>
      </div>
    </li>
  );
}

/**
 * Shown when the user sees no variables. Managers and administrators see the first steps. A USER sees whom to ask.
 */
function Nothing() {
  const { t } = useTranslation();
  const { mayManage } = useSession();
  return (
    <div className={classes.nothing}>
      <Icon name="variable" size={36} />
      <h2>{t('home.empty.title')}</h2>
      <p>{t(mayManage ? 'home.empty.text' : 'home.empty.ask')}</p>
      {mayManage && (
        <p className={classes.steps}>
          <Link to="/console/sites/new">{t('home.empty.create')}</Link>
          <Link to="/console/find">{t('home.empty.sites')}</Link>
          <Link to="/console/data" search={{ tab: 'structure' }}>
            {t('home.empty.import')}
          </Link>
        </p>
      )}
      {mayManage && (
        <p>
          <a href="/docs">{t('home.empty.docs')}</a>
        </p>
      )}
    </div>
  );
}
