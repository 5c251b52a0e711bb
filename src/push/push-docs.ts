/** OpenAPI descriptions of the routes with the tag `Push`: pushes, targets and operations (R-A9, R-D1–D9). */
import { z } from 'zod';
import {
  type Access,
  answersJson,
  DATE_ZONES,
  idSchema,
  instantSchema,
  jsonBody,
  type Operation,
  textId,
} from '../platform/openapi/operation.ts';
import { pushSchema } from './body/push-schema.ts';
import type { PushWarning, Rejection, toBody } from './push-answer.ts';
import { OPERATION_QUERY, PUSH_QUERY, REPLAY_QUERY, TARGET_QUERY } from './push-query.ts';
import type { toOperationBody } from './store/find-operations.ts';

const tag = 'Push';
const PUSHERS: Access = { kind: 'caller', scope: 'push-data' };
const STANDARD: Access = { ...PUSHERS, permission: 'datapusher.standard' };
const CUSTOM: Access = { ...PUSHERS, permission: 'datapusher.custom' };

const rejection = z
  .object({
    index: z.int().min(0).meta({
      description: 'Index of the element in the push, counted from 0. For a replay: index among the replayed elements.',
    }),
    code: z.enum(['target_not_found', 'target_ambiguous']),
    message: z.string(),
  })
  .meta({
    id: 'Rejection',
    description:
      'An element that matches no variable, or several variables. Its rejection does not affect the other elements.',
  }) satisfies z.ZodType<Rejection>;
const warning = z
  .object({
    path: z.string(),
    code: z.enum(['ambiguous_local_date', 'skipped_local_date', 'nothing_accepted', 'rolled_up_date']),
    message: z.string(),
  })
  .meta({
    id: 'PushWarning',
    description:
      '`ambiguous_local_date`, `skipped_local_date`: a clock change makes a local date ambiguous or skips it. `nothing_accepted`: every element was rejected. `rolled_up_date`: readings were not written, because retention has replaced the points of that time with rollups.',
  }) satisfies z.ZodType<PushWarning>;
const outcome = {
  operationId: z.string().meta({ description: 'The label.' }),
  accepted: z.object({ elements: z.int().min(0), readings: z.int().min(0) }),
  rejected: z.array(rejection),
};
const WARNINGS =
  'The first 100 warnings that the service found when it accepted the push. The answer to a re-sent push can have further warnings, about readings that were accepted but not written.';
const pushAnswer = z
  .object({ ...outcome, warnings: z.array(warning).exactOptional().meta({ description: WARNINGS }) })
  .meta({ id: 'PushAnswer' }) satisfies z.ZodType<ReturnType<typeof toBody>>;
const operation = z
  .object({
    ...outcome,
    id: idSchema,
    userId: z.string(),
    state: z.enum(['Queued', 'Processing', 'Completed', 'Rejected', 'Failed']).meta({
      description:
        'Poll until the state is neither `Queued` nor `Processing`. `Completed`: the accepted readings are written, with three exceptions. Of readings with the same variable, date and VersionTag, only the last is written. Readings of variables deleted after the push are not written. Readings at rolled-up dates are not written; `rolled_up_date` warns of them, for at most 100 variables. `Rejected`: no element was accepted. `Failed`: accepted readings could not be written.',
    }),
    warnings: z.array(warning),
    failure: z.string().exactOptional(),
    mapperId: z.string().exactOptional().meta({ description: 'Id of the mapper, for a push in a custom format.' }),
    isReplay: z.literal(true).exactOptional(),
    acceptedDate: instantSchema,
    startedDate: instantSchema.exactOptional().meta({
      description:
        'Start of an attempt to write the readings, usually the one that succeeded. The VersionTimestamps of the readings are later.',
    }),
    completedDate: instantSchema.exactOptional(),
  })
  .meta({ id: 'Operation' }) satisfies z.ZodType<ReturnType<typeof toOperationBody>>;
const keptRejection = z
  .object({ ...rejection.shape, element: z.unknown().meta({ description: 'The element as it was in the push.' }) })
  .meta({ id: 'KeptRejection' });

