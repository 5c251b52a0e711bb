/** The body of an upload (R-A4): gzip is accepted, the limit applies to what is inflated, nothing is held in memory. */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { DomainError } from '../../platform/errors.ts';

/**
 * The bytes of a request's body, inflated, as they arrive.
 * @param maxBytes limit on the inflated size; past it reading fails with body_too_large and `tooLarge`.
 * @throws DomainError unsupported_media_type.
 */
export function openBody(request: Request, maxBytes: number, tooLarge: string): Readable {
  const raw = Readable.fromWeb((request.body ?? new Blob([]).stream()) as Parameters<typeof Readable.fromWeb>[0]);
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity') return Readable.from(limited(raw, maxBytes, tooLarge));
  if (encoding !== 'gzip') {
    throw new DomainError('unsupported_media_type', `Content-Encoding must be gzip or absent, got ${encoding}`);
  }
  const gunzip = createGunzip();
  raw.on('error', (error) => gunzip.destroy(error));
  // Who reads it is told; it may fail before anybody does.
  gunzip.on('error', () => {});
  return Readable.from(limited(inflated(raw.pipe(gunzip)), maxBytes, tooLarge));
}

async function* inflated(gunzip: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* gunzip;
  } catch (error) {
    const isGzip = !(error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'));
    throw isGzip ? error : new DomainError('invalid_input', 'the body is not valid gzip');
  }
}

/**
 * The chunks, as long as they are not more than `maxBytes`. What is beyond is read and thrown away, up to as much again: a
 * client that still sends when it is answered and cut off may not see the answer.
 * @throws DomainError body_too_large.
 */
export async function* limited(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  tooLarge: string,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > 2 * maxBytes) break;
    if (bytes <= maxBytes) yield chunk;
  }
  if (bytes > maxBytes) throw new DomainError('body_too_large', tooLarge);
}
