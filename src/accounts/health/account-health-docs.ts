/** OpenAPI description of `GET /account/health` (R-A9). */
import { z } from 'zod';
import { ALL_USERS, answersJson, idSchema, instantSchema, type Operation } from '../../platform/openapi/operation.ts';
import { TIME_PERIOD } from '../../structure/catalogue/enumerations.ts';
import type { AccountHealth } from './account-health.ts';
import { HEALTH_QUERY } from './health-routes.ts';

const count = z.int().min(0);
const text = z.string().nullable();
const itemsOf = <Shape extends z.ZodRawShape>(description: string, shape: Shape) =>
  z.object({
    count,
    items: z
      .array(z.object(shape))
      .meta({ description: `${description} At most 50 are listed; \`count\` counts all of them.` }),
  });
const variable = { variableId: idSchema, name: z.string(), sourceName: z.string(), siteName: z.string() };

const health = z
  .object({
    checkedDate: instantSchema,
    variables: z.object({
      total: count,
      watched: count.meta({
        description:
          'Number of variables with `granularity` and `granularityTimeBase`. Only these are checked for missing points (see `silent`).',
      }),
      empty: count.meta({ description: 'Number of variables counted in `watched` that have no points.' }),
      silent: itemsOf('Silent variables, sorted by the date of the newest point, the latest first.', {
        ...variable,
        lastDate: instantSchema.meta({
          description:
            'Date of the newest point. If points were deleted, this date may be later than the date of the newest remaining point.',
        }),
        granularity: z.int().min(1),
        granularityTimeBase: z.enum(Object.keys(TIME_PERIOD) as (keyof typeof TIME_PERIOD)[]),
      }),
    }),
    calculations: itemsOf(
      'Calculated variables without a successful run since their latest failed run, sorted by that failed run, the latest first. Only the newest 5,000 failed runs are examined.',
      {
        ...variable,
        runId: z.int(),
        date: instantSchema,
        message: text,
      },
    ),
    pushes: itemsOf('Pushes of the last 7 days that failed or have at least one rejected element, newest first.', {
      label: z.string().meta({ description: 'Label of `GET /api/operations/{label}`.' }),
      date: instantSchema,
      state: z.string(),
      rejectedElements: count,
      message: text,
    }),
    files: itemsOf(
      'Processed files, uploaded in the last 7 days, that failed or have at least one rejected row; newest first.',
      {
        id: z.string(),
        filename: z.string(),
        date: instantSchema,
        state: z.string(),
        rejectedRows: count,
        message: text,
      },
    ),
    webhooks: itemsOf('Webhooks that the service disabled.', {
      id: z.string(),
      name: z.string(),
      disabledDate: instantSchema.nullable(),
      reason: text,
    })
      .optional()
      .meta({ description: 'Absent for the role USER.' }),
    waiting: z.object({ pushes: count, files: count, calculations: count, oldestPushSeconds: count }),
  })
  .meta({ id: 'AccountHealth' }) satisfies z.ZodType<AccountHealth>;

export const HEALTH_OPERATION: Operation = {
  ...{ method: 'get', path: '/account/health', operationId: 'getAccountHealth', tag: 'Account', access: ALL_USERS },
  summary: 'Read what needs attention in the account',
  description:
    'A variable is silent when its newest point is older than three steps of its granularity and older than `silentAfterHours` hours. A USER sees the variables of their sites, and their own pushes and files, but `waiting` counts the work of the whole account.',
  query: HEALTH_QUERY,
  answers: [answersJson('The number of items of each kind, and the first items of each kind.', health)],
};
