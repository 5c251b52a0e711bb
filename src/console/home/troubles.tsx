/** Shows the items that need attention, by kind. A kind without items is not shown. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactElement, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Ago } from '../parts/moment.tsx';
import type { Health, Kind } from './health.ts';
import classes from './troubles.module.css';

/** Number of items of a list that are shown before the user asks for more. */
const SHOWN_FIRST = 8;

/**
 * Lists the troubles of the account: failing calculations, pushes with errors, files with errors, disabled webhooks,
 * silent variables.
 */
export function Troubles({ health }: { readonly health: Health }) {
  return (
    <>
      <Calculations {...health.calculations} />
      <Pushes {...health.pushes} />
      <Files {...health.files} />
      {health.webhooks && <Webhooks {...health.webhooks} />}
      <Silent {...health.variables.silent} />
    </>
  );
}

interface SectionProps {
  readonly kind: Kind;
  readonly count: number;
  readonly items: readonly ReactElement[];
}

function Section({ kind, count, items }: SectionProps) {
  const { t } = useTranslation();
  const [isWhole, setWhole] = useState(false);
  if (count === 0) return null;
  const shown = isWhole ? items : items.slice(0, SHOWN_FIRST);
  return (
    <section className={classes.section} aria-labelledby={kind}>
      <h2 id={kind} className={classes.title}>
        {t(`home.section.${kind}`)}
      </h2>
      <ul className={classes.list}>{shown}</ul>
      {shown.length < count && (
        <p className={classes.more}>
          {t('home.more', { shown: shown.length, count })}{' '}
          {!isWhole && items.length > SHOWN_FIRST && (
            <Button size="compact-sm" variant="subtle" onClick={() => setWhole(true)}>
              {t('home.showMore')}
            </Button>
          )}
        </p>
      )}
    </section>
  );
}

interface ItemProps {
  readonly title: ReactNode;
  /** Texts of the line below the title, such as the name of the site and the name of the source. */
  readonly path?: readonly string[];
  readonly message?: string | null;
  readonly instant: string | null;
}

function Item({ title, path, message, instant }: ItemProps) {
  return (
    <li className={classes.item}>
      <div className={classes.text}>
        <div className={classes.name}>{title}</div>
        {path && <div className={classes.path}>{path.join(' › ')}</div>}
        {message && <div className={classes.message}>{message}</div>}
      </div>
      {instant && (
        <div className={classes.when}>
          <Ago instant={instant} />
        </div>
      )}
    </li>
  );
}

interface Named {
  readonly variableId: number;
  readonly name: string;
}

function VariableLink({ variableId, name }: Named) {
  return (
    <Link to="/console/variables/$variableId" params={{ variableId }}>
      {name || `#${variableId}`}
    </Link>
  );
}

/** Link to the failed runs of a calculated variable. */
function RunsLink({ variableId, name }: Named) {
  return (
    <Link to="/console/variables/$variableId/runs" params={{ variableId }} search={{ state: 'Failed' }}>
      {name || `#${variableId}`}
    </Link>
  );
}

function Silent({ count, items }: Health['variables']['silent']) {
  const { t } = useTranslation();
  return (
    <Section
      kind="silent"
      count={count}
      items={items.map(({ variableId, name, siteName, sourceName, lastDate, granularity, granularityTimeBase }) => (
        <Item
          key={variableId}
          title={<VariableLink variableId={variableId} name={name} />}
          path={[siteName, sourceName, t(`every.${granularityTimeBase}`, { count: granularity })]}
          instant={lastDate}
        />
      ))}
    />
  );
}

function Calculations({ count, items }: Health['calculations']) {
  return (
    <Section
      kind="calculations"
      count={count}
      items={items.map(({ variableId, name, siteName, sourceName, date, message }) => (
        <Item
          key={variableId}
          title={<RunsLink variableId={variableId} name={name} />}
          path={[siteName, sourceName]}
          message={message}
          instant={date}
        />
      ))}
    />
  );
}

function Pushes({ count, items }: Health['pushes']) {
  const { t } = useTranslation();
  return (
    <Section
      kind="pushes"
      count={count}
      items={items.map(({ label, date, rejectedElements, message }) => (
        <Item
          key={label + date}
          title={
            <Link to="/console/data" search={{ tab: 'pushes', label }}>
              <code>{label}</code>
            </Link>
          }
          path={[t('home.rejectedElements', { count: rejectedElements })]}
          message={message}
          instant={date}
        />
      ))}
    />
  );
}

function Files({ count, items }: Health['files']) {
  const { t } = useTranslation();
  return (
    <Section
      kind="files"
      count={count}
      items={items.map(({ id, filename, date, rejectedRows, message }) => (
        <Item
          key={id}
          title={
            <Link to="/console/data" search={{ file: id }}>
              {filename}
            </Link>
          }
          path={[t('home.rejectedRows', { count: rejectedRows })]}
          message={message}
          instant={date}
        />
      ))}
    />
  );
}

function Webhooks({ count, items }: NonNullable<Health['webhooks']>) {
  return (
    <Section
      kind="webhooks"
      count={count}
      items={items.map(({ id, name, disabledDate, reason }) => (
        <Item
          key={id}
          title={
            <Link to="/console/webhooks" search={{ webhook: id }}>
              {name}
            </Link>
          }
          message={reason}
          instant={disabledDate}
        />
      ))}
    />
  );
}
