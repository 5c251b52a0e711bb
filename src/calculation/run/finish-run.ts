/**
 * Ends a run: stores its points, completes its record and announces its end, in one transaction. Does not announce the
 * end of a run that will be repeated. Stores nothing if another database session has already ended the run.
 */

import { type Connection, inTransaction, type Transaction } from '../../platform/database/database.ts';
import { toStorableText } from '../../platform/database/storable-text.ts';
import { parseJsonText } from '../../platform/json/json-text.ts';
import { announcePoints } from '../../points/announce-points.ts';
import type { Dictionary } from '../../points/dictionary.ts';
import type { InputRecord } from '../inputs/load-inputs.ts';
import { delayRequests, MAX_ATTEMPTS, requestAgain } from '../schedule/request-calculations.ts';
import { announceEnd } from './announce-end.ts';
import type { ClaimedRun } from './claim-run.ts';
import type { FormulaRecord, RunDeclaration } from './compute.ts';
import type { Output } from './output-rules.ts';
import { sumCounts, type WrittenVersions, writeOutputs } from './write-outputs.ts';

/** Parts of a report that are known before the points are stored. */
export interface RunParts {
  readonly formulas: readonly FormulaRecord[];
  readonly inputs: readonly InputRecord[];
  readonly notes: Readonly<Record<string, unknown>>;
  readonly counts: Readonly<Record<string, number>>;
  /** Duration of each phase of the run, in milliseconds. */
  readonly durations: Readonly<Record<string, number>>;
  readonly declaration?: RunDeclaration | undefined;
}

export interface RunReport extends RunParts {
  /**
   * One of ok, script_error, limit, killed, invalid_output, invalid_input, fault, breaks_sandbox, stopped, cancelled.
   */
  readonly outcome: string;
  readonly message: string | null;
}

const STORE_TIMEOUT_MS = 300_000;

const MAX_CAUSED_FAULTS = 3;
const BREAKS_SANDBOX =
  `the sandbox failed at least ${MAX_CAUSED_FAULTS} times while it ran only this script, ` +
  'so the run is not repeated; change the script, or ask the operator for the log of the calculator';

const COUNT_CAUSED_FAULTS = `
  select count(*)::int as count
  from (select outcome, notes from calculation_run where variable_id = $1 and id < $2 order by id desc limit $3) earlier
  where outcome in ('fault', 'breaks_sandbox') and notes ->> 'faultCause' = 'run' and notes ->> 'scriptHash' = $4`;

// The session that locks this row decides how the run ends.
const FENCE = `select from calculation_run where id = $1 and state = 'Running' for update`;

const FINISH = `
  update calculation_run
  set state = $2, outcome = $3, message = $4, inputs = $5, notes = $6, counts = $7, durations = $8, formulas = $9,
      finished_date = clock_timestamp(), declaration_hash = $10,
      first_version_timestamp = timestamptz 'epoch' + $11::int8 * interval '1 microsecond',
      last_version_timestamp = timestamptz 'epoch' + $12::int8 * interval '1 microsecond'
  where id = $1`;

const KEEP_DECLARATION = `
  insert into calculation_declaration (account_id, hash, declaration) values ($1, $2, $3) on conflict do nothing`;

/** Stores the points and ends the run as Succeeded. */
export async function succeedRun(
  connection: Connection,
  dictionary: Dictionary,
  run: ClaimedRun,
  outputs: readonly Output[],
  parts: RunParts,
): Promise<RunReport> {
  const startMs = performance.now();
  const store = async (transaction: Transaction): Promise<RunReport> => {
    await holdRun(transaction, run);
    const written = await writeOutputs(transaction, dictionary, run, outputs);
    const { ranges, warnings: refused, refusedCount, versions } = written;
    const origin = { wave: run.wave, ...(run.requestId !== null && { requestId: run.requestId }) };
    await announcePoints(transaction, run.accountId, ranges, origin);
    const warnings = [...outputs.flatMap((output) => output.warnings()), ...refused];
    const counts = sumCounts(outputs);
    const report: RunReport = {
      ...parts,
      ...{ outcome: 'ok', message: null },
      counts: { ...parts.counts, ...counts, stored: counts.stored - refusedCount },
      notes: { ...parts.notes, warnings: [...readTexts(parts.notes.warnings), ...warnings] },
      durations: { ...parts.durations, store: performance.now() - startMs },
    };
    await endRun(transaction, run, 'Succeeded', report, versions);
    await announceEnd(transaction, run, 'CalculationCompleted');
    return report;
  };
  return inTransaction(connection, store, { statementTimeoutMs: STORE_TIMEOUT_MS });
}

/**
 * Ends a run that failed. After a fault of the sandbox, requests the run again, unless the script is the likely cause
 * or all attempts are used.
 */
