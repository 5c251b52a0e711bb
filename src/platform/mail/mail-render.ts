/**
 * Renders an email as plain text and as HTML with the same content. Line breaks in values become spaces; in HTML,
 * values are escaped.
 */
import { html, raw } from 'hono/html';
import { type MailTranslations, toMailLanguage } from './mail-text.ts';

export type MailValues = Readonly<Record<string, string>>;

export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/**
 * Matches line breaks, other control characters, and the characters that change the direction of text (embeddings,
 * overrides and isolates).
 */
const CONTROL_CHARACTERS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

/**
 * Renders an email in the language of its recipient (R-B10).
 * @param language ISO 639-1 code, with or without a region.
 * @throws {Error} when `values` has no value for a placeholder of the email.
 */
export function renderMail(translations: MailTranslations, language: string, values: MailValues): RenderedMail {
  const mailLanguage = toMailLanguage(language);
  const { subject, lines, button, closing } = translations[mailLanguage];
  const plain = (text: string) => fill(text, values);
  const paragraph = (text: string) => html`<p>${plain(text)}</p>\n`;
  const link = button === undefined ? [] : [`${plain(button)}:\n${plain('{link}')}`];
  const linkHtml = button === undefined ? '' : html`<p><a href="${plain('{link}')}">${plain(button)}</a></p>\n`;
  const body = html`${lines.map(paragraph)}${linkHtml}${closing.map(paragraph)}`;
  return {
    // A long run of spaces in a value could make the rest of the subject look like another header.
    subject: plain(subject).replace(/\s+/g, ' '),
    text: `${[...lines.map(plain), ...link, ...closing.map(plain)].join('\n\n')}\n`,
    html: String(html`${raw('<!DOCTYPE html>')}\n<html lang="${mailLanguage}"><body>\n${body}</body></html>\n`),
  };
}

function fill(text: string, values: MailValues): string {
  return text.replace(/\{(\w+)\}/g, (_placeholder, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the data of the email must contain a value for {${name}}`);
    // Users choose the values of some placeholders. If a value kept its line breaks, it could look like a paragraph
    // that the service wrote.
    return value.replace(CONTROL_CHARACTERS, ' ');
  });
}
