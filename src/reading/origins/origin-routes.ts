/**
 * Route `GET /data/origins`, which returns the pushes, files and runs that versions of a variable came from. Pushes and
 * files are found through the records of writes, runs through the records of runs. The functions that find pushes,
 * files and runs are passed in, because `reading` does not import the features that contain these functions.
 */
import { type Context, Hono } from 'hono';
import type { CallerEnv } from '../../identity/authentication/authenticate.ts';
import type { Caller } from '../../identity/caller/caller.ts';
import type { Database, Queryable } from '../../platform/database/database.ts';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import { locationInAddress } from '../../platform/http/query.ts';
import { type FoundWrite, findWrites } from '../../points/origins/find-writes.ts';
import type { Micros } from '../../points/point.ts';
import { resolveSelection } from '../../selection/selection.ts';
import { ORIGIN_QUERY } from './origin-query.ts';

type Origin = object;

export interface OriginServices {
  readonly database: Database;
  /** @returns for each write, its pushes, in the order in which the pushes took effect. */
  findPushes(
    queryable: Queryable,
    caller: Caller,
    writes: readonly FoundWrite[],
  ): Promise<readonly (readonly Origin[])[]>;
  /**
   * @returns a map from file id to file. Each file has only those properties that the caller may see. The map does not
   * contain deleted files.
   */
  findFiles(queryable: Queryable, caller: Caller, fileIds: readonly string[]): Promise<ReadonlyMap<string, Origin>>;
  /** @returns for each VersionTimestamp, the run that wrote the version. A version that no run wrote has no entry. */
  findRuns(
    queryable: Queryable,
    accountId: number,
    variableId: number,
    versionTimestamps: readonly Micros[],
  ): Promise<ReadonlyMap<Micros, Origin>>;
}

/** Creates the route `GET /data/origins`. Mount it at `/data/origins`. */
export function originRoutes(services: OriginServices): Hono<CallerEnv> {
  return new Hono<CallerEnv>().get('/', (c) => answerOrigins(services, c));
}

async function answerOrigins(services: OriginServices, c: Context<CallerEnv>): Promise<Response> {
  const { caller } = c.var;
  const { variableId, versionTimestamps } = ORIGIN_QUERY.parse(c.req.url);
  await assertReadable(services.database, caller, variableId);
  const origins = await findOrigins(services, caller, variableId, [...new Set(versionTimestamps)]);
  return c.json(
    versionTimestamps.map((micros) => ({
      versionTimestamp: formatInstant(micros),
      origins: origins.get(micros) ?? [],
    })),
  );
}

/** @throws {DomainError} not_found when the caller may not read the variable. */
async function assertReadable(queryable: Queryable, caller: Caller, variableId: number): Promise<void> {
  const everything = { isToIncluded: false, versionTags: [], order: 'ASC', offset: 0 } as const;
  const locationOf = (name: string) => locationInAddress(name === 'variableIds' ? 'variableId' : name);
  await resolveSelection(queryable, caller, { ...everything, variableIds: [variableId], locationOf });
}

async function findOrigins(
  { database, findPushes, findFiles, findRuns }: OriginServices,
  caller: Caller,
  variableId: number,
  versionTimestamps: readonly Micros[],
): Promise<ReadonlyMap<Micros, readonly Origin[]>> {
  const writes = [...(await findWrites(database, caller.accountId, variableId, versionTimestamps))];
  const pushed = writes.filter(([, { fileId }]) => fileId === null);
  const filed = writes.flatMap(([micros, { fileId }]) => (fileId === null ? [] : [{ micros, fileId }]));
  const written = new Map(writes);
  const others = versionTimestamps.filter((micros) => !written.has(micros));
  const [pushes, files, runs] = await Promise.all([
    findPushes(
      database,
      caller,
      pushed.map(([, write]) => write),
    ),
    findFiles(
      database,
      caller,
      filed.map(({ fileId }) => fileId),
    ),
    findRuns(database, caller.accountId, variableId, others),
  ]);
  return new Map([
    ...pushed.map(([micros], index) => [micros, pushes[index] ?? []] as const),
    ...filed.map(({ micros, fileId }) => [micros, [files.get(fileId) ?? { kind: 'File' }]] as const),
    ...[...runs].map(([micros, run]) => [micros, [run]] as const),
  ]);
}
