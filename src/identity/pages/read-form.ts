/** A posted form, and whether it comes from our own page. */
import type { IncomingMessage } from 'node:http';

const MAX_BYTES = 16_384;

export type Form = Readonly<Record<string, string>>;

/** undefined for anything but a small urlencoded form. Of a field given twice the last counts. */
export async function readForm(request: IncomingMessage): Promise<Form | undefined> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers['content-type'] ?? '')) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
}

/**
 * Whether the browser says that the form was on a page of ours. Cookies are SameSite=Lax besides, so a form elsewhere
 * would bring none.
 */
export function isFromOwnPage(headers: IncomingMessage['headers'], origin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (typeof site === 'string') return site === 'same-origin' || site === 'none';
  return headers.origin === undefined || headers.origin === origin;
}
