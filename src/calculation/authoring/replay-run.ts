/**
 * Replays a recorded run and compares the replayed points with the points stored now (R-H8, R-H12). The replay runs the
 * recorded declaration with the recorded form values. It reads the same versions of the inputs as the run did, as far
 * as these versions are still stored. It stores nothing.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Connection, inTransaction } from '../../platform/database/database.ts';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import { parseInput } from '../../platform/http/lenient.ts';
import type { Micros, VersionChoice } from '../../points/point.ts';
import { readPoints } from '../../points/read/read-points.ts';
import { DECLARATION_SCHEMA, type Declaration } from '../declaration/declaration.ts';
import type { InputRecord } from '../inputs/load-inputs.ts';
import { type ComputeRequest, compute, type FormulaRecord } from '../run/compute.ts';
import type { Output, OutputPoint } from '../run/output-rules.ts';
import type { RunServices } from '../run/run-calculation.ts';

/** Maximum number of differences in the answer; also the maximum number of warnings. */
const MAX_NAMED = 100;

interface RecordedRun {
  readonly variableId: number;
  readonly accountId: number;
  readonly isVersioned: boolean;
  readonly fromMicros: Micros;
  readonly toMicros: Micros;
  readonly triggerMicros: Micros;
  readonly startedMicros: Micros;
  readonly defaultVersion: string;
  readonly formulas: readonly FormulaRecord[];
  readonly inputs: readonly InputRecord[];
  /** Number of points that the run stored. */
  readonly stored: number;
  readonly declarationHash: string;
  readonly declaration: unknown;
}

const micros = (column: string) => `(extract(epoch from run.${column}) * 1000000)::int8`;
const FIND_RUN = `
  select run.variable_id as "variableId", run.account_id as "accountId", variable.is_versioned as "isVersioned",
    ${micros('from_date')} as "fromMicros", ${micros('to_date')} as "toMicros", ${micros('trigger_date')} as "triggerMicros",
    ${micros('started_date')} as "startedMicros", run.default_version as "defaultVersion", run.formulas, run.inputs,
    coalesce((run.counts ->> 'stored')::int8, 0) as stored,
    run.declaration_hash as "declarationHash", kept.declaration
  from calculation_run run
  join variable on variable.id = run.variable_id
  join calculation_declaration kept on kept.account_id = run.account_id and kept.hash = run.declaration_hash
  where run.id = $1`;

/** A replayed point for which no value, or a different value, is stored at the point's date and Version. */
interface Difference {
  readonly date: string;
  readonly version?: string;
  readonly replayed: number;
  /** Value stored at the date and Version; null when there is no such point. */
  readonly stored: number | null;
}

/**
 * @returns the body of the answer, or an object with only `error` when the run has no recorded declaration. A run has
 * none when it has not ended, was interrupted or stopped, failed before its inputs were loaded, or was recorded by an
 * older release.
 * @throws the errors of `compute`.
 * @throws `signal.reason` when `signal` is aborted before the comparison ends.
 * @throws {DomainError} invalid_input when the recorded declaration no longer fits the schema.
 */
export async function replayRun(
  services: RunServices,
  connection: Connection,
  runId: number,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const { rows } = await connection.query<RecordedRun>(FIND_RUN, [runId]);
  const [run] = rows;
  if (!run)
    return {
      error: `run ${runId} has no recorded declaration and so cannot be replayed: the run has not ended, was interrupted, ended before its script started, or was recorded by an older release`,
    };
  const declaration = parseInput(DECLARATION_SCHEMA, run.declaration);
  const computed = await compute(services, connection, requestOf(run, declaration), signal);
  const { result, inputs, durations } = computed;
  const outputs = result.kind === 'ok' ? result.outputs : [];
  const work = (transaction: Connection) => comparePoints(transaction, run, outputs, signal);
  const compared = await inTransaction(connection, work, { isolation: 'repeatable read', readOnly: true });
  const { replayed, different, missing, differences } = compared;
  const warnings = describeInputs(run, declaration, inputs);
  const isSame = different + missing === 0 && replayed === run.stored;
  return {
    ...{ runId, variableId: run.variableId, declarationHash: run.declarationHash },
    outcome: result.kind === 'ok' ? 'ok' : result.outcome,
    message: result.kind === 'ok' ? null : result.message,
    isReproduced: result.kind === 'ok' && isSame && warnings.length === 0,
    counts: { recorded: run.stored, replayed, equal: replayed - different - missing, different, missing },
    differences,
    warnings,
    durationsMs: durations,
  };
}

