/**
 * The texts of a namespace are loaded with the routes that show them, so the console can start without these texts. A
 * namespace has a folder `texts/` with one file for each of the four languages. A module of the routes adds the texts
 * with `addTexts`, and the components of the routes call `useTranslation(namespace)`.
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

/** Adds the texts of a namespace in every language. */
export function addTexts<T extends object>(
  namespace: keyof ViewTexts,
  texts: { readonly en: T } & { readonly [L in Exclude<Language, 'en'>]: TextsOf<T> },
): void {
  for (const [language, bundle] of Object.entries({ ...texts, fr: finishFrench(texts.fr) }))
    i18next.addResourceBundle(language, namespace, bundle);
}
