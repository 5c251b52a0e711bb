/**
 * Texts that are loaded with a route, so the first view need not load them. Each such route has a folder `texts/` with
 * the four languages. Its page adds them with `addTexts`, and its components call `useTranslation(namespace)`.
 */
import i18next from 'i18next';
import type { en as calculated } from '../calculated/texts/en.ts';
import type { en as data } from '../data/texts/en.ts';
import type { en as operate } from '../operate/texts/en.ts';
import type { en as people } from '../people/texts/en.ts';
import type { en as settings } from '../settings/texts/en.ts';
import type { en as structure } from '../structure/texts/en.ts';
import type { en as variable } from '../variable/texts/en.ts';
import type { en as webhooks } from '../webhooks/texts/en.ts';
import type { en, TextsOf } from './en.ts';
import { finishFrench } from './french.ts';
import type { Language } from './language.ts';

/** The texts of each namespace. A namespace has the name of its folder. */
export interface ViewTexts {
  readonly calculated: typeof calculated;
  readonly data: typeof data;
  readonly operate: typeof operate;
  readonly people: typeof people;
  readonly settings: typeof settings;
  readonly structure: typeof structure;
  readonly variable: typeof variable;
  readonly webhooks: typeof webhooks;
}

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
