/** Query parameters of `/console/people`: the tab, the opened user or client, and the filters of the audit trail. Pure. */

const NAMES = ['tab', 'user', 'client', 'action', 'by', 'target', 'from', 'to', 'scope'] as const;

export type PeopleSearch = { readonly [Name in (typeof NAMES)[number]]?: string };

/** @returns the known parameters of the address, as texts. */
export function parsePeopleSearch(search: Readonly<Record<string, unknown>>): PeopleSearch {
  return Object.fromEntries(
    NAMES.flatMap((name) =>
      search[name] === undefined || search[name] === '' ? [] : [[name, String(search[name])] as const],
    ),
  );
}
