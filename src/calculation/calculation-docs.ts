/** The description of runs, forced updates and the tools of authors (R-A9, R-H5, R-H8, R-H9). */
import { z } from 'zod';
import {
  ALL_USERS,
  answersJson,
  idSchema,
  instantSchema,
  jsonBody,
  MANAGERS,
  type Operation,
} from '../platform/openapi/operation.ts';
import { previewSchema, SAMPLE_QUERY } from './authoring/authoring-routes.ts';
import { RUN_LIST, rangeSchema } from './calculation-routes.ts';
import type { InputRecord } from './inputs/load-inputs.ts';
import type { FormulaRecord } from './run/compute.ts';

const tag = 'Calculations';
const AUTHORS_PATH = '/sources/:sourceId/variables/:id/calculated';

const formula = z.object({
  formula: z.int().min(0).meta({ description: 'Its place in the declaration.' }),
  from: instantSchema,
  to: instantSchema,
  triggerDate: instantSchema,
  forms: z.array(z.object({ alias: z.string(), value: z.unknown() })),
}) satisfies z.ZodType<FormulaRecord>;
const texts = z.union([z.string(), z.array(z.string())]);
const input = z.object({
  formula: z.int().min(0),
  alias: z.string(),
  variableId: idSchema,
  from: instantSchema.nullable(),
  to: instantSchema.nullable(),
  points: z.int().min(0),
  granularity: z.string().exactOptional(),
  aggregation: z.string().exactOptional(),
  version: texts.exactOptional(),
  asOf: instantSchema.exactOptional(),
  relativeVersion: z.string().exactOptional(),
  horizon: z.string().exactOptional(),
  tags: z.array(z.string()).exactOptional(),
  lastVersionTimestamp: instantSchema
    .nullable()
    .meta({ description: 'Reading the same window as of then gives the same again.' }),
}) satisfies z.ZodType<InputRecord>;
const lines = z.array(z.string());
const notes = {
  messages: lines.exactOptional(),
  warnings: lines.exactOptional(),
  errors: lines.exactOptional(),
  output: z.string().exactOptional().meta({ description: 'What the script printed.' }),
  call: z.string().nullable().exactOptional(),
  line: z.int().nullable().exactOptional(),
  limit: z.string().exactOptional(),
  signal: z.union([z.string(), z.int()]).nullable().exactOptional(),
};
const counts = z.partialRecord(z.enum(['read', 'returned', 'dropped', 'outside', 'stored']), z.int().min(0));
const durations = z.partialRecord(z.enum(['wait', 'load', 'r', 'sandboxWait', 'store']), z.number());

const run = z
  .object({
    id: idSchema,
    variableId: idSchema,
    state: z.enum(['Running', 'Succeeded', 'Failed', 'Abandoned']),
    outcome: z.string().nullable(),
    message: z.string().nullable().meta({ description: 'Why it failed, for the author of the script.' }),
    trigger: z.enum(['Input', 'Schedule', 'ForceUpdate']),
    from: instantSchema,
    to: instantSchema,
    triggerDate: instantSchema,
    wave: z.int().meta({ description: 'The same for all that the same change led to.' }),
    attempt: z.int().min(0),
    defaultVersion: z.string(),
    requestedDate: instantSchema,
    startedDate: instantSchema,
    finishedDate: instantSchema.nullable(),
    ancestors: z.array(idSchema),
    formulas: z.array(formula),
    inputs: z.array(input),
    notes: z.object(notes),
    counts,
    durationsMs: durations,
  })
  .meta({ id: 'Run' });

