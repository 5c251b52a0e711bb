/** OpenAPI descriptions of mappers (R-A9, R-D9). */
import { z } from 'zod';
import { problemSchema } from '../../platform/openapi/error-schema.ts';
import {
  answersJson,
  answersNothing,
  instantSchema,
  jsonBody,
  MANAGERS,
  type Operation,
} from '../../platform/openapi/operation.ts';
import { type Mapper, mapperSchema, trialSchema } from './mappers.ts';

const shared = { tag: 'Mappers', access: MANAGERS } as const;
const inPath = { id: { description: 'GUID of the mapper.', schema: z.guid() } };

const mapper = z
  .object({
    id: z.guid().meta({ description: 'The GUID in `POST /api/generic/{guid}`.' }),
    name: z.string(),
    expression: z.string().meta({ description: 'JSONata expression that turns the parsed body into push elements.' }),
    hasHeader: z.boolean().meta({ description: 'For CSV: whether the first row names the columns.' }),
    isEnabled: z
      .boolean()
      .meta({ description: 'Whether pushes may use the mapper; when false, pushes to it get status 404.' }),
    createdDate: instantSchema,
    modifiedDate: instantSchema,
  })
  .meta({ id: 'Mapper' }) satisfies z.ZodType<Mapper>;
const written = mapperSchema.meta({
  id: 'MapperWritten',
  examples: [
    {
      name: 'Meters',
      expression: '[$.{ "sourceSerialNumber": meter, "mappingConfig": "kWh", "data": [{ "date": at, "value": kwh }] }]',
    },
  ],
});

const given = trialSchema.meta({
  id: 'MapperTrialWritten',
  examples: [
    {
      expression: '[{ "variableId": id, "data": [{ "date": at, "value": kwh }] }]',
      contentType: 'application/json',
      sample: '{"id":7,"at":"2026-03-01T00:00:00Z","kwh":1.5}',
    },
  ],
});

const trial = z
  .object({
    elements: z.unknown().optional().meta({ description: 'The push elements that the mapper returned.' }),
    problems: z
      .array(problemSchema)
      .optional()
      .meta({ description: 'Reasons why a push of these elements would be refused.' }),
    error: z.object({ code: z.string(), message: z.string() }).optional().meta({
      description: 'The error, if the sample cannot be parsed, the mapper failed, or the elements exceed 4 MiB.',
    }),
  })
  .meta({ id: 'MapperTrial' });

export const MAPPER_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/account/mappers', operationId: 'listMappers', summary: 'List mappers', ...shared },
    isListing: true,
    answers: [answersJson('By name.', z.array(mapper))],
  },
  {
    ...{ method: 'post', path: '/account/mappers', operationId: 'createMapper', summary: 'Create a mapper', ...shared },
    body: jsonBody(written),
    answers: [answersJson('The mapper.', mapper)],
  },
  {
    ...{ method: 'get', path: '/account/mappers/:id', operationId: 'getMapper', summary: 'Read a mapper', ...shared },
    inPath,
    answers: [answersJson('The mapper.', mapper)],
  },
  {
    ...{
      method: 'put',
      path: '/account/mappers/:id',
      operationId: 'updateMapper',
      summary: 'Save a mapper',
      ...shared,
    },
    inPath,
    body: jsonBody(written),
    answers: [answersNothing('Saved.')],
  },
  {
    ...{ method: 'delete', path: '/account/mappers/:id', operationId: 'deleteMapper', ...shared },
    summary: 'Delete a mapper',
    inPath,
    answers: [answersNothing('Deleted.')],
  },
  {
    ...{ method: 'post', path: '/account/mappers/test', operationId: 'tryExpression', ...shared },
    summary: 'Test an unsaved expression with a sample body, without storing anything',
    description: '`sample` is a text in the format that `contentType` names. The request body may be at most 1 MiB.',
    body: jsonBody(given),
    answers: [answersJson('The elements that the expression returned, or the error.', trial)],
  },
  {
    ...{ method: 'post', path: '/account/mappers/:id/test', operationId: 'tryMapper', ...shared },
    summary: 'Test a mapper with a sample body, without storing anything',
    inPath,
    body: {
      description: 'At most 1 MiB after decompression.',
      types: {
        'application/json': z.unknown(),
        'application/xml': z.string(),
        'text/csv': z.string(),
        'text/plain': z.string(),
      },
      mayBeGzip: true,
    },
    answers: [answersJson('The elements that the mapper returned, or the error.', trial)],
  },
];
