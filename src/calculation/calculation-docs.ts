/** OpenAPI operations for runs, forced updates and the tools for authors (R-A9, R-H5, R-H8, R-H9, R-H12). */
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
import type { RPackage } from './authoring/preview-task.ts';
import { RUN_LIST, SAVE_LIST } from './calculation-routes.ts';
import type { DeclarationSave } from './declaration/declaration-history.ts';
import type { InputRecord } from './inputs/load-inputs.ts';
import type { FormulaRecord } from './run/compute.ts';
import { RUN_STATES, RUN_TRIGGERS } from './run/runs.ts';
import { UPDATE_OPERATIONS, waveSchema } from './updates/update-docs.ts';

const tag = 'Calculations';
const AUTHORS_PATH = '/sources/:sourceId/variables/:id/calculated';

const formula = z.object({
  formula: z.int().min(0).meta({ description: 'Index of the formula in the declaration.' }),
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
  alignTo: z.string().exactOptional(),
  version: texts.exactOptional(),
  asOf: instantSchema.exactOptional(),
  relativeVersion: z.string().exactOptional(),
  horizon: z.string().exactOptional(),
  tags: z.array(z.string()).exactOptional(),
  lastVersionTimestamp: instantSchema.nullable().meta({
    description:
      'Greatest VersionTimestamp of the variable at the time of the run; null when no point of the variable had ever been written. If the input has no `asOf`, a read with this VersionTimestamp as `asOf` returns the points that the run read, except versions that were deleted or replaced since.',
  }),
  historyFrom: instantSchema.exactOptional().meta({
    description:
      'The instant since which past states of the variable are complete. Present when the run may have missed points because versions were deleted.',
  }),
  rawFrom: instantSchema.exactOptional().meta({
    description:
      'The date from which all points of the variable are stored. Retention has replaced earlier points with rollups. Present when the window begins before this date.',
  }),
}) satisfies z.ZodType<InputRecord>;
const lines = z.array(z.string());
const notes = {
  messages: lines.exactOptional(),
  warnings: lines.exactOptional(),
  errors: lines.exactOptional(),
  output: z.string().exactOptional().meta({ description: 'Text that the script printed.' }),
  call: z.string().nullable().exactOptional(),
  line: z.int().nullable().exactOptional(),
  limit: z.string().exactOptional(),
  signal: z.union([z.string(), z.int()]).nullable().exactOptional(),
  faultCause: z.enum(['run', 'sandbox']).exactOptional().meta({
    description:
      'Cause of a fault of the sandbox: `run` if the sandbox ended or did not answer, and this run was the only one in it; otherwise `sandbox`.',
  }),
  scriptHash: z
    .string()
    .exactOptional()
    .meta({ description: 'SHA-256 of the scripts; present only after a fault of the sandbox.' }),
};
const counts = z.partialRecord(z.enum(['read', 'returned', 'dropped', 'outside', 'merged', 'stored']), z.int().min(0));
const previewCounts = z.record(
  z.enum(['read', 'returned', 'dropped', 'outside', 'merged', 'wouldStore']),
  z.int().min(0),
);
const durations = z.partialRecord(z.enum(['wait', 'load', 'r', 'sandboxWait', 'store']), z.number());

const run = z
  .object({
    id: idSchema,
    variableId: idSchema,
    state: z.enum(RUN_STATES),
    outcome: z.string().nullable(),
    message: z
      .string()
      .nullable()
      .meta({ description: 'Why the run failed or was abandoned; written for the author of the script.' }),
    trigger: z.enum(RUN_TRIGGERS),
    from: instantSchema,
    to: instantSchema,
    triggerDate: instantSchema,
    wave: z.int().meta({
      description:
        'Number of the wave to which the run belongs. A wave is all runs that a change, a schedule or a forced update triggered, directly or through other runs. A run that several of them triggered belongs to the oldest wave.',
    }),
    attempt: z.int().min(0),
    defaultVersion: z.string(),
    requestedDate: instantSchema,
    startedDate: instantSchema,
    finishedDate: instantSchema.nullable(),
    ancestors: z.array(idSchema),
    causes: z.array(idSchema).meta({
      description: 'Ids of the inputs whose change triggered the run. Inputs that the user may not read are left out.',
    }),
    formulas: z.array(formula),
    inputs: z.array(input),
    notes: z.object(notes),
    counts,
    durationsMs: durations,
    declarationHash: z.string().nullable().meta({
      description:
        'Hash of the declaration that was run. Null while the run is in progress, when it was interrupted, and when it ended before its script began.',
    }),
  })
  .meta({ id: 'Run' });
