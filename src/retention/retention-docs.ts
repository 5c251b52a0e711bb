/** OpenAPI description of the retention routes (R-A9). */
import { z } from 'zod';
import {
  answersJson,
  answersNothing,
  instantSchema,
  jsonBody,
  MANAGERS,
  type Operation,
} from '../platform/openapi/operation.ts';
import type { RetentionPreview } from './preview-retention.ts';
import { type Retention, type RetentionState, ROLLUPS, retentionSchema } from './retention.ts';
import { PREVIEW_QUERY } from './retention-routes.ts';

const tag = 'Retention';
const count = z.int().min(0);

const retention = z
  .object({
    keepRawYears: z.int().min(1).meta({
      description:
        'Number of years for which raw points are kept. The boundary is this number of years before the start of the current month (UTC).',
    }),
    rollup: z.enum(ROLLUPS).meta({
      description: 'Length of the rollups that replace points before the boundary: a civil hour or a civil day.',
    }),
    timeZoneId: z.string().meta({ description: 'Time zone in which the hours or days of the rollups begin.' }),
    isActive: z.boolean().meta({ description: 'When false, this policy rolls up no points; existing rollups remain.' }),
    modifiedDate: instantSchema,
    userName: z.string().meta({ description: 'User who last saved the policy.' }),
  })
  .meta({ id: 'Retention' }) satisfies z.ZodType<Retention>;

const state = z
  .object({
    retention: retention.nullable().meta({
      description:
        'The policy saved for this account or variable; null when none is saved. For a variable without its own policy, this is null although the policy of the account applies.',
    }),
    variableCount: count.meta({
      description:
        'Number of variables whose points have been rolled up. A variable still counts after its rollups were deleted, unless one request without `fromDateUtc` deleted all its points.',
    }),
    rollupCount: count,
    pointCount: count.meta({ description: 'Number of points that the rollups replaced.' }),
    rawFrom: instantSchema.nullable().meta({
      description:
        'Date from which all points are stored; rollups have replaced points before it. For an account, the latest such date of its variables. Null when `variableCount` is 0.',
    }),
    refusedPointCount: count.meta({
      description: 'Number of new points that were not written, because rollups already cover their dates.',
    }),
    lastRefusedDate: instantSchema.nullable(),
  })
  .meta({ id: 'RetentionState' }) satisfies z.ZodType<RetentionState>;

const preview = z
  .object({
    boundary: instantSchema.meta({ description: 'Date before which points would be rolled up.' }),
    variableCount: count,
    pointCount: count.meta({ description: 'Number of points that would be deleted.' }),
    versionCount: count.meta({ description: 'Number of superseded versions that would be deleted.' }),
    rollupCount: count.meta({ description: 'Number of rollups that would replace the points.' }),
    firstDate: instantSchema
      .nullable()
      .meta({ description: 'Date of the first point that would be deleted; null when `pointCount` is 0.' }),
    isComplete: z.boolean().meta({
      description: 'False when counting took too long; the counts then cover only dates before `countedUntil`.',
    }),
    countedUntil: instantSchema,
  })
  .meta({ id: 'RetentionPreview' }) satisfies z.ZodType<RetentionPreview>;

const written = jsonBody(
  retentionSchema.meta({ id: 'RetentionWritten', examples: [{ keepRawYears: 5, rollup: 'Day', isActive: false }] }),
);

const RULE =
  'A background job replaces the points before the boundary by rollups: the count, sum, minimum, maximum and variance of each hour or day. The points and their versions cannot be restored, so read the preview first. Aggregates over whole rollups are exact. Reads by VersionTag or tags and reads of every version leave rollups out. If a read without aggregation covers deleted points, the answer has only the remaining points, and the header `Raw-From`. Points are rolled up only if the saved policy has `isActive` = true.';

const owners = [
  { path: '/account/retention', of: 'Account', owner: 'the account' },
  { path: '/variables/:id/retention', of: 'Variable', owner: 'a variable' },
] as const;

export const RETENTION_OPERATIONS: readonly Operation[] = owners.flatMap(({ path, of, owner }): Operation[] => [
  {
    ...{ method: 'get', path, operationId: `get${of}Retention`, tag, access: MANAGERS },
    summary: `Read the retention policy and the state of the rollups of ${owner}`,
    answers: [answersJson('The policy and the state of the rollups.', state)],
  },
  {
    ...{ method: 'put', path, operationId: `put${of}Retention`, tag, access: MANAGERS },
    summary: `Save the retention policy of ${owner}`,
    description:
      of === 'Account'
        ? RULE
        : `${RULE} The policy of a variable replaces the policy of the account. If the policy of a variable has \`isActive\` = false, every point of the variable is kept.`,
    body: written,
    answers: [answersJson('The saved policy and the state of the rollups.', state)],
  },
  {
    ...{ method: 'delete', path, operationId: `delete${of}Retention`, tag, access: MANAGERS },
    summary: `Remove the retention policy of ${owner}`,
    description:
      of === 'Account'
        ? 'Existing rollups remain. Variables with their own policy keep that policy.'
        : 'Existing rollups remain. If the account has a policy, that policy applies to the variable from now on.',
    answers: [answersNothing('The policy has been removed, or there was no policy to remove.')],
  },
  {
    ...{ method: 'get', path: `${path}/preview`, operationId: `preview${of}Retention`, tag, access: MANAGERS },
    summary: `Count what a retention policy of ${owner} would delete now`,
    description:
      'Changes nothing. The query can describe a policy that has not been saved yet. Points that were written less than a day ago are counted, but are deleted later.',
    query: PREVIEW_QUERY,
    answers: [answersJson('The counts.', preview)],
  },
]);
