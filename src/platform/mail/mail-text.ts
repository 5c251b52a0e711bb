/**
 * Types for the texts of emails, and the languages of emails. Each feature defines its own texts; mail-render.ts fills
 * in the values.
 */

export const MAIL_LANGUAGES = ['en', 'fr', 'nl', 'de'] as const;
export type MailLanguage = (typeof MAIL_LANGUAGES)[number];

/** The text of one kind of email. Placeholders such as `{userName}` are filled when the email is sent. */
export interface MailText {
  readonly subject: string;
  /** Paragraphs of the email before the button. */
  readonly lines: readonly string[];
  /** Label of the link `{link}`; absent in an email without a link. */
  readonly button?: string;
  /** Paragraphs of the email after the button. */
  readonly closing: readonly string[];
}

/** The text of one kind of email in every language. */
export type MailTranslations = Readonly<Record<MailLanguage, MailText>>;

/** Translations by kind of email. The column `mail.kind` holds the kind. */
export type MailTexts = Readonly<Record<string, MailTranslations>>;

/**
 * @param language language of a reader, such as `nl` or `fr-BE`.
 * @returns the language of emails to this reader; English when emails are not translated into `language`.
 */
export function toMailLanguage(language: string): MailLanguage {
  const code = language.slice(0, 2).toLowerCase();
  return MAIL_LANGUAGES.find((candidate) => candidate === code) ?? 'en';
}
