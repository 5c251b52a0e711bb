/** The tree as a flat list of rows. Pure. */
import type { Element, ListKey, LoadedList, Site, Source, Variable } from './structure.ts';

export type Row =
  | { readonly kind: 'site'; readonly id: string; readonly depth: 0; readonly item: Site; readonly isOpen: boolean }
  | { readonly kind: 'source'; readonly id: string; readonly depth: 1; readonly item: Source; readonly isOpen: boolean }
  | { readonly kind: 'variable'; readonly id: string; readonly depth: 2; readonly item: Variable }
  /** A page that is not loaded yet. */
  | {
      readonly kind: 'loading';
      readonly id: string;
      readonly depth: number;
      readonly list: ListKey;
      readonly page: number;
    }
  | { readonly kind: 'empty'; readonly id: string; readonly depth: number };

type Lists = ReadonlyMap<ListKey, LoadedList>;

/**
 * @param open the ids of the rows that are open.
 * @returns the rows of the tree from top to bottom, without the children of closed rows.
 */
export function toRows(lists: Lists, open: ReadonlySet<string>): readonly Row[] {
  return rowsOf<Site>(lists, 'sites', 0, (item) => {
    const id = `site-${item.id}`;
    const isOpen = open.has(id);
    const children = isOpen ? sourceRows(lists, item.id, open) : [];
    return [{ kind: 'site', id, depth: 0, item, isOpen }, ...children];
  });
}

function sourceRows(lists: Lists, siteId: number, open: ReadonlySet<string>): readonly Row[] {
  return rowsOf<Source>(lists, `sources:${siteId}`, 1, (item) => {
    const id = `source-${item.id}`;
    const isOpen = open.has(id);
    const children = isOpen ? variableRows(lists, item.id) : [];
    return [{ kind: 'source', id, depth: 1, item, isOpen }, ...children];
  });
}

function variableRows(lists: Lists, sourceId: number): readonly Row[] {
  return rowsOf<Variable>(lists, `variables:${sourceId}`, 2, (item) => [
    { kind: 'variable', id: `variable-${item.id}`, depth: 2, item },
  ]);
}

function rowsOf<Item extends Element>(
  lists: Lists,
  list: ListKey,
  depth: number,
  toOwn: (item: Item) => readonly Row[],
): readonly Row[] {
  const pages = lists.get(list)?.pages ?? [];
  const rows = pages.flatMap((page) => (page?.body ?? []) as readonly Item[]).flatMap(toOwn);
  const loaded = pages.reduce((sum, page) => sum + (page?.body.length ?? 0), 0);
  const total = pages[0]?.total;
  if (total === 0) return [{ kind: 'empty', id: `${list}-empty`, depth }];
  if (total !== undefined && loaded >= total) return rows;
  return [...rows, { kind: 'loading', id: `${list}-loading`, depth, list, page: pages.filter(Boolean).length }];
}
