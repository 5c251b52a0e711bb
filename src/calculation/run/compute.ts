/**
 * Computes a run and stores nothing: plans the formulas, loads the inputs, runs R and applies the output rules. Live,
 * scheduled, forced and previewed runs all use this code (R-H11).
 */
import { createHash } from 'node:crypto';
import { type Connection, inTransaction } from '../../platform/database/database.ts';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import { DomainError } from '../../platform/errors.ts';
import { parseInput } from '../../platform/http/lenient.ts';
import type { Dictionary } from '../../points/dictionary.ts';
import type { Micros } from '../../points/point.ts';
import { awaitWriters } from '../../points/read/await-writers.ts';
import {
  DECLARATION_SCHEMA,
  type Declaration,
  hashDeclaration,
  hasScript,
  instantMicros,
} from '../declaration/declaration.ts';
import type { DateRange, FormulaPeriod } from '../declaration/formula-period-rules.ts';
import { type FormValues, type Home, loadFormValues, toScalar } from '../inputs/form-values.ts';
import { type InputRecord, loadInputs } from '../inputs/load-inputs.ts';
import { findVariables } from '../inputs/variable-infos.ts';
import type { SandboxPool } from '../sandbox/pool.ts';
import type { PictureFormat, SandboxJob, SandboxOutcome } from '../sandbox/sandbox-types.ts';
import { mergeNotes, sumTimings } from './merge-outcomes.ts';
import { type Output, planOutput } from './output-rules.ts';
import { type PlannedFormula, planFormulas } from './plan-formulas.ts';
import { shareLimits } from './share-limits.ts';

export interface ComputeServices {
  readonly dictionary: Dictionary;
  readonly sandbox: SandboxPool;
  /** Maximum number of points that a run may read from all its inputs together. A bucket counts as one point. */
  readonly maxInputPoints: number;
}

export interface ComputeRequest {
  readonly variableId: number;
  readonly changed: DateRange;
  readonly triggerMicros: Micros;
  /** The Version that rows without a Version get; the same for the whole run (§9.4). */
  readonly defaultVersion: string;
  /** Declaration to use in place of the saved one. */
  readonly declaration?: Declaration;
  /** @returns the form value to use in place of the stored form value (R-H12). @param formula index of the formula. */
  readonly formValue?: (formula: number, alias: string) => unknown;
  /** Script that runs in place of each formula's script, with the same inputs (R-H9). */
  readonly script?: string;
  readonly pictures?: PictureFormat;
}

/** One formula in the record of a run (R-H8). */
export interface FormulaRecord {
  readonly formula: number;
  readonly from: string;
  readonly to: string;
  readonly triggerDate: string;
  readonly forms: readonly { readonly alias: string; readonly value: unknown }[];
}

export interface Computed {
  readonly result:
    | { readonly kind: 'ok'; readonly outputs: readonly Output[] }
    | { readonly kind: 'failed'; readonly outcome: string; readonly message: string };
  readonly formulas: readonly FormulaRecord[];
  readonly inputs: readonly InputRecord[];
  /** Number of points that the run read. For an input with a granularity, its buckets are counted instead. */
  readonly read: number;
  readonly notes: Readonly<Record<string, unknown>>;
  /** Duration of each phase of the run, in milliseconds. */
  readonly durations: Readonly<Record<string, number>>;
  readonly outcomes: readonly SandboxOutcome[];
  /** Declaration that the run used; undefined when the variable has no script, or the inputs could not be loaded. */
  readonly declaration: RunDeclaration | undefined;
}

/** A declaration, and the hash by which records of runs refer to it (R-H12). */
export interface RunDeclaration {
  readonly hash: string;
  readonly declaration: Declaration;
}

interface Loaded {
  readonly declaration: RunDeclaration;
  readonly isVersioned: boolean;
  readonly planned: readonly PlannedFormula[];
  /**
   * For each planned formula, the dates that its aligned inputs allow (`LoadedInputs.whole`). Undefined means that no
   * input limits the dates.
   */
  readonly wholes: readonly (DateRange | undefined)[];
  readonly jobs: readonly SandboxJob[];
  readonly formulas: readonly FormulaRecord[];
  readonly inputs: readonly InputRecord[];
  readonly read: number;
  readonly warnings: readonly string[];
}

/**
 * @returns the outputs, or why the run failed. A failed script is a result, not an exception (R-H11).
 * @throws `signal.reason` when `signal` is aborted before or while a script runs.
 * @throws {DomainError} dependency_unavailable when a write that began before a pinned `asOf` stays open for too long.
 * @throws {SandboxUnavailableError} when R cannot be reached.
 * @throws {Error} when the variable no longer exists.
 */
