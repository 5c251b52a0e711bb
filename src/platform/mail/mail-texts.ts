/** What mails say, in the language of who gets them. Placeholders such as `{userName}` are filled when a mail is sent. */
import type { MailKind, MailText, MailTexts } from './mail-text.ts';
import { MAIL_TEXTS_DE } from './mail-texts-de.ts';
import { MAIL_TEXTS_EN } from './mail-texts-en.ts';
import { MAIL_TEXTS_FR } from './mail-texts-fr.ts';
import { MAIL_TEXTS_NL } from './mail-texts-nl.ts';

export const MAIL_LANGUAGES = ['en', 'fr', 'nl', 'de'] as const;
export type MailLanguage = (typeof MAIL_LANGUAGES)[number];

const TEXTS: Readonly<Record<MailLanguage, MailTexts>> = {
  en: MAIL_TEXTS_EN,
  fr: MAIL_TEXTS_FR,
  nl: MAIL_TEXTS_NL,
  de: MAIL_TEXTS_DE,
};

/** The language of a text for somebody whose language is `language`, such as `nl` or `fr-BE`; English where there is none. */
export function toMailLanguage(language: string): MailLanguage {
  const wanted = language.slice(0, 2).toLowerCase();
  return MAIL_LANGUAGES.find((candidate) => candidate === wanted) ?? 'en';
}

export function mailText(kind: MailKind, language: string): MailText {
  return TEXTS[toMailLanguage(language)][kind];
}
