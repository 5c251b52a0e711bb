/** Request bodies (R-A4): accepted media types, gzip, the size limit on the inflated bytes, JSON errors with a place. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { type ParseError, parse as parseTolerant, printParseErrorCode } from 'jsonc-parser';
import { DomainError } from './errors.ts';

const JSON_TYPE = /^application\/(json|[\w.+-]+\+json|json-patch\+json)\s*(;|$)/i;
const DEFAULT_MAX_BYTES = 1 << 20;

/**
 * Reads and parses a JSON body.
 * @param maxBytes limit on the inflated size.
 * @throws DomainError unsupported_media_type, body_too_large, malformed_json (with line and column).
 */
export async function readJsonBody(request: Request, maxBytes = DEFAULT_MAX_BYTES): Promise<unknown> {
  const contentType = request.headers.get('content-type') ?? '';
  if (!JSON_TYPE.test(contentType)) {
    throw new DomainError(
      'unsupported_media_type',
      `the body must be application/json, application/*+json or application/json-patch+json, got ${contentType || 'no type'}`,
    );
  }
  return parseJson(new TextDecoder().decode(await readBytes(request, maxBytes)));
}

/** @throws DomainError malformed_json, naming line and column of the first fault. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const { offset, what } = locateFault(text, error);
    const before = text.slice(0, offset);
    const line = before.split('\n').length;
    const column = offset - before.lastIndexOf('\n');
    const message = `the body is not JSON: ${what} at line ${line}, column ${column}`;
    throw new DomainError('malformed_json', message, [{ path: `line ${line}, column ${column}`, message: what }]);
  }
}

/** V8 names the position of most faults; a tolerant parser finds the others. */
function locateFault(text: string, error: unknown): { readonly offset: number; readonly what: string } {
  const errors: ParseError[] = [];
  parseTolerant(text, errors, {
    disallowComments: true,
    allowTrailingComma: false,
  });
  const [first] = errors;
  const position = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  const offset = position === undefined ? (first?.offset ?? text.length) : Number(position);
  return {
    offset,
    what: first ? spaced(printParseErrorCode(first.error)) : 'unexpected text',
  };
}

function spaced(code: string): string {
  return code.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const raw = Readable.fromWeb(request.body as Parameters<typeof Readable.fromWeb>[0]);
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity') return buffer(limited(raw, maxBytes));
  if (encoding !== 'gzip') {
    throw new DomainError('unsupported_media_type', `Content-Encoding must be gzip or absent, got ${encoding}`);
  }
  const gunzip = createGunzip();
  raw.on('error', (error) => gunzip.destroy(error));
  try {
    return await buffer(limited(raw.pipe(gunzip), maxBytes));
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw new DomainError('invalid_input', 'the body is not valid gzip');
  } finally {
    raw.destroy();
  }
}

async function* limited(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new DomainError('body_too_large', `the body must be at most ${maxBytes} bytes when inflated`);
    }
    yield chunk;
  }
}
