/** Fetches raw HTTP answers and parses CSV, for tests of the formats of reads. */
import type { TestApi } from '../services/start-api.ts';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

/** Sends a request; `token` defaults to the token of the manager. */
export async function fetchRaw(
  api: TestApi,
  path: string,
  accept?: string,
  options: RequestInit & { readonly token?: string | undefined } = {},
): Promise<RawAnswer> {
  const { token = api.manager.token, ...init } = options;
  const headers = {
    authorization: `Bearer ${token}`,
    ...(accept !== undefined && { accept }),
    ...(init.body !== undefined && { 'content-type': 'application/json' }),
  };
  const response = await fetch(api.origin + path, { ...init, headers });
  const { status } = response;
  return { status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

/**
 * Parses a CSV text, in which no quoted cell may contain a line break.
 * @returns the records: the header, then the rows. The quotes around quoted cells are removed.
 */
export function parseCsv(text: string): readonly (readonly string[])[] {
  const lines = text.split('\r\n');
  if (lines.pop() !== '') throw new Error('the last line must end with CRLF');
  return lines.map((line) =>
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(
      ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
    ),
  );
}
