/** OpenAPI operations below `/data` (R-A9, R-G1–G6, R-J1). */
import { z } from 'zod';
import { XLSX_TYPE } from '../platform/http/workbook-writer.ts';
import {
  ALL_USERS,
  type Answer,
  answersJson,
  DATE_ZONES,
  idSchema,
  instantSchema,
  jsonBody,
  MANAGERS,
  type Operation,
} from '../platform/openapi/operation.ts';
import { HISTORY_HEADER, HISTORY_RULE, RAW_HEADER, RAW_RULE } from '../selection/history-notice.ts';
import { FORMAT_QUERY, READ_QUERY } from '../selection/read-parameters.ts';
import { COMPARE_QUERY } from './compare/compare-request.ts';
import type { CompareSummary } from './compare/compare-rules.ts';
import { deleteSchema } from './delete-routes.ts';
import { ARROW_TYPE, COLUMNS_TYPE, CSV_TYPE, PARQUET_TYPE } from './formats/formats.ts';
import { OBJECT_ROWS } from './formats/json-columns.ts';
import { ORIGIN_QUERY } from './origins/origin-query.ts';
import { LAST_EVENT_ID, WATCH_QUERY } from './watch/watch-query.ts';

const tag = 'Points';
const value = z.number().nullable();
const aggregates = ['sum', 'min', 'max', 'avg', 'count', 'stdev', 'variance'].map((name) => `${name}Value`);
const row = z
  .object({
    variableId: idSchema,
    date: instantSchema,
    rawValue: value.optional().meta({
      description:
        'Value of a point that is not aggregated, converted to `unitId` when that parameter is given. A value from a push or a file was divided by the `divider` that the variable had at that time. Results of calculations are not divided.',
    }),
    ...Object.fromEntries(aggregates.map((name) => [name, value.optional()])),
    unitId: idSchema.nullable().optional(),
    version: z.string().optional().meta({ description: 'VersionTag of the version; absent when it has none.' }),
    versionTimestamp: instantSchema.optional(),
    tags: z.record(z.string(), z.string()).optional(),
  })
  .meta({ id: 'PointRow' });

const byColumns = z
  .object({
    variableId: idSchema,
    date: z.array(instantSchema),
    rawValue: z.array(value).optional(),
    ...Object.fromEntries(aggregates.map((name) => [name, z.array(value).optional()])),
    unitId: idSchema.nullable().optional(),
    version: z.array(z.string().nullable()).optional(),
    versionTimestamp: z.array(instantSchema).optional(),
    tags: z.array(z.record(z.string(), z.string()).nullable()).optional(),
  })
  .meta({
    id: 'PointColumns',
    description: `Rows of one variable as arrays of equal length, for \`displayLevel=Columns\`. \`version\` is absent when no row of the object has a VersionTag, and \`tags\` when no row has tags. An object has at most ${OBJECT_ROWS.toLocaleString('en')} rows; further rows of the variable follow in another object.`,
  });
const rows = z.array(row);

const WORKBOOK =
  'An Excel workbook with the same columns as the CSV file; dates are text in ISO 8601 format. A sheet has at most 1,048,576 rows including its header; the remaining rows are on further sheets.';

/** Schema of a binary answer, as client generators expect it. */
const binary = (contentMediaType: string) => z.string().meta({ format: 'binary', contentMediaType });

/** Describes an answer that consists of rows, with one media type for each format. */
function answersRows(description: string, schema: z.ZodType): Answer {
  const types = {
    'application/json': schema,
    ...(schema === rows && { [COLUMNS_TYPE]: z.array(byColumns) }),
    [CSV_TYPE]: z
      .string()
      .meta({ description: 'The columns are the members of a JSON row. The first line contains the column names.' }),
    [ARROW_TYPE]: binary(ARROW_TYPE).meta({
      description:
        'An Arrow IPC stream. The metadata of the schema can have two entries. Each entry is a JSON object whose keys are variable ids. `historyFrom` (present with the header `History-From`) has, for each variable, the instant from which its states are complete. `rawFrom` (present with the header `Raw-From`) has, for each variable, the date from which all its points are stored.',
    }),
    [XLSX_TYPE]: binary(XLSX_TYPE).meta({ description: WORKBOOK }),
    [PARQUET_TYPE]: binary(PARQUET_TYPE).meta({
      description:
        'An Apache Parquet file with the same columns as the Arrow stream; dates are UTC timestamps in microseconds.',
    }),
  };
  return {
    status: 200,
    description: `${description} The parameter \`format\` chooses the format; without this parameter, the header \`Accept\` chooses it. Every format is streamed.`,
    types,
    headers: { ...DATE_ZONES, [HISTORY_HEADER]: HISTORY_RULE, [RAW_HEADER]: RAW_RULE },
  };
}

