/**
 * Reads an upload request (R-E1): a form with a part `data`, or the file as the body. Decides the name and format of
 * the file. Refuses a workbook in a format other than .xlsx, and a raw body whose Content-Type contradicts the
 * extension of the file name. A .csv or .xlsx file is a Standard File; a file with another extension is an attachment
 * unless it is refused. The body may be gzip; the limit applies to the inflated size (R-A4).
 */
import { z } from 'zod';
import { toStorableText } from '../../platform/database/storable-text.ts';
import { DomainError } from '../../platform/errors.ts';
import { declareQuery } from '../../platform/http/query.ts';
import { textParameter } from '../../platform/http/query-parameters.ts';
import { XLSX_TYPE } from '../../platform/http/workbook-writer.ts';
import { showBytes } from '../../platform/limits.ts';
import { openBody } from '../../platform/streaming/open-body.ts';
import type { FileFormat } from '../standard-file.ts';
import { findPart } from './read-form.ts';
import { fileTooLarge, type Upload } from './store-file.ts';

// The limit of a body is the limit of the file plus this number of bytes, for boundaries, headers and other parts of a
// form.
const FORM_BYTES = 1 << 20;
const MAX_FILENAME = 255;
const FORMATS: Readonly<Record<string, FileFormat>> = { 'text/csv': 'csv', [XLSX_TYPE]: 'xlsx' };
const EXTENSIONS: ReadonlyMap<string, FileFormat> = new Map([
  ['csv', 'csv'],
  ['xlsx', 'xlsx'],
]);

const OTHER_WORKBOOKS: ReadonlySet<string> = new Set(['xls', 'xlsm', 'xlsb', 'ods']);

export const UPLOAD_QUERY = declareQuery({
  filename: textParameter(
    'File name. A file with the extension .csv or .xlsx is a Standard File. A file with the extension .xls, .xlsm, .xlsb or .ods is refused. A file with any other extension is an attachment. If the name has no extension, the content type decides. In a body that is not multipart, the content type must match the extension: `text/csv` for .csv, the xlsx type for .xlsx, any other type for an attachment. Default: in a multipart body, the file name of the part `data`; otherwise `upload.csv` or `upload.xlsx`, depending on the content type.',
    // This only documents the maximum. `nameOf` removes folders from the name, and then enforces the maximum.
    z.string().meta({ maxLength: MAX_FILENAME }),
  ),
});

/**
 * Returns the upload of a request. The file is received while the caller iterates `content` of the upload (R-E1).
 * @param maxBytes maximum size of the file.
 * @throws {DomainError} unsupported_media_type when the format or the Content-Encoding is not accepted; invalid_input
 * for a malformed form or file name; body_too_large for a body that is too large. Iterating `content` may also throw
 * invalid_input or body_too_large.
 */
export async function receiveUpload(request: Request, maxBytes: number): Promise<Upload> {
  const type = mediaType(request.headers.get('content-type'));
  const given = UPLOAD_QUERY.parse(request.url).filename;
  const isForm = type === 'multipart/form-data';
  const tooLarge = isForm ? formTooLarge(maxBytes) : fileTooLarge(maxBytes);
  const body = openBody(request, maxBytes + FORM_BYTES, tooLarge);
  if (!isForm) {
    const format = FORMATS[type];
    if (!format && isAttachment(given)) return { filename: nameOf(given ?? ''), format: undefined, content: body };
    if (!format && given !== undefined && isOtherWorkbook(given)) throw notReadable(given);
    if (!format) throw wrongType(type);
    return { filename: nameOf(given ?? `upload.${format}`), format: assertSameFormat(format, given), content: body };
  }
  const { content, filename, mimeType } = await findPart(body, request.headers.get('content-type') ?? '');
  const name = nameOf(given ?? filename);
  return { filename: name, format: formatOf(name, mediaType(mimeType)), content };
}

/**
 * @returns the format of a Standard File; undefined for an attachment.
 * @throws {DomainError} unsupported_media_type for a workbook in a format that cannot be read.
 */
function formatOf(filename: string, type: string): FileFormat | undefined {
  const extension = extensionOf(filename);
  if (isOtherWorkbook(filename)) throw notReadable(filename);
  return EXTENSIONS.get(extension) ?? (extension === '' ? FORMATS[type] : undefined);
}

/** Returns true when the extension of the name makes the file an attachment. */
function isAttachment(filename: string | undefined): boolean {
  const extension = extensionOf(filename ?? '');
  return extension !== '' && !EXTENSIONS.has(extension) && !OTHER_WORKBOOKS.has(extension);
}

/**
 * Returns true for a workbook in a format that cannot be read. Such a workbook is refused and not stored as an
 * attachment, because the uploader of a workbook expects its rows to be ingested.
 */
function isOtherWorkbook(filename: string): boolean {
  return OTHER_WORKBOOKS.has(extensionOf(filename));
}

/**
 * Returns `format`, the format that the content type names.
 * @throws {DomainError} unsupported_media_type when the file name has an extension that does not belong to `format`.
 */
function assertSameFormat(format: FileFormat, filename: string | undefined): FileFormat {
  const extension = extensionOf(filename ?? '');
  if (extension === '' || EXTENSIONS.get(extension) === format) return format;
  throw new DomainError(
    'unsupported_media_type',
    `for this Content-Type, the file name must end in .${format} or have no extension, got .${extension}`,
  );
}

function extensionOf(filename: string): string {
  return /\.([^./\\]+)$/.exec(filename)?.[1]?.toLowerCase() ?? '';
}

/**
 * @returns the name of the file without the folders that some clients send with it.
 * @throws {DomainError} invalid_input when the name is empty or too long.
 */
function nameOf(given: string): string {
  const name = toStorableText(given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1)).trim();
  if (name !== '' && name.length <= MAX_FILENAME) return name;
  const message = name === '' ? 'must not be empty' : `must be at most ${MAX_FILENAME} characters, got ${name.length}`;
  throw UPLOAD_QUERY.error('filename', message);
}

function formTooLarge(maxBytes: number): string {
  return `${fileTooLarge(maxBytes)}, and the rest of the form must be at most ${showBytes(FORM_BYTES)}`;
}

function mediaType(contentType: string | null): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function notReadable(filename: string): DomainError {
  const message = `a workbook must be .xlsx, got ${JSON.stringify(filename)}; save it as .xlsx or .csv`;
  return new DomainError('unsupported_media_type', message);
}

function wrongType(type: string): DomainError {
  const message = `for a Standard File, Content-Type must be multipart/form-data, text/csv or ${XLSX_TYPE}, got ${type || 'none'}; for an attachment, the parameter filename must have an extension other than .csv and .xlsx`;
  return new DomainError('unsupported_media_type', message);
}
