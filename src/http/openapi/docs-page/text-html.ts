/** The little CommonMark that descriptions use, as HTML: paragraphs, `code` and **bold**. */
import { escapeHtml } from '../../../platform/mail/mail-render.ts';

/** Within a line. */
export function inlineHtml(text: string): string {
  return escapeHtml(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
}

/** A paragraph for every block of text. */
export function textHtml(text: string): string {
  const blocks = text.split(/\n\s*\n/).filter((block) => block.trim() !== '');
  return blocks.map((block) => `<p>${inlineHtml(block)}</p>`).join('\n');
}
