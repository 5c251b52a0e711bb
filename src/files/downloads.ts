/** The downloads that the file routes offer: row errors and templates, each as CSV or xlsx, and stored files. */
import { Readable } from 'node:stream';
import { format as formatCsv } from 'fast-csv';
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import type { Database } from '../platform/database/database.ts';
import { declareQuery } from '../platform/http/query.ts';
import { choiceParameter } from '../platform/http/query-parameters.ts';
import { markStreamed } from '../platform/http/streamed-answer.ts';
import { writeWorkbook, XLSX_TYPE } from '../platform/http/workbook-writer.ts';
import { type FileStatus, findErrors } from './find-file.ts';
import type { FileFormat } from './standard-file.ts';
import { csvTemplate, xlsxTemplate } from './template.ts';

const ERRORS_PER_PAGE = 5000;
const ERROR_COLUMNS = ['row', 'code', 'message'] as const;
/**
 * Content types of Standard Files. A stored file of the kind Attachment is sent as octet-stream, so that a browser
 * never displays it as the type that the uploader claimed.
 */
const TYPES: Readonly<Record<FileFormat, string>> = { csv: 'text/csv; charset=utf-8', xlsx: XLSX_TYPE };
const ATTACHMENT_TYPE = 'application/octet-stream';

const format = choiceParameter('Format of the answer; takes precedence over the header `Accept`.', ['csv', 'xlsx']);
export const ERRORS_QUERY = declareQuery({ format });
export const TEMPLATE_QUERY = declareQuery({ format });

/** Answers with a stream of all row errors of a file. */
export function answerErrors(
  c: Context,
  database: Database,
  { id: fileId, filename }: Pick<FileStatus, 'id' | 'filename'>,
  given: ReturnType<typeof ERRORS_QUERY.parse>,
): Response {
  const format = acceptedFormat(c, given);
  const body = format === 'csv' ? errorsAsCsv(database, fileId) : errorsAsWorkbook(database, fileId);
  return answerDownload(c, body, format, `${filename}.errors.${format}`);
}

/** Answers with an empty Standard File, which users fill in. */
export async function answerTemplate(c: Context): Promise<Response> {
  const format = acceptedFormat(c, TEMPLATE_QUERY.parse(c.req.url));
  const content = format === 'csv' ? csvTemplate() : await xlsxTemplate();
  return answerDownload(c, Readable.from([Buffer.from(content)]), format, `standard-file.${format}`);
}

/** Answers with `body` as a download named `filename`. */
export function answerDownload(c: Context, body: Readable, format: FileFormat | undefined, filename: string): Response {
  markStreamed(c);
  c.header('Content-Type', format ? TYPES[format] : ATTACHMENT_TYPE);
  c.header('Content-Disposition', `attachment; filename*=UTF-8''${encodeName(filename)}`);
  c.header('X-Content-Type-Options', 'nosniff');
  return c.body(Readable.toWeb(body) as ReadableStream);
}

/** Returns csv unless the client asks for xlsx. Accepts every value of the header `Accept` (R-A3). */
function acceptedFormat(c: Context, given: { readonly format: FileFormat | undefined }): FileFormat {
  if (given.format !== undefined) return given.format;
  c.header('Vary', 'Accept', { append: true });
  const type = accepts(c, { header: 'Accept', supports: ['text/csv', XLSX_TYPE], default: 'text/csv' });
  return type === XLSX_TYPE ? 'xlsx' : 'csv';
}

/** Percent-encodes a file name for a header parameter (RFC 8187). */
function encodeName(filename: string): string {
  return encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function errorsAsCsv(database: Database, fileId: string): Readable {
  const rows = Readable.from(errorRows(database, fileId));
  const csv = rows.pipe(formatCsv({ headers: [...ERROR_COLUMNS], alwaysWriteHeaders: true }));
  rows.on('error', (error) => csv.destroy(error));
  return csv;
}

function errorsAsWorkbook(database: Database, fileId: string): Readable {
  const rows = errorPages(database, fileId);
  return Readable.from(writeWorkbook({ name: 'errors', header: ERROR_COLUMNS, rows }));
}

type ErrorRow = readonly [row: number, code: string, message: string];

async function* errorRows(database: Database, fileId: string): AsyncGenerator<ErrorRow> {
  for await (const page of errorPages(database, fileId)) yield* page;
}

async function* errorPages(database: Database, fileId: string): AsyncGenerator<readonly ErrorRow[]> {
  for (let after = 0; ; ) {
    const page = await findErrors(database, fileId, after, ERRORS_PER_PAGE);
    yield page.map(({ row, code, message }) => [row, code, message]);
    const last = page.at(-1);
    if (!last || page.length < ERRORS_PER_PAGE) return;
    after = last.id;
  }
}