function requestOf(run: RecordedRun, declaration: Declaration): ComputeRequest {
  const { variableId, fromMicros, toMicros, triggerMicros, defaultVersion } = run;
  const forms = new Map(
    run.formulas.flatMap(({ formula, forms: read }) => read.map((it) => [`${formula} ${it.alias}`, it])),
  );
  return {
    ...{ variableId, triggerMicros, defaultVersion },
    changed: { fromMicros, toMicros },
    declaration: pinInputs(declaration, run),
    formValue: (formula, alias) => forms.get(`${formula} ${alias}`)?.value,
  };
}

/**
 * Pins each input to the versions that the run read. If no point of the input's variable had ever been written, the
 * input is pinned to the start of the run.
 */
function pinInputs(declaration: Declaration, { inputs, startedMicros }: RecordedRun): Declaration {
  const pins = new Map(inputs.map((it) => [`${it.formula} ${it.alias}`, it.asOf ?? it.lastVersionTimestamp]));
  return {
    ...declaration,
    calculatedVariableFormulas: declaration.calculatedVariableFormulas.map((formula, index) => ({
      ...formula,
      variables: formula.variables.map((input) => {
        const asOf = pins.get(`${index} ${input.alias}`) ?? formatInstant(startedMicros);
        return { ...input, asOf, relativeVersion: null };
      }),
    })),
  };
}

interface Comparison {
  replayed: number;
  different: number;
  missing: number;
  /** The first `MAX_NAMED` differences. */
  readonly differences: Difference[];
}

/**
 * Compares the output with the stored points slice by slice, to limit memory and the pauses of the event loop. Dates in
 * random order make the comparison slow. The replay is stopped when the API has waited 90 s for the answer.
 */
async function comparePoints(
  transaction: Connection,
  run: RecordedRun,
  outputs: readonly Output[],
  signal: AbortSignal,
): Promise<Comparison> {
  const comparison: Comparison = { replayed: 0, different: 0, missing: 0, differences: [] };
  for (const output of outputs) {
    for (const points of output.slices()) {
      await nextTurn();
      signal.throwIfAborted();
      for (const [version, group] of Map.groupBy(points, ({ labels }) => labels.version)) {
        compareGroup(comparison, version, group, await readStored(transaction, run, version, group));
      }
    }
  }
  return comparison;
}

function compareGroup(
  comparison: Comparison,
  version: string | undefined,
  group: readonly OutputPoint[],
  stored: ReadonlyMap<Micros, number | null>,
): void {
  comparison.replayed += group.length;
  for (const { dateMicros, value } of group) {
    const found = stored.get(dateMicros) ?? null;
    if (found === value) continue;
    comparison[found === null ? 'missing' : 'different'] += 1;
    if (comparison.differences.length === MAX_NAMED) continue;
    const date = formatInstant(dateMicros);
    comparison.differences.push({ date, ...(version !== undefined && { version }), replayed: value, stored: found });
  }
}

/** @returns the stored value at each date of the points; null where none is stored. */
async function readStored(
  transaction: Connection,
  { variableId, isVersioned }: RecordedRun,
  version: string | undefined,
  points: readonly OutputPoint[],
): Promise<ReadonlyMap<Micros, number | null>> {
  const stored = new Map<Micros, number | null>();
  let [fromMicros, toMicros] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { dateMicros } of points) {
    stored.set(dateMicros, null);
    fromMicros = Math.min(fromMicros, dateMicros);
    toMicros = Math.max(toMicros, dateMicros);
  }
  const choice: VersionChoice = isVersioned && version !== undefined ? { versionTags: [version] } : {};
  const period = { fromMicros, toMicros, isToIncluded: true };
  const selection = { variableIds: [variableId], version: choice, order: 'ASC', ...period } as const;
  for await (const chunk of readPoints(transaction, selection)) {
    for (const [row, date] of chunk.dates.entries()) {
      if (stored.has(date)) stored.set(date, chunk.values[row] ?? Number.NaN);
    }
  }
  return stored;
}

/**
 * Describes the inputs whose number of points differs from the recorded number. For example, a point of an unversioned
 * input that was overwritten after the run is no longer found: its old value is gone, and its new value is too new.
 */
function describeInputs(run: RecordedRun, declaration: Declaration, now: readonly InputRecord[]): readonly string[] {
  // A formula runs once for each of its periods, so an alias can occur several times, in the order of the periods.
  const before = Map.groupBy(run.inputs, ({ formula, alias }) => `${formula} ${alias}`);
  const warnings = now.flatMap(({ formula, alias, points }) => {
    const recorded = before.get(`${formula} ${alias}`)?.shift()?.points;
    if (recorded === points || recorded === undefined) return [];
    const of = declaration.calculatedVariableFormulas.length > 1 ? ` of formula ${formula}` : '';
    const counts = `points read by the run: ${recorded}, by the replay: ${points}`;
    return [`input ${alias}${of} has changed; ${counts}`];
  });
  return warnings.slice(0, MAX_NAMED);
}