/** The query parameters as members of a JSON body. Lists are arrays; `tags` may also be an object. */
const readBody = z
  .object({
    ...Object.fromEntries(
      Object.entries(READ_QUERY.parameters).map(([name, { schema, description }]) => [
        name,
        schema.optional().meta({ description }),
      ]),
    ),
    tags: z.union([z.array(z.string()), z.record(z.string(), z.string())]).optional(),
  })
  .meta({
    id: 'ReadRequest',
    examples: [{ variableIds: [1, 2], from: '2026-03-01', to: '2026-04-01', granularity: 'Day', aggregation: 'SUM' }],
  });

const compared = z
  .object({
    variableId: idSchema,
    unitId: idSchema.nullable(),
    rows: z.array(z.object({ date: instantSchema, leftValue: value, rightValue: value, difference: value })),
    historyFrom: instantSchema.optional().meta({
      description:
        'The instant from which the states of the variable are complete. Present only if a side of the comparison can lack points because old versions were deleted.',
    }),
    rawFrom: instantSchema.optional().meta({
      description:
        'The date from which all points of the variable are stored. Present if rollups have replaced earlier points of the compared period.',
    }),
    summary: z.object({
      points: z.int().meta({ description: 'Number of dates at which at least one version has a value.' }),
      changed: z
        .int()
        .meta({ description: 'Number of dates at which both versions have a value and the values differ.' }),
      added: z.int().meta({ description: 'Number of dates at which only the version on the right side has a value.' }),
      removed: z.int().meta({ description: 'Number of dates at which only the version on the left side has a value.' }),
      meanAbsoluteDifference: z.number().nullable(),
    }) satisfies z.ZodType<CompareSummary>,
  })
  .meta({ id: 'Comparison' });

const origin = z
  .object({
    kind: z.enum(['Push', 'File', 'Run']),
    operationId: z
      .string()
      .optional()
      .meta({ description: 'The id of the operation of the push. Present only for a push.' }),
    acceptedDate: instantSchema
      .optional()
      .meta({ description: 'The instant at which the push was accepted. Present only for a push.' }),
    isReplay: z
      .boolean()
      .optional()
      .meta({ description: 'True when the push is a replay of rejected elements; otherwise absent.' }),
    fileId: z.guid().optional().meta({ description: 'The id of the file in `/storage`. Present only for a file.' }),
    filename: z.string().optional(),
    uploadedDate: instantSchema
      .optional()
      .meta({ description: 'The instant at which the file was uploaded. Present only for a file.' }),
    userId: z.string().optional().meta({ description: 'The id of the user who sent the push or uploaded the file.' }),
    runId: idSchema.optional().meta({ description: 'The id of the run. Present only for a run.' }),
    startedDate: instantSchema
      .optional()
      .meta({ description: 'The instant at which the run started. Present only for a run.' }),
  })
  .meta({
    id: 'Origin',
    description:
      'The push, file or run that a version came from. If the caller is not allowed to read the push or file, only `kind` and the date (`acceptedDate` or `uploadedDate`) are present. If the push or file was deleted, only `kind` is present.',
  });

const versionOrigins = z
  .object({
    versionTimestamp: instantSchema,
    origins: z.array(origin).meta({
      description:
        'Usually one origin; none if none is recorded. When several pushes were written together, every push that may have brought the version is listed, at most 20, in the order in which they took effect.',
    }),
  })
  .meta({ id: 'VersionOrigins' });

