/** The description of reading, comparing and removing points (R-A9, R-G1–G6). */
import { z } from 'zod';
import { XLSX_TYPE } from '../platform/http/workbook-writer.ts';
import {
  ALL_USERS,
  type Answer,
  answersJson,
  choiceParameter,
  flagParameter,
  idSchema,
  idsParameter,
  instantSchema,
  jsonBody,
  MANAGERS,
  MAX_INT4,
  type Operation,
  PAGING,
  type Parameter,
} from '../platform/openapi/operation.ts';
import { AGGREGATE, GRANULARITY } from '../structure/catalogue/enumerations.ts';
import type { CompareSummary } from './compare/compare-rules.ts';
import { deleteSchema } from './delete-routes.ts';
import { ARROW_TYPE, CSV_TYPE } from './formats/formats.ts';

const tag = 'Points';
const text = (description: string, examples: readonly string[]): Parameter => ({
  description,
  schema: z.string().meta({ examples: [...examples] }),
});
const texts = (description: string): Parameter => ({ description, schema: z.array(z.string()) });

const MOMENT = 'Without a zone it is on the clock of `timeZoneId`, else UTC; a date alone is where its day begins.';
const moment = (description: string) => text(`${description} ${MOMENT}`, ['2026-03-01', '2026-03-01T00:15:00Z']);

const PERIOD: Operation['query'] = {
  from: moment('First date.'),
  to: moment('Where the period ends, not included.'),
  includeToBoundary: flagParameter('Takes `to` in.'),
};
const SHAPE: Operation['query'] = {
  unitId: { description: 'Converts values into this unit of the same family.', schema: idSchema },
  timeZoneId: text('Dates are written on the clock of this zone, IANA or Windows; civil buckets are its days.', [
    'Europe/Brussels',
  ]),
  pagingOrder: choiceParameter('By date.', ['ASC', 'DESC'], 'ASC'),
  ...PAGING,
};

const READ: NonNullable<Operation['query']> = {
  variableId: idsParameter('Variables.'),
  variableIds: idsParameter('Variables.'),
  sourceId: { description: 'Every variable of this source.', schema: idSchema },
  ...PERIOD,
  version: texts('Only values under these VersionTags.'),
  asOf: moment('What was known then: of each date the newest version not younger.'),
  relativeVersion: text('The same, so long ago.', ['Current', 'last 3 days', 'P1M']),
  horizon: text('Of every date what was known so long before it, as an ISO 8601 duration.', ['PT24H', 'P1D']),
  versions: choiceParameter('Every stored version, or the newest that is meant.', ['latest', 'all'], 'latest'),
  tags: texts('Only values with these tags, each as `key:value`.'),
  granularity: choiceParameter(
    'Length of the buckets; civil ones from days on, weeks from Monday.',
    Object.keys(GRANULARITY),
    'Raw',
  ),
  aggregation: choiceParameter(
    'How a bucket is put together; without it by the aggregate of each variable.',
    Object.keys(AGGREGATE),
  ),
  fill: choiceParameter('What stands in empty buckets.', ['none', 'previous', 'linear', 'null'], 'none'),
  minCount: { description: 'Values a bucket must have to count.', schema: z.int().min(1).max(MAX_INT4) },
  displayLevel: choiceParameter(
    'Whether rows have all members, or variable, date and value alone.',
    ['Normal', 'ValueVariableDate'],
    'Normal',
  ),
  ...SHAPE,
};

const value = z.number().nullable();
const row = z
  .object({
    variableId: idSchema,
    date: instantSchema,
    rawValue: value.optional().meta({ description: 'Of points that are not aggregated.' }),
    ...Object.fromEntries(
      ['sum', 'min', 'max', 'avg', 'count', 'stdev', 'variance'].map((name) => [`${name}Value`, value.optional()]),
    ),
    unitId: idSchema.nullable().optional(),
    version: z.string().optional().meta({ description: 'VersionTag, where there is one.' }),
    versionTimestamp: instantSchema.optional(),
    tags: z.record(z.string(), z.string()).optional(),
  })
  .meta({ id: 'PointRow' });

