/** Query parameters of `/console/data`: the tab, and the item opened in it. Pure. */

export interface DataSearch {
  readonly tab?: string;
  /** Id of the file that is open. */
  readonly file?: string;
  /** Id of the structure import that is open. */
  readonly import?: string;
  /** Label of the push that is open. */
  readonly label?: string;
  /** GUID of the mapper that is open, or `new`. */
  readonly mapper?: string;
}

const NAMES = ['tab', 'file', 'import', 'label', 'mapper'] as const;

/** @returns the known members, as texts: the router parses a label of digits as a number. */
export function parseDataSearch(search: Readonly<Record<string, unknown>>): DataSearch {
  return Object.fromEntries(
    NAMES.flatMap((name) =>
      search[name] === undefined || search[name] === '' ? [] : [[name, String(search[name])] as const],
    ),
  );
}
