/** Query parameters of `/console/settings`: the tab, the opened form, and the chosen catalogue. Pure. */

const NAMES = ['tab', 'form', 'catalogue'] as const;

export type SettingsSearch = { readonly [Name in (typeof NAMES)[number]]?: string };

/** @returns the known parameters of the address, as texts. */
export function parseSettingsSearch(search: Readonly<Record<string, unknown>>): SettingsSearch {
  return Object.fromEntries(
    NAMES.flatMap((name) =>
      search[name] === undefined || search[name] === '' ? [] : [[name, String(search[name])] as const],
    ),
  );
}
