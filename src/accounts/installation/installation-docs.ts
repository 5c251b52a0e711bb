/** OpenAPI description of `GET /admin/operate` (R-A9). */
import { z } from 'zod';
import { ADMINS, answersJson, idSchema, instantSchema, type Operation } from '../../platform/openapi/operation.ts';
import type { InstallationReport } from './installation-report.ts';
import type { StoredAccount } from './installation-routes.ts';

const count = z.int().min(0);
const seconds = z.number().min(0);
const account = { accountId: idSchema, accountName: z.string() };
const RECENT_RUNS = 'Counts runs that ended in the last 24 hours, at most the newest 20,000.';
const RECENT_PUSHES = 'Counts pushes of the last 24 hours, from at most the newest 20,000 stored operations.';

const shape = {
  roles: z.array(z.object({ roles: z.string(), connections: count, since: instantSchema })).meta({
    description:
      'Database connections, grouped by the roles of the process that opened them. Connections of the pools for reads and watches are not counted.',
  }),
  runs: z
    .object({
      examined: count,
      succeeded: count,
      failed: count,
      running: count.meta({ description: 'Runs in progress; `examined` does not count them.' }),
      medianSeconds: seconds.nullable(),
      p95Seconds: seconds.nullable(),
      medianWaitSeconds: seconds.nullable(),
    })
    .meta({ description: `Runs of scripts. ${RECENT_RUNS}` }),
  slowestScripts: z
    .array(
      z.object({
        ...{ variableId: idSchema, name: z.string(), ...account, runs: count },
        ...{ meanSeconds: seconds, totalSeconds: seconds },
      }),
    )
    .meta({ description: `At most 20 scripts, the script with the longest mean duration first. ${RECENT_RUNS}` }),
  busiestAccounts: z
    .array(
      z.object({
        ...account,
        ...{ pushes: count, readings: count, rejectedElements: count, runs: count, runSeconds: seconds },
      }),
    )
    .meta({
      description: `At most 20 accounts, the account with the most readings first. ${RECENT_PUSHES} ${RECENT_RUNS}`,
    }),
  clients: z.array(
    z.object({
      ...{ clientId: z.string(), scopes: z.array(z.string()), grantTypes: z.array(z.string()) },
      isPublic: z.boolean().meta({ description: 'True when the client has no secret.' }),
      createdDate: instantSchema,
    }),
  ),
  signingKeys: z.array(
    z.object({
      ...{ kid: z.string(), algorithm: z.string(), createdDate: instantSchema },
      state: z
        .enum(['active', 'retired'])
        .meta({ description: 'Always `active`; `GET /admin/signingKeys` says which key signs.' }),
    }),
  ),
};
z.object(shape) satisfies z.ZodType<InstallationReport>;

const stored = z.object({
  accountId: idSchema.nullable().meta({
    description: 'Null in the entry that counts the points of deleted variables; these points are not purged yet.',
  }),
  accountName: z.string().nullable(),
  points: count,
  bytes: count,
}) satisfies z.ZodType<StoredAccount>;

const installation = z
  .object({
    checkedDate: instantSchema,
    waiting: z.record(z.string(), z.number()).meta({
      description:
        'Waiting work by metric name, such as `tidemark_push_waiting_batches`. The numbers of events, emails, due calculations and due webhook attempts stop at 100,000.',
    }),
    ...shape,
    storage: z.array(stored).nullable().meta({
      description:
        'Disk space and number of stored points by account, from a measurement that ended at most 10 minutes ago. Large numbers of points are partly estimated. Null while a measurement is still running, and after a failed one.',
    }),
  })
  .meta({ id: 'Installation' });

export const INSTALLATION_OPERATION: Operation = {
  ...{ method: 'get', path: '/admin/operate', operationId: 'getInstallation', tag: 'Service', access: ADMINS },
  summary: 'Read the state of the whole installation',
  description:
    'The call is cheap: it reads indexes and the newest rows. If the last measurement of storage is older than 10 minutes, the call starts a new measurement, which may continue in the background.',
  answers: [
    answersJson(
      'Connected roles, waiting work, recent runs, slowest scripts, busiest accounts, clients, signing keys and storage.',
      installation,
    ),
  ],
};
