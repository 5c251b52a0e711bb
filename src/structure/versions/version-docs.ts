/** OpenAPI description of the version routes (R-A9, R-F7, R-F8). */
import { z } from 'zod';
import {
  ADMINS,
  ALL_USERS,
  answersJson,
  idSchema,
  instantSchema,
  type Operation,
} from '../../platform/openapi/operation.ts';
import type { VersionInUse } from './list-versions.ts';
import { VERSION_LIST } from './version-routes.ts';

const tag = 'Versions';

const versionInUse = z
  .object({
    version: z.string().nullable().meta({
      description:
        'VersionTag; null for values without one. Values written while `isVersioned` of the variable is false have none.',
    }),
    firstVersionTimestamp: instantSchema,
    lastVersionTimestamp: instantSchema,
    pointCount: z.int().min(0).meta({ description: 'Number of stored values with this VersionTag.' }),
  })
  .meta({ id: 'VersionInUse' }) satisfies z.ZodType<VersionInUse>;

export const VERSION_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/variables/:id/versions', operationId: 'listVersions', tag, access: ALL_USERS },
    summary: 'List the VersionTags of a variable with the first and last VersionTimestamp of each',
    query: VERSION_LIST,
    isListing: true,
    answers: [answersJson('VersionTags, the latest `lastVersionTimestamp` first.', z.array(versionInUse))],
  },
  {
    ...{ method: 'post', path: '/variables/:id/purgeVersions', operationId: 'purgeVersions', tag, access: ADMINS },
    summary: 'Immediately remove those versions of a versioned variable that exceed its version limit',
    answers: [
      answersJson(
        'Number of versions removed.',
        z.object({ variableId: idSchema, removedVersionCount: z.int().min(0) }),
      ),
    ],
  },
  {
    ...{ method: 'post', path: '/variables/purgeVersions', operationId: 'purgeVersionsOfAccount', tag, access: ADMINS },
    summary:
      'In the background, remove the versions that exceed the version limit, for all versioned variables of the account',
    answers: [
      answersJson(
        'Number of versioned variables that will be checked for versions to remove.',
        z.object({ variableCount: z.int().min(0) }),
      ),
    ],
  },
];
