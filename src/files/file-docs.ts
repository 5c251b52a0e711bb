/** OpenAPI description of the Standard File routes (R-A9, R-E1). */
import { z } from 'zod';
import { XLSX_TYPE } from '../platform/http/workbook-writer.ts';
import {
  type Access,
  ALL_USERS,
  answersJson,
  instantSchema,
  type Operation,
  textId,
} from '../platform/openapi/operation.ts';
import { ERRORS_QUERY, TEMPLATE_QUERY } from './downloads.ts';
import type { FileStatus } from './find-file.ts';
import type { RowError, RowWarning } from './standard-file.ts';
import { UPLOAD_QUERY } from './upload/receive-upload.ts';

const tag = 'Files';
const UPLOADERS: Access = { ...ALL_USERS, kind: 'caller', scope: 'datahub-api', permission: 'datapusher.standard' };
const inPath = { id: textId('File id, as returned by the upload.') };
const count = z.int().min(0);
const rowNumber = z
  .int()
  .min(1)
  .meta({ description: 'Row number as in a spreadsheet: the first row of the file is row 1.' });

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
  .meta({
    id: 'RowError',
    description: 'A rejected row. It does not prevent other rows from being ingested.',
  }) satisfies z.ZodType<RowError>;
const rowWarning = z
  .object({
    row: rowNumber.meta({
      description:
        'Row number as in a spreadsheet: the first row of the file is row 1. For `rolled_up_date`: the rejected rows are this row or later rows.',
    }),
    code: z.enum(['ambiguous_local_date', 'skipped_local_date', 'rolled_up_date']),
    message: z.string(),
  })
  .meta({ id: 'RowWarning' }) satisfies z.ZodType<RowWarning>;
const fileStatus = z.object({
  id: z.string(),
  kind: z
    .enum(['StandardFile', 'Attachment'])
    .meta({ description: 'An attachment is kept as uploaded and never parsed; its state is `Stored`.' }),
  filename: z.string(),
  advice: z.string().exactOptional().meta({
    description:
      'How to send the file so that its rows are read. Present only for an attachment whose name looks like that of a data file, such as `load.json`.',
  }),
  format: z.enum(['csv', 'xlsx']).exactOptional().meta({ description: 'Format of a Standard File.' }),
  state: z.enum(['Queued', 'Processing', 'Completed', 'PartiallyIngested', 'Rejected', 'Failed', 'Stored']).meta({
    description:
      'Poll until the state is neither `Queued` nor `Processing`. `Completed`: every row is ingested. `PartiallyIngested`: some rows were rejected. `Rejected`: all rows were rejected. `Failed`: the file could not be read to its end. `Stored`: the file is an attachment and is not parsed.',
  }),
  progress: z.object({ bytes: count, totalBytes: count, rows: count }),
  counts: z.object({ rows: count, ingested: count, rejected: count, warnings: count }),
  failure: z.object({ code: z.string(), message: z.string() }).exactOptional().meta({
    description:
      'Why the file failed. Rows that were ingested before the failure are kept; their number is `counts.ingested`.',
  }),
  ignoredColumns: z.array(z.string()),
  uploadedDate: instantSchema,
  startedDate: instantSchema.exactOptional(),
  completedDate: instantSchema.exactOptional(),
}) satisfies z.ZodType<FileStatus>;
const shownStatus = z
  .object({
    ...fileStatus.shape,
    errors: z
      .array(rowError)
      .meta({ description: 'The first 1,000 row errors; `/storage/{id}/errors` has all of them.' }),
    warnings: z.array(rowWarning).exactOptional(),
  })
  .meta({ id: 'FileStatus' });

const bytes = (type: string) => z.string().meta({ contentMediaType: type });
const DOWNLOAD = { 'Content-Disposition': 'File name of the download.' };

export const FILE_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'post', path: '/storage', operationId: 'uploadFile', tag, summary: 'Upload a file' },
    description:
      'A Standard File is a CSV file or the first sheet of an xlsx workbook. Required columns are `date`, `value` and at least one identifier: `variable_id`, or `mapping_config` if only one variable of the account has it, or one of `source_id`, `source_serialnumber`, `source_ean`, `source_name` and `source_meternumber`, with `mapping_config` or `variable_type_id` unless the source has one variable, or one with `isDefault`. `version` and `tags` (`key:value|key:value`) are optional. Values are divided by the `divider` of their variable. The file is ingested in the background; follow it under `/storage/{id}`. A file with an extension other than `.csv` and `.xlsx` is stored as an attachment; workbooks in other formats are refused.',
    access: UPLOADERS,
    query: UPLOAD_QUERY,
    body: {
      types: {
        'multipart/form-data': z.object({ data: z.string().meta({ contentMediaType: 'application/octet-stream' }) }),
        'text/csv': bytes('text/csv'),
        [XLSX_TYPE]: bytes(XLSX_TYPE),
        'application/octet-stream': bytes('application/octet-stream'),
      },
      mayBeGzip: true,
    },
    answers: [
      answersJson('File id.', z.string(), {
        headers: {
          'File-Kind': '`StandardFile`, or `Attachment` for a file whose rows are not read.',
          'File-Advice':
            'How to send the data so that its rows are read. Present only for an attachment whose name suggests data, such as `points.csv.gz`.',
        },
      }),
    ],
  },
  {
    ...{ method: 'get', path: '/storage/template', operationId: 'getFileTemplate', tag, access: ALL_USERS },
    summary: 'Download a template of a Standard File',
    query: TEMPLATE_QUERY,
    description:
      'An empty Standard File with every column that an upload may have. The xlsx template formats dates, checks dates and values up to row 10,000, and lists the built-in variable types.',
    answers: [
      {
        status: 200,
        description: 'A Standard File with only a header row. CSV by default; `format` or `Accept` selects xlsx.',
        types: { 'text/csv': z.string(), [XLSX_TYPE]: bytes(XLSX_TYPE) },
        headers: DOWNLOAD,
      },
    ],
  },
  {
    ...{ method: 'get', path: '/storage/:id', operationId: 'getFile', tag, access: ALL_USERS },
    summary: 'Get the state, progress and errors of a file',
    inPath,
    answers: [answersJson('Current state of the file.', shownStatus)],
  },
  {
    ...{ method: 'get', path: '/storage/:id/errors', operationId: 'getFileErrors', tag, access: ALL_USERS },
    summary: 'List every row error of a file',
    inPath,
    query: ERRORS_QUERY,
    answers: [
      {
        status: 200,
        description:
          'Row errors in file order, with the columns `row`, `code` and `message`. CSV by default; `format` or `Accept` selects xlsx. The list omits rows that were rejected because their dates are rolled up. `warnings` of the file (at most 100) gives the variables and dates of these rows.',
        types: { 'text/csv': z.string(), [XLSX_TYPE]: bytes(XLSX_TYPE) },
        headers: DOWNLOAD,
      },
    ],
  },
  {
    ...{ method: 'get', path: '/storage/:id/content', operationId: 'getFileContent', tag, access: ALL_USERS },
    summary: 'Download a file as it was uploaded',
    inPath,
    answers: [
      {
        status: 200,
        description: 'Bytes of the file, in the format it was uploaded in.',
        types: {
          'text/csv': bytes('text/csv'),
          [XLSX_TYPE]: bytes(XLSX_TYPE),
          'application/octet-stream': bytes('application/octet-stream'),
        },
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
          'Server-sent events: `progress` for the current state and after changes, then `end` for the final state. The data of each event is a FileStatus without `errors` and `warnings`.',
        types: { 'text/event-stream': z.string() },
      },
    ],
  },
];