const VERSION_HINT =
  'Returns the newest version of each date unless `version`, `asOf`, `relativeVersion`, `horizon`, `versions` or `tags` select others. The points of each variable are paged separately: `pageNumber=0&itemsPerPage=1&pagingOrder=DESC` returns the last point of each variable.';

export const READING_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/data', operationId: 'readPoints', tag, summary: 'Read points', access: ALL_USERS },
    description: VERSION_HINT,
    query: READ_QUERY,
    isListing: true,
    answers: [answersRows('Points or aggregates, variable by variable, ordered by date.', rows)],
    errors: ['not_found'],
  },
  {
    ...{ method: 'post', path: '/data', operationId: 'queryPoints', tag, access: ALL_USERS },
    summary: 'Read points with parameters in the request body',
    description: `Takes the parameters of \`GET /data\` as members of the body. ${VERSION_HINT}`,
    query: FORMAT_QUERY,
    isListing: true,
    body: jsonBody(readBody),
    answers: [answersRows('The same rows as in the answer of `GET /data`.', rows)],
    errors: ['not_found'],
  },
  {
    ...{ method: 'get', path: '/data/compare', operationId: 'compareVersions', tag, access: ALL_USERS },
    summary: 'Compare two versions of a variable, date by date',
    query: COMPARE_QUERY,
    isListing: true,
    answers: [answersRows('Rows and a summary of all rows. Formats other than JSON contain only the rows.', compared)],
    errors: ['not_found'],
  },
  {
    ...{ method: 'get', path: '/data/watch', operationId: 'watchPoints', tag, access: ALL_USERS },
    summary: 'Follow points as they are committed',
    description: `Sends server-sent events. The id of an event is a cursor. Every version stored after the cursor is sent once. The versions of one variable are sent in the order of \`versionTimestamp\` and then date. To resume, send the id of the last received event in the header \`${LAST_EVENT_ID}\` or in the parameter \`cursor\`. A resumed stream repeats no version, and misses none that is still stored. Cursors never expire. Deletions are not reported. A version that is removed before it is sent is skipped. To see what the version limit and retention have removed, read with \`asOf\`: the headers \`History-From\` and \`Raw-From\` of the answer report it. The stream ends when the token expires, when the caller loses access, or after a maximum time. Needs a bearer token, which \`EventSource\` in a browser cannot send.`,
    query: WATCH_QUERY,
    answers: [
      {
        status: 200,
        description:
          'Events: `points` with an array of PointColumns; `cursor` with `{}`, as the first event, when only the cursor moves, and after some time without events; `end` with the members of an Error, when the service ends the stream.',
        types: { 'text/event-stream': z.string() },
      },
    ],
    errors: ['not_found', 'dependency_unavailable'],
  },
  {
    ...{ method: 'get', path: '/data/origins', operationId: 'findOrigins', tag, access: ALL_USERS },
    summary: 'Find the pushes, files and runs that versions of a variable came from',
    description:
      'Take the values of `versionTimestamps` from an earlier read. The origin of a version is known only as long as the service keeps the push operation, the file or the run.',
    query: ORIGIN_QUERY,
    answers: [
      answersJson('One entry for each VersionTimestamp, in the order of the request.', z.array(versionOrigins)),
    ],
    errors: ['not_found'],
  },
  {
    ...{ method: 'delete', path: '/data', operationId: 'deletePoints', tag, access: MANAGERS },
    summary: 'Delete all versions of the points in a period',
    description:
      'A rollup is deleted as a whole if its first point is in the period. A rollup that begins before the period is kept.',
    body: jsonBody(deleteSchema.meta({ id: 'PointDeletion' })),
    answers: [
      answersJson(
        'For each variable, the number of dates whose points were deleted or, with `whatIf`, would be deleted. Each point of a rollup counts as one date.',
        z.object({ results: z.array(z.object({ variableId: idSchema, datapointCount: z.int().min(0) })) }),
      ),
    ],
    errors: ['not_found'],
  },
];
