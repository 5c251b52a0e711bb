/** The texts of pages by language, and which language somebody reads. */
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
 * The language of a page.
 * @param wishes in order: a parameter `ui_locales`, the user's language, `Accept-Language` (weights are in order in
 * practice and not looked at).
 */
export function choosePageLanguage(...wishes: readonly (string | null | undefined)[]): PageLanguage {
  for (const wish of wishes) {
    for (const part of (wish ?? '').split(/[\s,;]+/)) {
      const found = MAIL_LANGUAGES.find((language) => language === part.slice(0, 2).toLowerCase());
      // `de`, `de-AT`; not `q=0.8`, nor `dental`.
      if (found && /^[a-z]{2}([-_]|$)/i.test(part)) return found;
    }
  }
  return 'en';
}

/** A text with its placeholders filled. */
export function fillText(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}
