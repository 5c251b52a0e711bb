/** Streams the body of an upload, inflated (R-A4): accepts gzip and limits the inflated size. */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { DomainError } from '../errors.ts';

/**
 * Returns the inflated body of a request as a stream (R-A4).
 * @param maxBytes maximum inflated size; reading more fails with body_too_large and the message `tooLarge`.
 * @throws {DomainError} unsupported_media_type for a Content-Encoding other than gzip or identity. When the gzip is
 * damaged, reading the returned stream fails with invalid_input.
 */
export function openBody(request: Request, maxBytes: number, tooLarge: string): Readable {
  const raw = Readable.fromWeb((request.body ?? new Blob([]).stream()) as Parameters<typeof Readable.fromWeb>[0]);
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity') return Readable.from(limited(raw, maxBytes, tooLarge));
  if (encoding !== 'gzip') {
    throw new DomainError(
      'unsupported_media_type',
      `Content-Encoding must be gzip, identity or absent, got ${JSON.stringify(encoding)}`,
    );
  }
  const gunzip = createGunzip();
  raw.on('error', (error) => gunzip.destroy(error));
  // The consumer of the stream gets the error. Without this handler, an error that occurs before the first read would
  // end the process.
  gunzip.on('error', () => {});
  return Readable.from(limited(inflated(raw.pipe(gunzip)), maxBytes, tooLarge));
}

async function* inflated(gunzip: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* gunzip;
  } catch (error) {
    const isGunzipError = error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
    throw isGunzipError ? new DomainError('invalid_input', 'the body is not valid gzip') : error;
  }
}

/**
 * Yields chunks up to `maxBytes` in total (R-A4). Discards up to `maxBytes` more bytes before it fails, because a
 * client that is still sending might miss the answer.
 * @throws {DomainError} body_too_large with the message `tooLarge`.
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
