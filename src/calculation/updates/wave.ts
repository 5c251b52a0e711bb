/**
 * The wave of a run: which change triggered which run (R-H8). Shows the variables that are linked by triggers, in
 * either direction, to the variable of this run: at most the `MAX_NODES` nearest. Omits variables that the caller may
 * not read (R-B9).
 */
import type { Caller } from '../../identity/caller/caller.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { findReached } from '../run/runs.ts';

const MAX_NODES = 200;
/** Maximum number of runs, and of waiting requests, that are read from one wave. */
const MAX_RUNS = 20_000;

// The last run of each variable. A variable can have several runs in one wave, for example after a sandbox fault.
const FIND_RUNS = `
  select distinct on (variable_id) variable_id as "variableId", id as "runId", state, outcome, trigger, causes,
         started_date as "startedDate", finished_date as "finishedDate"
  from calculation_run where wave = $1 and account_id = $2 order by variable_id, id desc limit $3`;
const FIND_WAITING = `
  select variable_id as "variableId", null as "runId", 'Waiting' as state, null as outcome, trigger, causes,
         null as "startedDate", null as "finishedDate"
  from calculation_request where wave = $1 and account_id = $2 order by variable_id limit $3`;
const FIND_NAMES = `
  select variable.id, variable.name, source.name as "sourceName" from variable
  join source on source.id = variable.source_id where variable.id = any($1::int[])`;

interface WaveRun {
  readonly variableId: number;
  readonly runId: number | null;
  readonly state: string;
  readonly outcome: string | null;
  readonly trigger: string;
  readonly causes: readonly number[];
  readonly startedDate: string | null;
  readonly finishedDate: string | null;
}

/** A variable in a wave of recalculations, with its waiting request or else its last run in this wave, if any. */
export interface WaveNode extends Omit<WaveRun, 'causes' | 'trigger'> {
  readonly name: string;
  readonly sourceName: string;
  /**
   * State of the variable's last run in this wave, or:
   * - `Waiting`: the variable has a waiting request in this wave.
   * - `Changed`: the variable has no request and no run in this wave. A change of its points triggered other runs.
   */
  readonly state: string;
  /** Null when `state` is `Changed`. */
  readonly trigger: string | null;
}

export interface Wave {
  readonly wave: number;
  readonly nodes: readonly WaveNode[];
  /** Pairs of variable ids: a change of variable `from`, or the result of its run, triggered the run of `to`. */
  readonly edges: readonly { readonly from: number; readonly to: number }[];
  /** True when `nodes` may be incomplete, because the wave has too many nodes or runs. */
  readonly isCut: boolean;
}

/**
 * Reads the variables of a wave that are linked to `variableId` by triggers, and these triggers.
 * @param variableId id of a variable that has a run in this wave.
 */
export async function readWave(queryable: Queryable, caller: Caller, wave: number, variableId: number): Promise<Wave> {
  const values = [wave, caller.accountId, MAX_RUNS];
  const ended = await queryable.query<WaveRun>(FIND_RUNS, values);
  const waiting = await queryable.query<WaveRun>(FIND_WAITING, values);
  // A waiting request supersedes an earlier run of its variable.
  const runs = new Map([...ended.rows, ...waiting.rows].map((run) => [run.variableId, run]));
  const near = findNear(runs, variableId);
  const shown = near.slice(0, MAX_NODES);
  const reached = caller.sites === 'all' ? undefined : await findReached(queryable, caller, shown);
  const ids = new Set(reached ? shown.filter((id) => reached.has(id)) : shown);
  const names = await queryable.query<{ id: number; name: string; sourceName: string }>(FIND_NAMES, [[...ids]]);
  const nodes = names.rows.map(({ id, name, sourceName }) => toNode(id, name, sourceName, runs.get(id)));
  const existing = new Set(nodes.map((node) => node.variableId));
  const edges = [...existing].flatMap((to) =>
    (runs.get(to)?.causes ?? []).flatMap((from) => (existing.has(from) ? [{ from, to }] : [])),
  );
  const isCut = near.length > MAX_NODES || Math.max(ended.rows.length, waiting.rows.length) === MAX_RUNS;
  return { wave, nodes, edges, isCut };
}

/** @returns `first` and the ids of all variables linked to it by triggers, in either direction, nearest first. */
function findNear(runs: ReadonlyMap<number, WaveRun>, first: number): readonly number[] {
  const triggered = new Map<number, number[]>();
  for (const { variableId, causes } of runs.values()) {
    for (const cause of causes) triggered.set(cause, [...(triggered.get(cause) ?? []), variableId]);
  }
  const found = new Set([first]);
  // Iterating a Set also visits the members added during the iteration.
  for (const id of found) {
    for (const next of [...(runs.get(id)?.causes ?? []), ...(triggered.get(id) ?? [])]) found.add(next);
  }
  return [...found];
}

function toNode(variableId: number, name: string, sourceName: string, run: WaveRun | undefined): WaveNode {
  const labels = { variableId, name, sourceName };
  if (run) {
    const { runId, state, outcome, trigger, startedDate, finishedDate } = run;
    return { ...labels, runId, state, outcome, trigger, startedDate, finishedDate };
  }
  const none = { runId: null, outcome: null, trigger: null, startedDate: null, finishedDate: null };
  return { ...labels, ...none, state: 'Changed' };
}
