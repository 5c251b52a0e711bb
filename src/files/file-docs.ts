/** The description of Standard Files (R-A9, R-E1). */
import { z } from 'zod';
import {
  type Access,
  ALL_USERS,
  answersJson,
  instantSchema,
  type Operation,
  textId,
} from '../platform/openapi/operation.ts';
import type { FileStatus } from './find-file.ts';
import type { RowError, RowWarning } from './standard-file.ts';
import { MAX_FILENAME, XLSX_TYPE } from './upload/receive-upload.ts';

const tag = 'Files';
const UPLOADERS: Access = { ...ALL_USERS, kind: 'caller', scope: 'datahub-api', permission: 'datapusher.standard' };
const inPath = { id: textId('The id the upload was answered with.') };
const count = z.int().min(0);
const rowNumber = z.int().min(1).meta({ description: 'As a spreadsheet numbers rows: the header is row 1.' });

const rowError = z
  .object({
    row: rowNumber,
    code: z.enum([
      'malformed_row',
      'invalid_date',
      'invalid_value',
      'invalid_identifier',
      'invalid_version',
      'invalid_tags',
      'target_not_found',
      'target_ambiguous',
    ]),
    message: z.string(),
  })
  .meta({ id: 'RowError', description: 'A row that was not ingested; the others were.' }) satisfies z.ZodType<RowError>;
const rowWarning = z
  .object({ row: rowNumber, code: z.enum(['ambiguous_local_date', 'skipped_local_date']), message: z.string() })
  .meta({ id: 'RowWarning' }) satisfies z.ZodType<RowWarning>;
const fileStatus = z.object({
  id: z.string(),
  filename: z.string(),
  format: z.enum(['csv', 'xlsx']),
  state: z.enum(['Queued', 'Processing', 'Completed', 'Failed']),
  progress: z.object({ bytes: count, totalBytes: count, rows: count }),
  counts: z.object({ rows: count, ingested: count, rejected: count, warnings: count }),
  failure: z
    .object({ code: z.string(), message: z.string() })
    .exactOptional()
    .meta({ description: 'Why it is Failed. Rows before the place where reading stopped are ingested.' }),
  ignoredColumns: z.array(z.string()),
  uploadedDate: instantSchema,
  startedDate: instantSchema.exactOptional(),
  completedDate: instantSchema.exactOptional(),
}) satisfies z.ZodType<FileStatus>;
const shownStatus = z
  .object({
    ...fileStatus.shape,
    errors: z.array(rowError).meta({ description: 'The first 1,000.' }),
    warnings: z.array(rowWarning).exactOptional(),
  })
  .meta({ id: 'FileStatus' });

const bytes = (type: string) => z.string().meta({ contentMediaType: type });
const DOWNLOAD = { 'Content-Disposition': 'The name of the file.' };

export const FILE_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'post', path: '/storage', operationId: 'uploadFile', tag, summary: 'Upload a Standard File' },
    description:
      'CSV, or the first sheet of a workbook, with the columns `date`, `value` and at least one identifier: `variable_id`, or `source_id`, `source_serialnumber`, `source_ean`, `source_name`, `source_meternumber` with `mapping_config` or `variable_type_id`; optional `version` and `tags` (`key:value|key:value`). It is ingested in the background.',
    access: UPLOADERS,
    query: {
      filename: {
        description: 'Its name, ending with .csv or .xlsx. Without it that of the form’s part, or one by its type.',
        schema: z.string().max(MAX_FILENAME),
      },
    },
    body: {
      types: {
        'multipart/form-data': z.object({ data: z.string().meta({ contentMediaType: 'application/octet-stream' }) }),
        'text/csv': bytes('text/csv'),
        [XLSX_TYPE]: bytes(XLSX_TYPE),
      },
      mayBeGzip: true,
    },
    answers: [answersJson('The id of the file.', z.string())],
  },
  {
    ...{ method: 'get', path: '/storage/:id', operationId: 'getFile', tag, access: ALL_USERS },
    summary: 'State, progress and errors of a file',
    inPath,
    answers: [answersJson('As of now.', shownStatus)],
  },
  {
    ...{ method: 'get', path: '/storage/:id/errors', operationId: 'getFileErrors', tag, access: ALL_USERS },
    summary: 'Every row of a file that was not ingested',
    inPath,
    answers: [
      {
        status: 200,
        description: 'Columns `row`, `code` and `message`.',
        types: { 'text/csv': z.string() },
        headers: DOWNLOAD,
      },
    ],
  },
  {
    ...{ method: 'get', path: '/storage/:id/content', operationId: 'getFileContent', tag, access: ALL_USERS },
    summary: 'The file as it was uploaded',
    inPath,
    answers: [
      {
        status: 200,
        description: 'In its own format.',
        types: { 'text/csv': bytes('text/csv'), [XLSX_TYPE]: bytes(XLSX_TYPE) },
        headers: DOWNLOAD,
      },
    ],
  },
  {
    ...{ method: 'get', path: '/storage/:id/events', operationId: 'followFile', tag, access: ALL_USERS },
    summary: 'Follow a file while it is ingested',
    inPath,
    answers: [
      {
        status: 200,
        description:
          'Server-sent events: `progress` for every change, `end` with the last one; the data of each are a FileStatus without its rows.',
        types: { 'text/event-stream': z.string() },
      },
    ],
  },
];
