/**
 * The tree site → source → variable: a virtual list, which renders only the rows in and near its visible part. Arrow
 * keys move through the tree.
 */
import { Link, useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../parts/problem.tsx';
import view from '../parts/view.module.css';
import { useSession } from '../session/session.tsx';
import { Icon } from '../shell/icon.tsx';
import { type ListKey, useLists } from './structure.ts';
import classes from './tree.module.css';
import { nextStep } from './tree-keys.ts';
import { type Row, toRows } from './tree-rows.ts';

const ROW_PIXELS = 38;

/** The sessionStorage key for the ids of expanded rows. After a visit to a variable, these rows are expanded again. */
const OPEN_KEY = 'tidemark.tree';

function readOpen(): ReadonlySet<string> {
  const text = sessionStorage.getItem(OPEN_KEY) ?? '';
  return new Set(text === '' ? [] : text.split(','));
}

function keepOpen(open: ReadonlySet<string>): void {
  try {
    sessionStorage.setItem(OPEN_KEY, [...open].join(','));
  } catch {
    // The storage is full: after a reload, the rows stored last are open.
  }
}

/** The sites, sources and variables that the user may see, as a tree. */
export function Tree() {
  const { t } = useTranslation();
  const { mayManage } = useSession();
  const navigate = useNavigate();
  const { lists, want } = useLists();
  const [open, setOpen] = useState(readOpen);
  const [active, setActive] = useState(0);
  const frame = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => toRows(lists, open), [lists, open]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PIXELS,
    overscan: 12,
  });
  const shown = virtual.getVirtualItems();

  useEffect(() => {
    for (const { index } of shown) {
      const row = rows[index];
      if (row?.kind === 'loading') want(row.list, row.page + 1);
    }
  });

  const toggle = (row: Row) => {
    if (row.kind !== 'site' && row.kind !== 'source') return;
    const next = new Set(open);
    if (!next.delete(row.id)) {
      next.add(row.id);
      const list: ListKey = row.kind === 'site' ? `sources:${row.item.id}` : `variables:${row.item.id}`;
      want(list, 1);
    }
    setOpen(next);
    keepOpen(next);
  };
  const choose = (row: Row | undefined) => {
    if (row?.kind === 'variable') {
      void navigate({ to: '/console/variables/$variableId', params: { variableId: row.item.id } });
    } else if (row) toggle(row);
  };
  const move = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setActive(next);
    virtual.scrollToIndex(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = nextStep(event.key, rows, active);
    if (step === undefined) return;
    event.preventDefault();
    if (step.kind === 'choose') choose(rows[active]);
    else if (step.kind === 'toggle') toggle(rows[active] as Row);
    else move(step.index);
  };

  const error = [...lists.values()].find((list) => list.error)?.error;
  if (error) return <Problem error={error} />;
  if (mayManage && rows.length === 1 && rows[0]?.kind === 'empty')
    return (
      <div className={view.empty}>
        <Link to="/console/sites/new">{t('home.empty.create')}</Link>
      </div>
    );
  return (
    <>
      <Chosen row={rows[active]} />
      <div
        ref={frame}
        className={classes.frame}
        role="tree"
        aria-label={t('find.tree')}
        tabIndex={0}
        aria-activedescendant={rows[active]?.id}
        onKeyDown={onKeyDown}
      >
        <div className={classes.rows} style={{ height: virtual.getTotalSize() }}>
          {shown.map(({ index, start }) => {
            const row = rows[index];
            return (
              row && (
                <TreeRow
                  key={row.id}
                  row={row}
                  start={start}
                  isActive={index === active}
                  onClick={() => {
                    setActive(index);
                    choose(row);
                  }}
                />
              )
            );
          })}
        </div>
      </div>
    </>
  );
}

/**
 * Links to the page of the site or source whose row is active. A user who may add elements also gets a link to the form
 * for a new element of this site or source. The links are needed, because Enter only expands or collapses the row of a
 * site or source.
 */
function Chosen({ row }: { readonly row: Row | undefined }) {
  const { t } = useTranslation();
  const { mayManage } = useSession();
  if (row?.kind !== 'site' && row?.kind !== 'source') return null;
  const { id } = row.item;
  const open = t('find.open', { name: row.item.name || `#${id}` });
  return (
    <p className={classes.chosen}>
      {row.kind === 'site' ? (
        <>
          <Link to="/console/sites/$siteId" params={{ siteId: id }}>
            {open}
          </Link>
          {mayManage && (
            <Link to="/console/sites/$siteId/new-source" params={{ siteId: id }}>
              {t('find.newSource')}
            </Link>
          )}
        </>
      ) : (
        <>
          <Link to="/console/sources/$sourceId" params={{ sourceId: id }}>
            {open}
          </Link>
          {mayManage && (
            <Link to="/console/sources/$sourceId/new-variable" params={{ sourceId: id }}>
              {t('find.newVariable')}
            </Link>
          )}
        </>
      )}
    </p>
  );
}

interface TreeRowProps {
  readonly row: Row;
  readonly start: number;
  readonly isActive: boolean;
  readonly onClick: () => void;
}

function TreeRow({ row, start, isActive, onClick }: TreeRowProps) {
  const { t } = useTranslation();
  const isBranch = row.kind === 'site' || row.kind === 'source';
  return (
    // The tree itself has the focus and handles the keys.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <div
      id={row.id}
      className={classes.row}
      role="treeitem"
      tabIndex={-1}
      aria-level={row.depth + 1}
      aria-selected={isActive}
      {...(isBranch && { 'aria-expanded': row.isOpen })}
      data-depth={row.depth}
      style={{ transform: `translateY(${start}px)`, height: ROW_PIXELS }}
      onClick={onClick}
    >
      {isBranch ? <Icon name={row.isOpen ? 'down' : 'right'} size={14} /> : <span className={classes.leaf} />}
      {row.kind === 'loading' && <span className={classes.soft}>{t('find.loading')}</span>}
      {row.kind === 'empty' && <span className={classes.soft}>{t('find.nothingHere')}</span>}
      {(isBranch || row.kind === 'variable') && (
        <>
          <Icon name={row.kind} size={17} />
          <span className={classes.name}>{row.item.name || `#${row.item.id}`}</span>
          <span className={classes.soft}>{noteOf(row)}</span>
        </>
      )}
    </div>
  );
}

function noteOf(row: Row): string {
  if (row.kind === 'site') return [row.item.postalCode, row.item.city].filter(Boolean).join(' ');
  if (row.kind === 'source') return row.item.serialNumber ?? '';
  return row.kind === 'variable' ? (row.item.mappingConfig ?? '') : '';
}