export async function compute(
  services: ComputeServices,
  connection: Connection,
  request: ComputeRequest,
  signal?: AbortSignal,
): Promise<Computed> {
  const startMs = performance.now();
  const loaded = await loadInSnapshot(services, connection, request).catch((error: unknown) => {
    // An unavailable dependency is not the author's fault, so this error is thrown instead of returned.
    if (error instanceof DomainError && error.code !== 'dependency_unavailable') return error;
    throw error;
  });
  const durations = { load: performance.now() - startMs };
  if (loaded instanceof DomainError) {
    const result = { kind: 'failed', outcome: 'invalid_input', message: loaded.message } as const;
    return { result, formulas: [], inputs: [], read: 0, notes: {}, durations, outcomes: [], declaration: undefined };
  }
  const outcomes: SandboxOutcome[] = [];
  const runScript = shareLimits(services.sandbox);
  for (const job of loaded.jobs) {
    const outcome = await runScript(job, signal);
    outcomes.push(outcome);
    if (outcome.kind !== 'ok') break;
  }
  const { formulas, inputs, read } = loaded;
  return {
    result: conclude(loaded, outcomes, request.defaultVersion),
    notes: { ...mergeNotes(outcomes, loaded), ...identifyScripts(loaded.jobs, outcomes) },
    durations: { ...durations, ...sumTimings(outcomes) },
    ...{ formulas, inputs, read, outcomes, declaration: loaded.declaration },
  };
}

/**
 * @returns the hash of the scripts when the last outcome is a fault of the sandbox, because faults are counted per
 * hash; otherwise an empty object.
 */
function identifyScripts(jobs: readonly SandboxJob[], outcomes: readonly SandboxOutcome[]) {
  if (outcomes.at(-1)?.kind !== 'fault') return {};
  const scripts = JSON.stringify(jobs.map(({ script }) => script));
  return { scriptHash: createHash('sha256').update(scripts).digest('hex') };
}

function conclude(
  { planned, wholes, isVersioned }: Loaded,
  outcomes: readonly SandboxOutcome[],
  defaultVersion: string,
): Computed['result'] {
  const outputs: Output[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.kind !== 'ok') {
      // The texts that a script returned in `Errors` are the whole message, without the index of the formula (R-H3).
      const isReported = outcome.kind === 'script_error' && (outcome.errors ?? []).length > 0;
      const subject = planned.length > 1 && !isReported ? `formula ${planned[index]?.index}: ` : '';
      return { kind: 'failed', outcome: outcome.kind, message: subject + outcome.message };
    }
    const period = narrow(planned[index]?.period, wholes[index]);
    const plan = planOutput(outcome.series, { isVersioned, defaultVersion, ...(period && { period }) });
    if (plan.kind === 'invalid') return { kind: 'failed', outcome: 'invalid_output', message: plan.message };
    outputs.push(plan.output);
  }
  return { kind: 'ok', outputs };
}

/**
 * Intersects the validity of a formula (`period`) with the dates that its aligned inputs allow (`whole`).
 * @returns the dates whose rows are stored; undefined means all dates.
 */
function narrow(
  period: PlannedFormula['period'] | undefined,
  whole: DateRange | undefined,
): Pick<FormulaPeriod, 'fromMicros' | 'untilMicros'> | undefined {
  if (!whole) return period;
  const { fromMicros, untilMicros } = period ?? { fromMicros: -Infinity, untilMicros: Infinity };
  return {
    fromMicros: Math.max(fromMicros, whole.fromMicros),
    untilMicros: Math.min(untilMicros, whole.toMicros + 1),
  };
}

async function loadInSnapshot(
  services: ComputeServices,
  connection: Connection,
  request: ComputeRequest,
): Promise<Loaded> {
  const saved = await findTarget(connection, request.variableId);
  const declaration = request.declaration ?? saved.declaration;
  await awaitPinned(connection, saved.accountId, declaration);
  const work = (transaction: Connection) => load(services, transaction, request, { ...saved, declaration });
  return inTransaction(connection, work, { isolation: 'repeatable read', readOnly: true });
}