const WORKBOOK =
  'An Excel workbook with the columns of CSV; dates are ISO 8601 text. Rows beyond 1,048,576 continue on a further sheet.';

/** The same rows in each format. */
function answersRows(description: string, schema: z.ZodType): Answer {
  const types = {
    'application/json': schema,
    [CSV_TYPE]: z.string().meta({ description: 'The columns are the members; the first row names them.' }),
    [ARROW_TYPE]: z.unknown().meta({ contentMediaType: ARROW_TYPE, description: 'An Arrow IPC stream.' }),
    [XLSX_TYPE]: z.unknown().meta({ contentMediaType: XLSX_TYPE, description: WORKBOOK }),
  };
  return { status: 200, description: `${description} Chosen by \`Accept\`; streamed in each.`, types };
}

/** A body has the names of the query; lists are arrays, and tags may be an object. */
const readBody = z
  .object({
    ...Object.fromEntries(
      Object.entries(READ).map(([name, { schema, description }]) => [name, schema.optional().meta({ description })]),
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
    summary: z.object({
      points: z.int().meta({ description: 'Dates that have a value in either version.' }),
      changed: z.int().meta({ description: 'Of those in both, how many have another value.' }),
      added: z.int().meta({ description: 'Only on the right.' }),
      removed: z.int().meta({ description: 'Only on the left.' }),
      meanAbsoluteDifference: z.number().nullable(),
    }) satisfies z.ZodType<CompareSummary>,
  })
  .meta({ id: 'Comparison' });

const VERSION_HINT =
  'The newest version of each date, unless `version`, `asOf`, `relativeVersion`, `horizon`, `versions` or `tags` say which. `pageNumber=0&itemsPerPage=1&pagingOrder=DESC` gives the last point of each variable.';

export const READING_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/data', operationId: 'readPoints', tag, summary: 'Read points', access: ALL_USERS },
    description: VERSION_HINT,
    query: READ,
    isListing: true,
    answers: [answersRows('The points, or their aggregates: variable by variable, by date.', z.array(row))],
    errors: ['not_found'],
  },
  {
    ...{ method: 'post', path: '/data', operationId: 'queryPoints', tag, access: ALL_USERS },
    summary: 'Read points, asked for in a body',
    description: `The names are those of the query of \`GET /data\`. ${VERSION_HINT}`,
    isListing: true,
    body: jsonBody(readBody),
    answers: [answersRows('As of `GET /data`.', z.array(row))],
    errors: ['not_found'],
  },
  {
    ...{ method: 'get', path: '/data/compare', operationId: 'compareVersions', tag, access: ALL_USERS },
    summary: 'Compare two versions of a variable, date by date',
    query: {
      variableId: { description: 'The one variable.', schema: idSchema, isRequired: true },
      leftVersion: texts('VersionTag of the left; it, or `leftAsOf`, must be given.'),
      leftAsOf: moment('The left as it was known then.'),
      rightVersion: texts('VersionTag of the right; without it and `rightAsOf` the right is the latest.'),
      rightAsOf: moment('The right as it was known then.'),
      ...PERIOD,
      ...SHAPE,
    },
    isListing: true,
    answers: [
      answersRows('Rows, and a summary of all of them; CSV, Arrow and workbooks have only the rows.', compared),
    ],
    errors: ['not_found'],
  },
  {
    ...{ method: 'delete', path: '/data', operationId: 'deletePoints', tag, access: MANAGERS },
    summary: 'Remove the points of a period for good, every version of them',
    body: jsonBody(deleteSchema.meta({ id: 'PointsDeleted' })),
    answers: [
      answersJson(
        'How many dates each variable lost, or with `whatIf` would lose.',
        z.object({ results: z.array(z.object({ variableId: idSchema, datapointCount: z.int().min(0) })) }),
      ),
    ],
    errors: ['not_found'],
  },
];
