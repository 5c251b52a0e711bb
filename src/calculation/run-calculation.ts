/** One run of a calculated variable: claim, load, R, output rules, store (R-H5, R-H8, R-H11). */
import type { Clock } from '../platform/clock.ts';
import { type Connection, type Database, inTransaction, withConnection } from '../platform/database.ts';
import { DomainError } from '../platform/errors.ts';
import { parseInput } from '../platform/lenient.ts';
import type { Dictionary } from '../points/dictionary.ts';
import { formatInstant } from '../points/instant-rules.ts';
import { type ClaimedRun, claimRun, lockVariable, unlockVariable } from './claim-run.ts';
import { DECLARATION_SCHEMA, type Formula, findFormula } from './declaration.ts';
import { defaultVersion } from './default-version-rules.ts';
import { failRun, type RunReport, succeedRun } from './finish-run.ts';
import { findVariableInfos, type LoadedInputs, loadInputs, MAX_R_SECONDS } from './load-inputs.ts';
import { planOutput } from './output-rules.ts';
import type { SandboxPool } from './sandbox/pool.ts';
import type { SandboxOutcome, VariableInfo } from './sandbox/sandbox-types.ts';

export interface RunServices {
  readonly database: Database;
  readonly dictionary: Dictionary;
  readonly sandbox: SandboxPool;
  readonly clock: Clock;
  /** Most points a run may read, over all its inputs. */
  readonly maxInputPoints: number;
}

/** What became of a look at a variable. */
export type RunResult =
  | { readonly kind: 'idle' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'ended'; readonly run: ClaimedRun; readonly report: RunReport };

interface Target {
  readonly info: VariableInfo;
  readonly isVersioned: boolean;
  readonly formula: Formula | undefined;
}

/**
 * Runs the waiting request of a variable, if there is one and nobody else is at it.
 * @returns `busy` when another session runs the variable: it must be looked at again later.
 */
export async function runCalculation(services: RunServices, variableId: number): Promise<RunResult> {
  return withConnection(services.database, async (connection) => {
    if (!(await lockVariable(connection, variableId))) return { kind: 'busy' };
    try {
      const version = defaultVersion(services.clock.nowMillis());
      const run = await claimRun(connection, variableId, version);
      if (!run) return { kind: 'idle' };
      return { kind: 'ended', run, report: await execute(services, connection, run, version) };
    } finally {
      await unlockVariable(connection, variableId);
    }
  });
}

async function execute(
  services: RunServices,
  connection: Connection,
  run: ClaimedRun,
  version: string,
): Promise<RunReport> {
  const startMs = performance.now();
  const durations: Record<string, number> = { wait: run.waitMs };
  const target = await findTarget(connection, run.variableId);
  if (!target.formula) return fail(connection, run, 'invalid_input', 'the variable has no formula', { durations });
  const loaded = await load(services, connection, run, target.formula).catch((error: unknown) => {
    if (error instanceof DomainError) return error.message;
    throw error;
  });
  if (typeof loaded === 'string') return fail(connection, run, 'invalid_input', loaded, { durations });
  durations.load = performance.now() - startMs;
  const outcome = await services.sandbox.run({
    script: target.formula.script,
    inputs: loaded.inputs,
    forms: [],
    constants: target.formula.constants,
    target: target.info,
    triggerDate: toTriggerSeconds(run),
  });
  durations.r = outcome.timing.runMs;
  durations.sandboxWait = outcome.timing.waitMs;
  return store(services, connection, run, { target, loaded, outcome, durations, version });
}

interface Executed {
  readonly target: Target;
  readonly loaded: LoadedInputs;
  readonly outcome: SandboxOutcome;
  readonly durations: Readonly<Record<string, number>>;
  readonly version: string;
}

async function store(
  { dictionary }: RunServices,
  connection: Connection,
  run: ClaimedRun,
  { target, loaded, outcome, durations, version }: Executed,
): Promise<RunReport> {
  const notes = describeNotes(outcome);
  const read = loaded.records.reduce((sum, { points }) => sum + points, 0);
  const parts = { inputs: loaded.records, notes, durations, counts: { read } };
  if (outcome.kind !== 'ok') return fail(connection, run, outcome.kind, outcome.message, parts);
  const plan = planOutput(outcome.series, { isVersioned: target.isVersioned, defaultVersion: version });
  if (plan.kind === 'invalid') return fail(connection, run, 'invalid_output', plan.message, parts);
  const counts = {
    read,
    returned: outcome.series.dates.length,
    dropped: plan.droppedCount,
    stored: plan.points.length,
  };
  const warnings = [...outcome.notes.warnings, ...plan.warnings];
  const report = { outcome: 'ok', message: null, ...parts, counts, notes: { ...notes, warnings } };
  await succeedRun(connection, dictionary, run, plan.points, report);
  return report;
}

async function fail(
  connection: Connection,
  run: ClaimedRun,
  outcome: string,
  message: string,
  parts: Partial<RunReport>,
): Promise<RunReport> {
  const report: RunReport = { inputs: [], notes: {}, counts: {}, durations: {}, ...parts, outcome, message };
  await failRun(connection, run, report);
  return report;
}

async function load(
  { dictionary, maxInputPoints }: RunServices,
  connection: Connection,
  run: ClaimedRun,
  formula: Formula,
): Promise<LoadedInputs> {
  if (Math.abs(toTriggerSeconds(run)) > MAX_R_SECONDS) {
    const date = formatInstant(run.triggerMicros);
    throw new DomainError('invalid_input', `triggerDate is a date R's integers cannot hold: ${date}`);
  }
  return inTransaction(connection, (transaction) => loadInputs(transaction, dictionary, formula, run, maxInputPoints), {
    isolation: 'repeatable read',
    readOnly: true,
  });
}

function toTriggerSeconds({ triggerMicros }: ClaimedRun): number {
  return Math.floor(triggerMicros / 1_000_000);
}

async function findTarget(connection: Connection, variableId: number): Promise<Target> {
  const { rows } = await connection.query<{ isVersioned: boolean; calculated: unknown }>(
    'select is_versioned as "isVersioned", calculated from variable where id = $1',
    [variableId],
  );
  const info = (await findVariableInfos(connection, [variableId])).get(variableId);
  const [row] = rows;
  // A request goes with its variable, so one that was claimed has one.
  if (!row || !info) throw new Error(`variable ${variableId} does not exist`);
  const formula = row.calculated ? findFormula(parseInput(DECLARATION_SCHEMA, row.calculated)) : undefined;
  return { info, isVersioned: row.isVersioned, formula };
}

function describeNotes(outcome: SandboxOutcome): Readonly<Record<string, unknown>> {
  switch (outcome.kind) {
    case 'ok':
      return { ...outcome.notes, errors: outcome.errors };
    case 'script_error':
      return { ...outcome.notes, call: outcome.call, line: outcome.line };
    case 'limit':
      return { ...outcome.notes, limit: outcome.limit };
    case 'killed':
      return { ...outcome.notes, signal: outcome.signal };
    case 'fault':
      return {};
  }
}