async function load(
  { dictionary, maxInputPoints }: ComputeServices,
  transaction: Connection,
  { variableId, changed, triggerMicros, ...request }: ComputeRequest,
  { declaration, isVersioned }: Saved,
): Promise<Loaded> {
  if (!declaration?.calculatedVariableFormulas.some(hasScript)) {
    throw new DomainError('invalid_input', 'the variable has no formula with a script');
  }
  const inputIds = declaration.calculatedVariableFormulas.flatMap(({ variables }) =>
    variables.map((it) => it.variableId),
  );
  const variables = await findVariables(transaction, [...new Set([variableId, ...inputIds])]);
  const target = variables.get(variableId);
  if (!target) throw new Error(`variable ${variableId} does not exist`);
  const planned = planFormulas(declaration, changed, triggerMicros, variables);
  const parts = {
    ...{ jobs: [] as SandboxJob[], wholes: [] as (DateRange | undefined)[], formulas: [] as FormulaRecord[] },
    ...{ inputs: [] as InputRecord[], read: 0, warnings: [] as string[] },
  };
  for (const plan of planned) {
    const remainingPoints = maxInputPoints - parts.read;
    const wanted = {
      formula: plan.index,
      inputs: plan.formula.variables,
      changed: plan.changed,
      variables,
      remainingPoints,
      maxPoints: maxInputPoints,
    };
    const triggerDate = toSeconds(plan.triggerMicros);
    const window = { from: toSeconds(plan.changed.fromMicros), to: toSeconds(plan.changed.toMicros) };
    const inputs = await loadInputs(transaction, dictionary, wanted).catch((error: unknown) => {
      throw planned.length > 1 && error instanceof DomainError ? inFormula(plan.index, error) : error;
    });
    const home = { sourceId: target.info.sourceId, siteId: target.siteId };
    const { forms, warnings } = await readForms(transaction, plan, home, request.formValue);
    const { formula, constants } = plan.formula;
    const { pictures, script = formula ?? '' } = request;
    const given = {
      script,
      inputs: inputs.inputs,
      forms,
      constants,
      target: target.info,
      changed: window,
      triggerDate,
    };
    parts.jobs.push({ ...given, ...(pictures && { pictures }) });
    parts.wholes.push(inputs.whole);
    parts.formulas.push(toRecord(plan, forms));
    parts.inputs.push(...inputs.records);
    parts.warnings.push(...warnings);
    parts.read += inputs.pointCount;
  }
  return { isVersioned, planned, declaration: { hash: hashDeclaration(declaration), declaration }, ...parts };
}

/** @returns a copy of an error in the inputs of a formula; the index of the formula is put before the message. */
function inFormula(formula: number, { code, message, details, retryAfterSec }: DomainError): DomainError {
  return new DomainError(code, `formula ${formula}: ${message}`, details, retryAfterSec);
}

async function readForms(
  transaction: Connection,
  { index, formula }: PlannedFormula,
  home: Home,
  formValue: ComputeRequest['formValue'],
): Promise<FormValues> {
  if (!formValue) return loadFormValues(transaction, formula.entities, home);
  const forms = formula.entities.map(({ alias }) => ({ alias, value: toScalar(formValue(index, alias)) }));
  return { forms, warnings: [] };
}

function toRecord({ index, changed, triggerMicros }: PlannedFormula, forms: FormulaRecord['forms']): FormulaRecord {
  const triggerDate = formatInstant(triggerMicros);
  return {
    formula: index,
    from: formatInstant(changed.fromMicros),
    to: formatInstant(changed.toMicros),
    triggerDate,
    forms,
  };
}

function toSeconds(micros: Micros): number {
  return Math.floor(micros / 1_000_000);
}

interface Saved {
  readonly accountId: number;
  readonly isVersioned: boolean;
  readonly declaration: Declaration | undefined;
}

/**
 * Waits for the writes that began before a pinned `asOf`; until they end, the values as of that instant may change
 * (R-F5).
 */
async function awaitPinned(
  connection: Connection,
  accountId: number,
  declaration: Declaration | undefined,
): Promise<void> {
  const formulas = declaration?.calculatedVariableFormulas ?? [];
  const pins = formulas.flatMap(({ variables }) => variables.flatMap(({ asOf }) => instantMicros(asOf) ?? []));
  if (pins.length > 0) await awaitWriters(connection, accountId, Math.max(...pins));
}

async function findTarget(connection: Connection, variableId: number): Promise<Saved> {
  const { rows } = await connection.query<{ accountId: number; isVersioned: boolean; calculated: unknown }>({
    name: 'calculation-target',
    text: `select account_id as "accountId", is_versioned as "isVersioned", calculated from variable where id = $1`,
    values: [variableId],
  });
  const [row] = rows;
  // The row is missing when the variable was deleted after the run was claimed or after the preview was requested.
  if (!row) throw new Error(`variable ${variableId} does not exist`);
  const declaration = row.calculated ? parseInput(DECLARATION_SCHEMA, row.calculated) : undefined;
  return { accountId: row.accountId, isVersioned: row.isVersioned, declaration };
}