export async function failRun(connection: Connection, run: ClaimedRun, given: RunReport): Promise<RunReport> {
  return inTransaction(connection, async (transaction) => {
    await holdRun(transaction, run);
    const report = await blameScript(transaction, run, given);
    const isRetried = report.outcome === 'fault' && run.attempt + 1 < MAX_ATTEMPTS;
    await endRun(transaction, run, isRetried ? 'Abandoned' : 'Failed', report);
    const delaySec = 2 ** run.attempt;
    if (isRetried) await requestAgain(transaction, { ...run, attempt: run.attempt + 1, delaySec });
    else {
      if (given.outcome === 'fault') await delayRequests(transaction, run.variableId, delaySec);
      await announceEnd(transaction, run, 'CalculationFailed');
    }
    return report;
  });
}

/**
 * Changes the outcome `fault` to `breaks_sandbox` if the script is the likely cause: the sandbox broke down in several
 * recent runs, each time while it ran only this script.
 */
async function blameScript(transaction: Transaction, run: ClaimedRun, report: RunReport): Promise<RunReport> {
  const { faultCause, scriptHash } = report.notes;
  if (report.outcome !== 'fault' || faultCause !== 'run') return report;
  const values = [run.variableId, run.id, MAX_ATTEMPTS - 1, scriptHash];
  const { rows } = await transaction.query<{ count: number }>(COUNT_CAUSED_FAULTS, values);
  if ((rows[0]?.count ?? 0) + 1 < MAX_CAUSED_FAULTS) return report;
  return { ...report, outcome: 'breaks_sandbox', message: BREAKS_SANDBOX };
}

/** @returns the report of a run that a user stopped. The record of the run is already written (R-H5). */
export function reportCancelled(run: ClaimedRun): RunReport {
  const none = { formulas: [], inputs: [], notes: {}, counts: {}, durations: { wait: run.waitMs } };
  return { ...none, outcome: 'cancelled', message: null };
}

/**
 * Ends an interrupted run and requests it again (R-K2, R-A15). A run is interrupted when the calculator stops, another
 * account needs the slot, or a transient error occurs. The attempt does not count.
 * @param message reason, for the record of the run.
 */
export async function handBackRun(connection: Connection, run: ClaimedRun, message: string): Promise<RunReport> {
  const none = { formulas: [], inputs: [], notes: {}, counts: {}, durations: { wait: run.waitMs } };
  const report: RunReport = { ...none, outcome: 'stopped', message };
  await inTransaction(connection, async (transaction) => {
    await holdRun(transaction, run);
    await endRun(transaction, run, 'Abandoned', report);
    await requestAgain(transaction, { ...run, delaySec: 0 });
  });
  return report;
}

function readTexts(texts: unknown): readonly string[] {
  return Array.isArray(texts) ? (texts as readonly string[]) : [];
}

/** Replaces the characters that PostgreSQL cannot store, so that a run whose script returns such characters can end. */
function toStorableReport(report: RunReport): RunReport {
  const toStorable = (_name: string, value: unknown) => (typeof value === 'string' ? toStorableText(value) : value);
  return parseJsonText(JSON.stringify(report, toStorable)) as RunReport;
}

/** Another database session ended the run, so its result is not stored. */
export class RunEndedElsewhere extends Error {
  override readonly name = 'RunEndedElsewhere';
}

async function holdRun(transaction: Transaction, run: ClaimedRun): Promise<void> {
  const { rowCount } = await transaction.query({ name: 'calculation-fence', text: FENCE, values: [run.id] });
  if (rowCount !== 1) {
    throw new RunEndedElsewhere(
      `run ${run.id} was already ended by another database session, so the result of the run is not stored; ` +
        'the record of the run says whether the run will be repeated',
    );
  }
}

async function endRun(
  transaction: Transaction,
  run: ClaimedRun,
  state: string,
  given: RunReport,
  versions?: WrittenVersions,
): Promise<void> {
  const { outcome, message, inputs, notes, counts, durations, formulas } = toStorableReport(given);
  const details = [inputs, notes, counts, durations, formulas].map((detail) => JSON.stringify(detail));
  const { declaration: kept } = given;
  const stored = [versions?.fromMicros ?? null, versions?.toMicros ?? null];
  const values = [run.id, state, outcome, message, ...details, kept?.hash ?? null, ...stored];
  if (kept) {
    const row = [run.accountId, kept.hash, JSON.stringify(kept.declaration)];
    await transaction.query({ name: 'calculation-keep-declaration', text: KEEP_DECLARATION, values: row });
  }
  await transaction.query({ name: 'calculation-finish', text: FINISH, values });
}
