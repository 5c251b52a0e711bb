/**
 * Reads request bodies (R-A4): checks media types, inflates gzip, limits the inflated size, and reports JSON
 * errors with line and column.
 */

import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { HttpBindings } from '@hono/node-server';
import { printParseErrorCode, visit } from 'jsonc-parser';
import { DomainError } from '../errors.ts';
import { parseJsonText } from '../json/json-text.ts';
import { showBytes } from '../limits.ts';

const JSON_TYPE = /^application\/(json|[\w.+-]+\+json|json-patch\+json)\s*(;|$)/i;
const UTF_8 = new TextDecoder('utf-8', { fatal: true });
// Decodes little-endian UTF-16, which .NET calls `Encoding.Unicode`.
const UTF_16 = new TextDecoder('utf-16le', { fatal: true });
const IS_UTF_16 = /;\s*charset="?utf-16(le)?"?\s*(;|$)/i;
const MAX_BYTES = 1 << 20;
// Maximum depth of nesting: far above the depth of real bodies, and below the depth that overflows the stack of a
// recursive parser in this process or in PostgreSQL.
const MAX_DEPTH = 200;

/**
 * Reads and parses a JSON body of at most 1 MiB, nested at most 200 levels deep (R-A4). The body is UTF-8, or UTF-16
 * when the `Content-Type` names it: .NET clients send PATCH requests in UTF-16.
 * @throws {DomainError} unsupported_media_type, body_too_large, malformed_json, invalid_input.
 */
export async function readJsonBody(request: Request): Promise<unknown> {
  const body = await readLargeJsonBody(request, MAX_BYTES);
  assertDepth(body);
  return body;
}

/**
 * Does the same as `readJsonBody`, but without a limit on depth. Only for callers that do not recurse into the value
 * (R-A4).
 * @param maxBytes limit on the inflated size.
 * @throws {DomainError} unsupported_media_type, body_too_large, malformed_json, invalid_input.
 */
export async function readLargeJsonBody(request: Request, maxBytes: number): Promise<unknown> {
  assertJsonType(request);
  const bytes = await readBytes(request, maxBytes);
  const isUtf16 = IS_UTF_16.test(request.headers.get('content-type') ?? '');
  return parseJson(isUtf16 ? decodeText(bytes, UTF_16) : decodeText(bytes));
}

/** @returns true when `contentType`, a `Content-Type` header, names a JSON type of R-A4. */
export function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && JSON_TYPE.test(contentType);
}

/** Checks `Content-Type` (R-A4). @throws {DomainError} unsupported_media_type when it is not a JSON type. */
export function assertJsonType(request: Request): void {
  const contentType = request.headers.get('content-type') ?? '';
  if (isJsonType(contentType)) return;
  throw new DomainError(
    'unsupported_media_type',
    `the body must be application/json, application/*+json or application/json-patch+json, got ${contentType || 'no type'}`,
  );
}

/**
 * Decodes text with `decoder`, by default as UTF-8.
 * @throws {DomainError} malformed_json when `decoder` refuses the bytes.
 */
export function decodeText(bytes: Uint8Array, decoder = UTF_8): string {
  try {
    return decoder.decode(bytes);
  } catch {
    const place = decoder === UTF_8 ? `; see byte ${findFault(bytes)} of the body` : ', as its Content-Type says';
    throw new DomainError('malformed_json', `the body must be ${decoder.encoding.toUpperCase()}${place}`);
  }
}

/** @returns the offset at or just before the first byte that is not UTF-8, found by bisection. */
function findFault(bytes: Uint8Array): number {
  let [start, end] = [0, bytes.length];
  for (;;) {
    let middle = (start + end) >> 1;
    // Moves back to the first byte of a character.
    while (middle > start && ((bytes[middle] ?? 0) & 0xc0) === 0x80) middle -= 1;
    if (middle === start) return start;
    if (isUtf8(bytes.subarray(start, middle))) start = middle;
    else end = middle;
  }
}

/** Checks the depth of nesting. Walks the value breadth-first, because a recursive check could overflow the stack. */
function assertDepth(body: unknown): void {
  let level = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) {
      throw new DomainError('invalid_input', `the body must be nested at most ${MAX_DEPTH} levels deep`);
    }
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
}

/** Parses JSON (R-A4). @throws {DomainError} malformed_json with line and column of the first fault. */
export function parseJson(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch (error) {
    const { offset, what } = locateFault(text, error);
    const before = text.slice(0, offset);
    const line = before.split('\n').length;
    const column = offset - before.lastIndexOf('\n');
    const message = `the body is not JSON: ${what} at line ${line}, column ${column}`;
    throw new DomainError('malformed_json', message, [{ path: `line ${line}, column ${column}`, message: what }]);
  }
}

/** Locates the first fault of a JSON text. If V8's error names no position, the scanner finds the position. */
function locateFault(text: string, error: unknown): { readonly offset: number; readonly what: string } {
  const first = findFirstError(text);
  const position = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  const offset = position === undefined ? (first?.offset ?? text.length) : Number(position);
  return {
    offset,
    what: first ? spaced(printParseErrorCode(first.error)) : 'unexpected text',
  };
}

interface Fault {
  readonly error: number;
  readonly offset: number;
}

