/** Finds the format of a push body for a mapper. The Content-Type tells whether the body is JSON, XML or CSV. */
import { DomainError } from '../../platform/errors.ts';
import type { BodyFormat } from './mapper-process.ts';

const FORMATS: readonly (readonly [BodyFormat, RegExp])[] = [
  ['json', /^application\/([\w.+-]+\+)?json\b/i],
  ['xml', /^(application|text)\/([\w.+-]+\+)?xml\b/i],
  ['csv', /^text\/(csv|plain)\b/i],
];

/**
 * Finds the format of a request body (R-D9).
 * @throws {DomainError} unsupported_media_type when the Content-Type has no format in FORMATS.
 */
export function bodyFormat(request: Request): BodyFormat {
  return formatOf(request.headers.get('content-type') ?? '');
}

/**
 * Finds the format of a content type (R-D9).
 * @param subject what the error message names: the header, or the path of a member of the body.
 * @throws {DomainError} unsupported_media_type when the content type has no format in FORMATS.
 */
export function formatOf(contentType: string, subject = 'the Content-Type'): BodyFormat {
  const found = FORMATS.find(([, pattern]) => pattern.test(contentType));
  if (found) return found[0];
  throw new DomainError(
    'unsupported_media_type',
    `${subject} must be application/json, application/*+json, application/xml, application/*+xml, text/xml, text/*+xml, text/csv or text/plain, got ${contentType || 'none'}`,
  );
}