const runWithDeclaration = run
  .extend({
    declaration: z.unknown().meta({
      description:
        'The declaration that was run, with defaults filled in. It is null if `declarationHash` is null or if the user has the role USER.',
    }),
  })
  .meta({ id: 'RunWithDeclaration' });
const replay = z
  .object({
    ...{ runId: idSchema, variableId: idSchema, declarationHash: z.string() },
    outcome: z.string(),
    message: z.string().nullable(),
    isReproduced: z.boolean().meta({
      description:
        'True when the replay succeeded, each input had as many points as in the run, and the results equal the stored points.',
    }),
    counts: z.record(z.enum(['recorded', 'replayed', 'equal', 'different', 'missing']), z.int().min(0)),
    differences: z
      .array(
        z.object({
          date: instantSchema,
          version: z.string().exactOptional(),
          replayed: z.number(),
          stored: z.number().nullable(),
        }),
      )
      .meta({ description: 'The first 100 differences.' }),
    warnings: lines,
    durationsMs: durations,
  })
  .meta({ id: 'Replay' });

const person = z.object({ userId: z.string(), userName: z.string() });
const save = z
  .object({
    id: idSchema,
    date: instantSchema.nullable().meta({
      description: 'Null if the declaration was saved before Tidemark kept a history. Then the author is unknown too.',
    }),
    userId: z.string().nullable(),
    userName: z.string().nullable(),
    impersonator: person.nullable().meta({ description: 'The ADMIN who impersonated the author.' }),
    note: z.string().nullable().meta({ description: '`calculated.note` of the request that saved the declaration.' }),
    declarationHash: z.string().nullable().meta({
      description:
        'Hash of the declaration. Runs of this declaration have the same hash in `declarationHash`, or null if they ended too early to have one.',
    }),
    calculated: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: 'As `GET /variables/{id}` answers it; null when the variable stopped being calculated.' }),
  })
  .meta({ id: 'DeclarationSave' }) satisfies z.ZodType<DeclarationSave>;

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
    line: z
      .int()
      .nullable()
      .meta({ description: 'Line of the error; for a script that was stopped, the line that R reached last.' }),
    call: z.string().nullable(),
    limit: z.string().nullable(),
    signal: z.union([z.string(), z.int()]).nullable(),
    from: instantSchema,
    to: instantSchema,
    triggerDate: instantSchema,
    defaultVersion: z.string(),
    formulas: z.array(formula),
    inputs: z.array(input),
    series: z.array(point).meta({
      description:
        'The first 10,000 points that would be stored; includes dates that retention has rolled up, at which a run stores nothing.',
    }),
    isSeriesCut: z.boolean(),
    counts: previewCounts,
    messages: lines,
    warnings: lines,
    errors: lines.meta({
      description: 'The texts that the script returned in `Errors`, whether the run failed or not.',
    }),
    output: z.string().meta({ description: 'Text that the script printed.' }),
    durationsMs: durations,
    plots: z.array(
      z.object({
        name: z.string(),
        format: z.enum(['svg', 'png']),
        data: z.string().meta({
          contentEncoding: 'base64',
          description:
            'Show an SVG only as an image (`<img>`): the script of the variable wrote the SVG, which may contain scripts itself.',
        }),
      }),
    ),
  })
  .meta({ id: 'Evaluation' });
const problem = z.object({ path: z.string(), message: z.string(), line: z.int().exactOptional() });
const validation = z
  .object({
    isValid: z.boolean(),
    problems: z.array(problem),
    warnings: z.array(z.object({ path: z.string(), message: z.string() })),
  })
  .meta({ id: 'Validation' });

const rPackage = z
  .object({ name: z.string(), version: z.string() })
  .meta({ id: 'RPackage' }) satisfies z.ZodType<RPackage>;

