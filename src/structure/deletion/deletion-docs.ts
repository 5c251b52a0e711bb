/** OpenAPI description of hard deletions (R-A9, R-C7). */
import { z } from 'zod';
import {
  type Answer,
  answersJson,
  answersNothing,
  idSchema,
  instantSchema,
  MANAGERS,
  type Operation,
} from '../../platform/openapi/operation.ts';
import type { DeletionJob } from './deletions.ts';

const job = z
  .object({
    id: z.guid(),
    kind: z.enum(['Site', 'Source', 'Variable']),
    targetId: idSchema,
    targetName: z.string(),
    userName: z.string().meta({ description: 'Name of the user who requested the deletion.' }),
    requestedDate: instantSchema,
    state: z.enum(['Running', 'Completed']),
    variables: z.object({ total: z.int().min(0), deleted: z.int().min(0) }),
    pointsPending: z
      .int()
      .min(0)
      .meta({ description: 'Number of deleted variables whose points are not removed yet.' }),
  })
  .meta({ id: 'Deletion' }) satisfies z.ZodType<DeletionJob>;

const headers = { Location: 'With `hardDelete`: address of the job that removes the points.' };

/** The possible answers to a `DELETE` request for a site, source or variable. */
export const DELETED: readonly [Answer, ...Answer[]] = [
  answersNothing('Deleted.', 204, { headers }),
  {
    ...answersJson(
      'Answer to `hardDelete` for more than 500 sources and variables in total. The deletion runs in the background.',
      job,
    ),
    ...{ status: 202, headers },
  },
];

export const DELETION_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/deletions/:id', operationId: 'getDeletion', tag: 'Sites', access: MANAGERS },
    summary: 'Get the progress of a deletion that was requested with hardDelete',
    description:
      'The record of a deletion is kept for at least 30 days after all sites, sources and variables concerned have been removed.',
    inPath: { id: { description: 'Id of the deletion.', schema: z.guid() } },
    answers: [answersJson('The deletion.', job)],
  },
];
