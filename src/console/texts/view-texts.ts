/**
 * Texts that are loaded with a route, so the first view does not carry them. Each such route has a folder `texts/` with
 * the four languages, and a `texts.ts` that calls `addTexts` and names its namespace in `ViewTexts`; its components
 * call `useTranslation(namespace)`.
 */
import i18next from 'i18next';
import type { en, TextsOf } from './en.ts';
import { finishFrench } from './french.ts';
import type { Language } from './language.ts';

/** The namespaces of routes. A route's `texts.ts` adds its own by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging.
export interface ViewTexts {}

declare module 'i18next' {
  interface CustomTypeOptions {
    readonly resources: ViewTexts & { readonly translation: typeof en };
  }
}

/** Adds the texts of a route in every language. */
export function addTexts<T extends object>(
  namespace: keyof ViewTexts,
  texts: { readonly en: T } & { readonly [L in Exclude<Language, 'en'>]: TextsOf<T> },
): void {
  for (const [language, bundle] of Object.entries({ ...texts, fr: finishFrench(texts.fr) }))
    i18next.addResourceBundle(language, namespace, bundle);
}
