/**
 * Builds the lineage of a version. Finds the pushes, files or runs that wrote the version. For a run, also finds the
 * states that it read as inputs, and in turn the lineage of each of these states.
 */
import type { QueryClient } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { formatVersion } from '../../parts/moment.tsx';
import { variableQuery } from '../variable-queries.ts';
import type { LineageNode } from './lineage-rules.ts';
import { describeOrigin, type Origin, originsQuery } from './origins.ts';

type Run = components['schemas']['Run'];

/** Maximum depth of a lineage. The traced version has depth 1, and the inputs of its run have depth 2. */
const MAX_DEPTH = 6;
/** Maximum number of states in a lineage; further states are left out. */
const MAX_STATES = 40;
const SAVES = 200;

interface Tracing {
  readonly queries: QueryClient;
  readonly t: TFunction<'variable'>;
  readonly timeZone: string;
  /** Number of states that may still be added to the lineage. */
  rest: number;
}

/** The points of a variable as of a VersionTimestamp. */
interface State {
  readonly variableId: number;
  /** VersionTimestamp of the state; null when no point of the variable had been written before the run. */
  readonly at: string | null;
  /** Alias of an input in the script of the run. The traced version is not an input, so it has no alias. */
  readonly alias?: string;
  readonly points?: number;
}

/**
 * @returns the tree of a version.
 * @throws when the variable, the origins of the version, the run or the script's history cannot be read.
 */
export function loadLineage(
  queries: QueryClient,
  t: TFunction<'variable'>,
  { variableId, versionTimestamp, timeZone }: { variableId: number; versionTimestamp: string; timeZone: string },
): Promise<LineageNode> {
  return trace({ queries, t, timeZone, rest: MAX_STATES }, { variableId, at: versionTimestamp }, 1);
}

async function trace(tracing: Tracing, state: State, depth: number): Promise<LineageNode> {
  const { queries, t, timeZone } = tracing;
  const { variableId, at, alias, points } = state;
  tracing.rest -= 1;
  const { variable } = await queries.ensureQueryData(variableQuery(variableId));
  const name = variable.name || `#${variableId}`;
  const origins = at === null ? [] : await findOrigins(tracing, variableId, at);
  const children = origins.map((origin) =>
    origin.kind === 'Run' && origin.runId !== undefined
      ? describeRun(tracing, origin.runId, variable.sourceId, depth)
      : toNode(tracing, origin),
  );
  return {
    kind: 'state',
    title: alias === undefined ? name : t('lineage.input', { alias, name }),
    details: [
      at === null ? t('lineage.never') : t('lineage.state', { moment: formatVersion(at, timeZone) }),
      ...(points === undefined ? [] : [t('lineage.points', { count: points })]),
      ...(origins.length > 0 || at === null ? [] : [t('lineage.brought')]),
    ],
    href: `/console/variables/${variableId}${at === null ? '' : `?v=known&at=${encodeURIComponent(at)}`}`,
    children: await Promise.all(children),
  };
}

/** Makes the node of a push or a file, or of a run without an id. */
async function toNode({ t, timeZone }: Tracing, origin: Origin): Promise<LineageNode> {
  return { kind: 'origin', ...describeOrigin(origin, t, timeZone), children: [] };
}

async function describeRun(tracing: Tracing, runId: number, sourceId: number, depth: number): Promise<LineageNode> {
  const { queries, t, timeZone } = tracing;
  const run = await queries.fetchQuery({
    queryKey: ['run', runId],
    queryFn: () => bodyOf(api.GET('/runs/{id}', { params: { path: { id: runId } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const saved = await findSave(tracing, run, sourceId);
  const inputs = [...new Map(run.inputs.map((input) => [`${input.alias} ${input.variableId}`, input])).values()];
  const children: LineageNode[] = [];
  for (const { alias, variableId, lastVersionTimestamp: at, points } of inputs) {
    if (tracing.rest <= 0 || depth >= MAX_DEPTH) break;
    // Leaves out an input that cannot be read, such as an input to which the user has no access.
    const child = await trace(tracing, { alias, variableId, at, points }, depth + 1).catch(() => undefined);
    if (child) children.push(child);
  }
  return {
    kind: 'run',
    title: t('lineage.run', { id: run.id }),
    details: [
      formatVersion(run.startedDate, timeZone),
      saved ? t('lineage.script', { date: formatVersion(saved, timeZone) }) : t('lineage.scriptUnknown'),
      ...(children.length < inputs.length ? [t('lineage.more')] : []),
    ],
    href: `/console/runs/${run.id}`,
    children,
  };
}

function findOrigins({ queries }: Tracing, variableId: number, at: string): Promise<readonly Origin[]> {
  return queries.fetchQuery(originsQuery(variableId, [at])).then((found) => found.get(at) ?? []);
}

/**
 * Finds the last save of a run's declaration before the start of the run.
 * @returns the date of that save; undefined when the run does not name its declaration, when none of the last 200
 *   saves of the variable matches, or when the save has no date.
 */
async function findSave({ queries }: Tracing, run: Run, sourceId: number): Promise<string | undefined> {
  const { variableId, declarationHash, startedDate } = run;
  if (declarationHash === null) return undefined;
  const saves = await queries.fetchQuery({
    queryKey: ['saves', variableId],
    queryFn: () => {
      const params = { path: { sourceId, id: variableId }, query: { pageNumber: 0, itemsPerPage: SAVES } };
      return bodyOf(api.GET('/sources/{sourceId}/variables/{id}/calculated/history', { params }));
    },
  });
  const found = saves.find((save) => save.declarationHash === declarationHash && (save.date ?? '') <= startedDate);
  return found?.date ?? undefined;
}
