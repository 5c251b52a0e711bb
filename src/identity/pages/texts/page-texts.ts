/** The texts of pages by language, and the choice of a language. */
import { MAIL_LANGUAGES, type MailLanguage } from '../../../platform/mail/mail-text.ts';
import type { PageTexts } from './page-text.ts';
import { PAGE_TEXTS_DE } from './page-texts-de.ts';
import { PAGE_TEXTS_EN } from './page-texts-en.ts';
import { PAGE_TEXTS_FR } from './page-texts-fr.ts';
import { PAGE_TEXTS_NL } from './page-texts-nl.ts';

export type PageLanguage = MailLanguage;

export const PAGE_TEXTS: Readonly<Record<PageLanguage, PageTexts>> = {
  en: PAGE_TEXTS_EN,
  fr: PAGE_TEXTS_FR,
  nl: PAGE_TEXTS_NL,
  de: PAGE_TEXTS_DE,
};

/**
 * Chooses the language of a page: the first preferred language that has texts, else English.
 * @param preferences lists of languages, such as `ui_locales`, the user's language and `Accept-Language`; earlier lists
 * take precedence. Weights are ignored, because browsers list languages in order of preference.
 */
export function choosePageLanguage(...preferences: readonly (string | null | undefined)[]): PageLanguage {
  for (const preference of preferences) {
    for (const part of (preference ?? '').split(/[\s,;]+/)) {
      const found = MAIL_LANGUAGES.find((language) => language === part.slice(0, 2).toLowerCase());
      // Accepts `de` and `de-AT`, not `q=0.8` or `dental`.
      if (found && /^[a-z]{2}([-_]|$)/i.test(part)) return found;
    }
  }
  return 'en';
}

/** Replaces each placeholder of a text with its value. A placeholder without a value remains in the text. */
export function fillText(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}