/**
 * Scans a JSON text without building values.
 * @returns the first fault; undefined when there is none, or when the text is nested too deeply for the recursive
 * scanner.
 */
function findFirstError(text: string): Fault | undefined {
  let first: Fault | undefined;
  const onError = (error: number, offset: number): never => {
    first = { error, offset };
    throw new RangeError('found');
  };
  try {
    visit(text, { onError }, { disallowComments: true, allowTrailingComma: false });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return first;
}

function spaced(code: string): string {
  return code.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}

/** @returns Node's own request object, from Hono's `env`; undefined when the app runs without a Node server. */
export function incomingOf(env: unknown): HttpBindings['incoming'] | undefined {
  return (env as Partial<HttpBindings> | undefined)?.incoming;
}

/**
 * Reads a body, and inflates it when it is gzip (R-A4).
 * @param maxBytes limit on the inflated size.
 * @param onBytes receives the inflated size of each piece as it arrives. When `onBytes` throws, the read ends.
 * @param incoming the same body as a Node stream. When the length of the body is known, reading `incoming` takes half
 * as long as reading `request`.
 * @throws {DomainError} body_too_large; unsupported_media_type for an encoding other than gzip; invalid_input when the
 * gzip is not valid, and when the connection ends within the body.
 */
export async function readBytes(
  request: Request,
  maxBytes: number,
  onBytes: (count: number) => void = () => {},
  incoming?: Readable,
): Promise<Uint8Array<ArrayBuffer>> {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw new DomainError(
      'unsupported_media_type',
      `Content-Encoding must be gzip, identity or absent, got ${JSON.stringify(encoding)}`,
    );
  }
  try {
    if (encoding === 'gzip') return await readGzip(request, maxBytes, onBytes);
    return await readPlain(request, maxBytes, onBytes, incoming);
  } catch (error) {
    if (error instanceof DomainError) throw error;
    // If `error` were thrown again, a disconnected client (ECONNRESET) would be reported as an unavailable dependency.
    const isGunzipError = error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
    throw new DomainError(
      'invalid_input',
      isGunzipError ? 'the body is not valid gzip' : 'the body was not received completely',
    );
  }
}

async function readPlain(
  request: Request,
  maxBytes: number,
  onBytes: (count: number) => void,
  incoming: Readable | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const length = Number(request.headers.get('content-length') ?? Number.NaN);
  if (length >= 0) {
    // Refuses a body whose Content-Length is too large, without reading the body.
    if (length > maxBytes) throw tooLarge(maxBytes, `, got ${showBytes(length)}`);
    if (length <= SMALL_BYTES || !incoming) {
      const bytes = new Uint8Array(await request.arrayBuffer());
      onBytes(bytes.length);
      return bytes;
    }
    // When the read ends early, for example because the body is too large, the default iterator would close the
    // connection before the error response is sent.
    return gather(limited(incoming.iterator({ destroyOnReturn: false }), maxBytes, onBytes), length);
  }
  if (request.body === null) return new Uint8Array();
  return gather(limited(toReadable(request.body), maxBytes, onBytes));
}

async function readGzip(
  request: Request,
  maxBytes: number,
  onBytes: (count: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  if (request.body === null) return new Uint8Array();
  const raw = toReadable(request.body);
  const gunzip = createGunzip();
  raw.on('error', (error) => gunzip.destroy(error));
  try {
    return await gather(limited(raw.pipe(gunzip), maxBytes, onBytes, ' when inflated'));
  } finally {
    raw.destroy();
  }
}

function toReadable(body: NonNullable<Request['body']>): Readable {
  return Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
}

// Up to this size, one `arrayBuffer()` call is faster than reading chunks.
const SMALL_BYTES = 1 << 14;
const FIRST_BUFFER_BYTES = 1 << 18;

/**
 * Concatenates chunks as they arrive: joining 50 MiB at the end would block the event loop for 100 ms. The buffer grows
 * with the bytes that arrive, not with the announced size.
 * @param expectedBytes announced size; undefined when unknown.
 */
async function gather(chunks: AsyncIterable<Uint8Array>, expectedBytes?: number): Promise<Uint8Array<ArrayBuffer>> {
  let bytes = new Uint8Array(Math.min(expectedBytes ?? FIRST_BUFFER_BYTES, FIRST_BUFFER_BYTES));
  let length = 0;
  for await (const chunk of chunks) {
    const end = length + chunk.length;
    if (end > bytes.length) {
      const longer = new Uint8Array(
        Math.max(end, expectedBytes ? Math.min(expectedBytes, 4 * bytes.length) : 2 * bytes.length),
      );
      longer.set(bytes.subarray(0, length));
      bytes = longer;
    }
    bytes.set(chunk, length);
    length = end;
  }
  return bytes.subarray(0, length);
}

/** @param end last words of the error, such as ' when inflated'. */
async function* limited(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
  onBytes: (count: number) => void,
  end = '',
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes, end);
    onBytes(chunk.length);
    yield chunk;
  }
}

/** @param end last words of the message, such as the size of the body. */
function tooLarge(maxBytes: number, end: string): DomainError {
  return new DomainError('body_too_large', `the body must be at most ${showBytes(maxBytes)}${end}`);
}
