/** Reads posted forms, and checks that they come from a page of the service. */
import type { IncomingMessage } from 'node:http';

const MAX_BYTES = 16_384;

export type Form = Readonly<Record<string, string>>;

/**
 * @returns the fields; undefined when the body is not a urlencoded form, or is larger than 16 KiB. If a field is
 *   repeated, only its last value is returned.
 */
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
 * @returns false when the browser reports that the form was on a page of another origin. In addition, cookies are
 * SameSite=Lax, so a form on another site is posted without cookies.
 */
export function isFromOwnPage(headers: IncomingMessage['headers'], origin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (typeof site === 'string') return site === 'same-origin' || site === 'none';
  return headers.origin === undefined || headers.origin === origin;
}