const forced = z.object({ variableIds: z.array(idSchema).meta({ description: 'The variables that will run.' }) });
const point = z.object({
  date: instantSchema,
  value: z.number(),
  version: z.string().exactOptional(),
  tags: z.record(z.string(), z.string()).exactOptional(),
});
const evaluation = z
  .object({
    outcome: z.string(),
    message: z.string().nullable(),
    from: instantSchema,
    to: instantSchema,
    triggerDate: instantSchema,
    defaultVersion: z.string(),
    formulas: z.array(formula),
    inputs: z.array(input),
    series: z.array(point).meta({ description: 'What would be stored, at most 10,000 points.' }),
    isSeriesCut: z.boolean(),
    counts,
    ...notes,
    warnings: lines,
    durationsMs: durations,
    plots: z.array(
      z.object({
        name: z.string(),
        format: z.enum(['svg', 'png']),
        data: z.string().meta({ contentEncoding: 'base64' }),
      }),
    ),
  })
  .partial()
  .meta({ id: 'Evaluation' });
const problem = z.object({ path: z.string(), message: z.string(), line: z.int().exactOptional() });
const validation = z
  .object({
    isValid: z.boolean(),
    problems: z.array(problem),
    warnings: z.array(z.object({ path: z.string(), message: z.string() })),
  })
  .meta({ id: 'Validation' });

const previewBody = jsonBody(
  previewSchema.meta({
    id: 'PreviewRequest',
    examples: [{}],
    description: 'Without `calculated` the declaration that is saved is meant.',
  }),
  { isOptional: true },
);

function forceUpdate(of: string, path: string, operationId: string): Operation {
  return {
    ...{ method: 'post', path, operationId, tag, summary: `Calculate again: ${of}`, access: MANAGERS },
    description: 'In the background. Without dates over everything the inputs have.',
    body: jsonBody(rangeSchema.meta({ id: 'DateRange' }), { isOptional: true }),
    answers: [answersJson('What was asked for.', forced)],
    errors: ['conflict'],
  };
}

export const CALCULATION_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/variables/:id/runs', operationId: 'listRuns', tag, access: ALL_USERS },
    summary: 'Runs of a calculated variable',
    query: RUN_LIST,
    isListing: true,
    answers: [answersJson('The newest first, 100 unless `itemsPerPage` says otherwise.', z.array(run))],
  },
  {
    ...{ method: 'get', path: '/runs/:id', operationId: 'getRun', tag, summary: 'Read a run', access: ALL_USERS },
    answers: [answersJson('The run.', run)],
  },
  forceUpdate('a variable', '/variables/:id/forceUpdate', 'forceUpdateVariable'),
  forceUpdate('the variables of a source', '/sources/:id/forceUpdate', 'forceUpdateSource'),
  forceUpdate('the variables of a site', '/sites/:id/forceUpdate', 'forceUpdateSite'),
  {
    ...{ method: 'post', path: `${AUTHORS_PATH}/validate`, operationId: 'validateCalculation', tag, access: MANAGERS },
    summary: 'Check a declaration: syntax with lines, inputs, cycles',
    body: previewBody,
    answers: [answersJson('What is wrong with it. Nothing is saved.', validation)],
  },
  {
    ...{ method: 'post', path: `${AUTHORS_PATH}/evaluate`, operationId: 'evaluateCalculation', tag, access: MANAGERS },
    summary: 'Run a declaration without storing anything',
    body: previewBody,
    answers: [answersJson('The series, what the script said and drew, and how long it took.', evaluation)],
  },
  {
    ...{ method: 'get', path: `${AUTHORS_PATH}/sampleData`, operationId: 'getSampleData', tag, access: MANAGERS },
    summary: 'What a script would see, as a file for an R of one’s own',
    query: SAMPLE_QUERY,
    answers: [
      {
        status: 200,
        description:
          'An `.rdata` file with `inputVariables`, `inputForms`, `inputConstants`, `targetVariable` and `triggerDate`.',
        types: { 'application/octet-stream': z.string().meta({ contentMediaType: 'application/octet-stream' }) },
        headers: { 'Content-Disposition': 'The name of the file.' },
      },
    ],
    errors: ['conflict'],
  },
];