const previewBody = jsonBody(
  previewSchema.meta({
    id: 'PreviewRequest',
    examples: [{}],
    description: '`calculated` is a declaration to use instead of the saved one.',
  }),
  { isOptional: true },
);

export const CALCULATION_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/variables/:id/runs', operationId: 'listRuns', tag, access: ALL_USERS },
    summary: 'Runs of a calculated variable',
    query: RUN_LIST,
    isListing: true,
    answers: [answersJson('Newest first; 100 per page by default.', z.array(run))],
  },
  {
    ...{ method: 'get', path: `${AUTHORS_PATH}/history`, operationId: 'listDeclarations', tag, access: ALL_USERS },
    summary: 'Saved declarations of a calculated variable',
    description:
      'A save without a note is not listed if its declaration equals that of the previous save. To restore a declaration, send the ' +
      '`calculated` of a listed save in a PUT of the variable.',
    query: SAVE_LIST,
    isListing: true,
    answers: [answersJson('Newest first; 100 per page by default.', z.array(save))],
  },
  {
    ...{ method: 'get', path: '/runs/:id', operationId: 'getRun', tag, summary: 'Read a run', access: ALL_USERS },
    answers: [answersJson('The run.', runWithDeclaration)],
  },
  {
    ...{ method: 'get', path: '/runs/:id/wave', operationId: 'getWave', tag, access: ALL_USERS },
    summary: 'Read the wave of a run: which change triggered which run',
    description:
      'Starts at the variable of this run. Follows triggers in both directions: back to causes and on to consequences. Returns at most 200 variables, those nearest to the start.',
    answers: [
      answersJson(
        'Each node is a variable. Each edge means that a change of the variable `from` triggered the run of the variable `to`.',
        waveSchema,
      ),
    ],
  },
  {
    ...{ method: 'get', path: '/runs/:id/replay', operationId: 'replayRun', tag, access: MANAGERS },
    summary: 'Repeat a run and compare it with the stored points',
    description:
      'Runs the recorded declaration with the recorded form values, and with the input versions that the run read, as far as they are still stored. ' +
      'Stores nothing. For a version that was deleted or replaced since, the repeated run reads an older version or no point.',
    answers: [answersJson('What differs.', replay)],
    errors: ['conflict', 'dependency_unavailable'],
  },
  ...UPDATE_OPERATIONS,
  {
    ...{ method: 'get', path: '/calculated/packages', operationId: 'listRPackages', tag, access: MANAGERS },
    summary: 'R packages that scripts can load',
    answers: [answersJson('Names and versions, ascending by name.', z.array(rPackage))],
    errors: ['dependency_unavailable'],
  },
  {
    ...{ method: 'post', path: `${AUTHORS_PATH}/validate`, operationId: 'validateCalculation', tag, access: MANAGERS },
    summary: 'Validate a declaration: syntax, inputs, cycles',
    body: previewBody,
    answers: [answersJson('Problems and warnings of the declaration, which is not saved.', validation)],
  },
  {
    ...{ method: 'post', path: `${AUTHORS_PATH}/evaluate`, operationId: 'evaluateCalculation', tag, access: MANAGERS },
    summary: 'Run a declaration without storing the result',
    body: previewBody,
    answers: [answersJson('The series, the messages and plots of the script, and the durations.', evaluation)],
  },
  {
    ...{ method: 'get', path: `${AUTHORS_PATH}/sampleData`, operationId: 'getSampleData', tag, access: MANAGERS },
    summary: 'Download the inputs of a script, to run it in your own R',
    query: SAMPLE_QUERY,
    answers: [
      {
        status: 200,
        description:
          'An `.rdata` file with `inputVariables`, `inputForms`, `inputConstants`, `targetVariable` and `triggerDate`, the toolbox ' +
          'and the random seed. If several formulas run, the file has the inputs of the last one. Use R with `TZ=UTC`: the ' +
          'script then returns the same series as `evaluate`.',
        types: { 'application/octet-stream': z.string().meta({ contentMediaType: 'application/octet-stream' }) },
        headers: { 'Content-Disposition': 'File name.' },
      },
    ],
    errors: ['conflict'],
  },
];
