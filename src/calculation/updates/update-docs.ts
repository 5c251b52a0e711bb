/**
 * OpenAPI of the routes that force and stop updates, show current and waiting runs, and list instants; also the schema
 * of a wave (R-A9, R-H5, R-H8).
 */
import { z } from 'zod';
import {
  ALL_USERS,
  answersJson,
  idSchema,
  instantSchema,
  jsonBody,
  MANAGERS,
  type Operation,
} from '../../platform/openapi/operation.ts';
import { RUN_STATES, RUN_TRIGGERS } from '../run/runs.ts';
import { INSTANTS_QUERY, rangeSchema } from './update-routes.ts';
import type { UpdateState } from './update-state.ts';
import type { Wave } from './wave.ts';

const tag = 'Calculations';

const forced = z.object({
  variableIds: z.array(idSchema).meta({ description: 'Ids of the variables that will be recalculated.' }),
});
const stopped = z.object({
  runIds: z.array(idSchema).meta({
    description:
      'Run ids, ascending: the id of each cancelled run and, for each removed request, the id of the run that records the removal.',
  }),
});
const trigger = z.enum(RUN_TRIGGERS);

const updateState = z
  .object({
    running: z
      .object({ runId: idSchema, trigger, from: instantSchema, to: instantSchema, startedDate: instantSchema })
      .nullable(),
    waiting: z.array(
      z.object({
        trigger,
        from: instantSchema,
        to: instantSchema,
        requestedDate: instantSchema,
        notBeforeDate: instantSchema.meta({
          description:
            'Earliest time at which the run can start. The request is delayed while this time is in the future.',
        }),
        attempt: z.int().min(0),
      }),
    ),
    usualMs: z.number().nullable().meta({
      description:
        'Median duration, in milliseconds, of the last 20 runs that succeeded; null when no run has succeeded.',
    }),
  })
  .meta({ id: 'UpdateState' }) satisfies z.ZodType<UpdateState>;

export const waveSchema = z
  .object({
    wave: z.int(),
    nodes: z.array(
      z.object({
        variableId: idSchema,
        name: z.string(),
        sourceName: z.string(),
        state: z.enum(['Changed', 'Waiting', ...RUN_STATES]).meta({
          description:
            '`Changed`: an input without a run in this wave. A push, a file, a deletion or a run of another wave changed its points.',
        }),
        runId: idSchema
          .nullable()
          .meta({ description: 'Id of the last run of the variable in this wave; null for `Changed` and `Waiting`.' }),
        outcome: z.string().nullable(),
        trigger: trigger.nullable(),
        startedDate: instantSchema.nullable(),
        finishedDate: instantSchema.nullable(),
      }),
    ),
    edges: z.array(z.object({ from: idSchema, to: idSchema })).meta({
      description: 'Pairs of variable ids: a change of `from` triggered the run of `to`.',
    }),
    isCut: z
      .boolean()
      .meta({ description: '`true` when `nodes` may be incomplete, because the wave has too many nodes or runs.' }),
  })
  .meta({ id: 'Wave' }) satisfies z.ZodType<Record<keyof Wave, unknown>>;

function forceUpdate(of: string, path: string, kind: string): readonly Operation[] {
  return [
    {
      ...{ method: 'post', path: `${path}/forceUpdate`, operationId: `forceUpdate${kind}`, tag, access: MANAGERS },
      summary: `Recalculate ${of}`,
      description:
        'The runs start in the background. By default they cover the dates from the first point of the inputs until now.',
      body: jsonBody(rangeSchema.meta({ id: 'DateRange' }), { isOptional: true }),
      answers: [answersJson('The requested runs.', forced)],
      errors: ['conflict'],
    },
    {
      ...{ method: 'post', path: `${path}/stopUpdate`, operationId: `stopUpdate${kind}`, tag, access: MANAGERS },
      summary: `Stop the runs of ${of}`,
      description:
        'Cancels runs in progress and removes waiting requests, whatever triggered them. Each cancelled run and each ' +
        'removed request is recorded as a `Failed` run with the outcome `cancelled` and the dates that were not ' +
        'calculated. A run that is already storing its points is not cancelled.',
      answers: [answersJson('The stopped runs.', stopped)],
    },
  ];
}

export const UPDATE_OPERATIONS: readonly Operation[] = [
  ...forceUpdate('a variable', '/variables/:id', 'Variable'),
  ...forceUpdate('the variables of a source', '/sources/:id', 'Source'),
  ...forceUpdate('the variables of a site', '/sites/:id', 'Site'),
  {
    ...{ method: 'get', path: '/variables/:id/updateState', operationId: 'getUpdateState', tag, access: ALL_USERS },
    summary: 'Read the current run and the waiting requests of a variable',
    answers: [answersJson('The current run and the waiting requests.', updateState)],
  },
  {
    ...{ method: 'get', path: '/calculated/instants', operationId: 'listScheduleInstants', tag, access: ALL_USERS },
    summary: 'List the next times that match a cron expression',
    query: INSTANTS_QUERY,
    answers: [
      answersJson(
        'Ascending.',
        z.object({ timeZoneId: z.string(), instants: z.array(instantSchema) }).meta({ id: 'ScheduleInstants' }),
      ),
    ],
  },
];
