/** From a text and its values to a mail: plain text and HTML say the same, and values are text in both. */
import type { MailKind } from './mail-text.ts';
import { mailText, toMailLanguage } from './mail-texts.ts';

export type MailValues = Readonly<Record<string, string>>;

export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Line breaks and other control characters, with the marks that turn the direction of what follows. */
const BREAKS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

/** @throws Error when a value that the text mentions is missing. */
export function renderMail(kind: MailKind, language: string, values: MailValues): RenderedMail {
  const { subject, lines, button, closing } = mailText(kind, language);
  const plain = (text: string) => fill(text, values);
  const rich = (text: string) => `<p>${escapeHtml(plain(text))}</p>`;
  const link = button === undefined ? [] : [`${plain(button)}:\n${plain('{link}')}`];
  const linkHtml =
    button === undefined ? [] : [`<p><a href="${escapeHtml(plain('{link}'))}">${escapeHtml(plain(button))}</a></p>`];
  const body = [...lines.map(rich), ...linkHtml, ...closing.map(rich)].join('\n');
  return {
    // A line break in a name must not become a header: none is left, and no run of spaces to look like one.
    subject: plain(subject).replace(/\s+/g, ' '),
    text: `${[...lines.map(plain), ...link, ...closing.map(plain)].join('\n\n')}\n`,
    html: `<!DOCTYPE html>\n<html lang="${toMailLanguage(language)}"><body>\n${body}\n</body></html>\n`,
  };
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

function fill(text: string, values: MailValues): string {
  return text.replace(/\{(\w+)\}/g, (_placeholder, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`a mail needs the value ${name}`);
    // Of what people named themselves: with line breaks it would look like a text of ours.
    return value.replace(BREAKS, ' ');
  });
}