const EXAMPLE = [
  {
    sourceSerialNumber: 'OVEN-1',
    mappingConfig: 'kWh',
    version: 'measured',
    data: [
      { date: '2026-03-01T00:00:00Z', value: 4.25 },
      { date: '2026-03-01T00:15:00Z', value: 4.5, tags: { quality: 'estimated' } },
    ],
  },
];
const TAKEN =
  'The push is stored durably. Pushes of one user to the same variable take effect in the order in which they are answered.';
const ANY_BODY = z.string();

export const PUSH_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'post', path: '/api/data', operationId: 'pushData', tag, summary: 'Push readings' },
    description:
      'The service checks and stores the whole body before it answers. If an element is malformed, the whole body is refused. An element can have any combination of identifiers that together match exactly one variable. If an element identifies only a source, its target is the only variable of the source, or the variable whose `isDefault` is true. An element that matches no variable, or several, is listed in `rejected` and kept for a replay. Values are divided by the `divider` of the variable.',
    access: STANDARD,
    query: PUSH_QUERY,
    body: jsonBody(pushSchema.meta({ id: 'PushBody', examples: [EXAMPLE] }), { mayBeGzip: true }),
    answers: [answersJson(TAKEN, pushAnswer, { headers: DATE_ZONES })],
    errors: ['queue_full'],
  },
  {
    ...{ method: 'post', path: '/api/generic/:guid', operationId: 'pushCustomData', tag, access: CUSTOM },
    summary: 'Push in a custom format',
    description: 'The mapper converts the body into the elements of a push.',
    inPath: { guid: { description: 'Id of the mapper.', schema: z.guid() } },
    query: PUSH_QUERY,
    body: {
      types: {
        'application/json': z.unknown(),
        'application/xml': ANY_BODY,
        'text/csv': ANY_BODY,
        'text/plain': ANY_BODY,
      },
      mayBeGzip: true,
    },
    answers: [answersJson(TAKEN, pushAnswer, { headers: DATE_ZONES })],
    errors: ['queue_full', 'mapping_failed'],
  },
  {
    ...{ method: 'get', path: '/api/data/targets', operationId: 'listTargets', tag, access: PUSHERS },
    summary: 'List which of the given variables the caller may push to',
    description:
      'A variable of `variableIds` is listed if it exists and the caller has the permission `datapusher.standard`. A caller with the role USER also needs the access level `Write` or `Admin` to the site or source of the variable. Without `variableIds`, the list is empty.',
    query: TARGET_QUERY,
    answers: [
      answersJson(
        'Those variables of `variableIds` that the caller may push to, in the order given.',
        z.array(z.object({ variableId: idSchema }).meta({ id: 'Target' })),
      ),
    ],
  },
  {
    ...{ method: 'get', path: '/api/operations/:label', operationId: 'getOperation', tag, access: PUSHERS },
    summary: 'Get the state and the result of a push',
    inPath: { label: textId('The `operationId` of the push.') },
    query: OPERATION_QUERY,
    isListing: true,
    answers: [
      answersJson(
        'The newest operation with the label; with `all`, the operations with the label, newest first, at most 1000 per page. A caller with the role USER gets only their own.',
        z.union([operation, z.array(operation)]),
      ),
    ],
  },
  {
    ...{ method: 'get', path: '/api/operations/:label/rejected', operationId: 'listRejectedElements', tag },
    summary: 'List rejected elements',
    access: PUSHERS,
    inPath: { label: textId('The `operationId` of the push.') },
    query: OPERATION_QUERY,
    isListing: true,
    answers: [
      answersJson(
        'The rejected elements in the order in which they were pushed, at most 1000 per page.',
        z.array(keptRejection),
      ),
    ],
  },
  {
    ...{ method: 'post', path: '/api/operations/:label/replay', operationId: 'replayRejectedElements', tag },
    summary: 'Replay the elements that were rejected, for example after missing variables have been added',
    description:
      'Requires the same permission as the original push: `datapusher.standard`, or `datapusher.custom` for a custom format. Replays only as many rejected elements as fit into one push, oldest first. Also queues the readings of a `Failed` operation again.',
    access: PUSHERS,
    inPath: { label: textId('The `operationId` of the push.') },
    query: REPLAY_QUERY,
    answers: [answersJson('The answer has the same form as for a push.', pushAnswer, { headers: DATE_ZONES })],
    errors: ['queue_full', 'conflict'],
  },
];
