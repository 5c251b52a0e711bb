/** The description of versions (R-A9, R-F7, R-F8). */
import { z } from 'zod';
import {
  ADMINS,
  ALL_USERS,
  answersJson,
  idSchema,
  instantSchema,
  type Operation,
  PAGING,
} from '../../platform/openapi/operation.ts';
import type { VersionInUse } from './list-versions.ts';

const tag = 'Versions';

const versionInUse = z
  .object({
    version: z.string().nullable().meta({ description: 'VersionTag; null for what has none.' }),
    firstVersionTimestamp: instantSchema,
    lastVersionTimestamp: instantSchema,
    pointCount: z.int().min(0).meta({ description: 'Stored values under it.' }),
  })
  .meta({ id: 'VersionInUse' }) satisfies z.ZodType<VersionInUse>;

export const VERSION_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/variables/:id/versions', operationId: 'listVersions', tag, access: ALL_USERS },
    summary: 'List the VersionTags of a variable, and from when to when each was written',
    query: PAGING,
    isListing: true,
    answers: [answersJson('The newest first.', z.array(versionInUse))],
  },
  {
    ...{ method: 'post', path: '/variables/:id/purgeVersions', operationId: 'purgeVersions', tag, access: ADMINS },
    summary: 'Cut the versions of a variable to its limit, at once',
    answers: [
      answersJson(
        'How many versions were removed.',
        z.object({ variableId: idSchema, removedVersionCount: z.int().min(0) }),
      ),
    ],
  },
  {
    ...{ method: 'post', path: '/variables/purgeVersions', operationId: 'purgeVersionsOfAccount', tag, access: ADMINS },
    summary: 'Cut the versions of every variable of the account to its limit, in the background',
    answers: [answersJson('How many variables that concerns.', z.object({ variableCount: z.int().min(0) }))],
  },
];
