/**
 * How a run ends, in one transaction: its points, its record and the event that tells of it. The record must still be
 * Running: a run that was taken over in the meantime stores nothing.
 */
import { type Connection, inTransaction, type Transaction } from '../platform/database.ts';
import { toStorableText } from '../platform/storable-text.ts';
import { announcePoints } from '../points/announce-points.ts';
import type { Dictionary } from '../points/dictionary.ts';
import { encodeReadings } from '../points/encode-readings.ts';
import { findLabelIds } from '../points/find-label-ids.ts';
import { writePoints } from '../points/write-points.ts';
import { announceEnd } from './announce-end.ts';
import type { ClaimedRun } from './claim-run.ts';
import type { InputRecord } from './load-inputs.ts';
import type { OutputPoint } from './output-rules.ts';
import { MAX_ATTEMPTS, requestAgain } from './request-calculations.ts';

export interface RunReport {
  /** ok, script_error, limit, killed, invalid_output, invalid_input, fault */
  readonly outcome: string;
  readonly message: string | null;
  readonly inputs: readonly InputRecord[];
  readonly notes: Readonly<Record<string, unknown>>;
  readonly counts: Readonly<Record<string, number>>;
  /** Milliseconds per phase. */
  readonly durations: Readonly<Record<string, number>>;
}

const STORE_TIMEOUT_MS = 300_000;

const FINISH = `
  update calculation_run
  set state = $2, outcome = $3, message = $4, inputs = $5, notes = $6, counts = $7, durations = $8,
      finished_date = clock_timestamp()
  where id = $1 and state = 'Running'`;

const ADD_STORE_DURATION = `update calculation_run set durations = durations || jsonb_build_object('store', $2::float8) where id = $1`;

/** Stores the points and ends the run as Succeeded. */
export async function succeedRun(
  connection: Connection,
  dictionary: Dictionary,
  run: ClaimedRun,
  points: readonly OutputPoint[],
  given: RunReport,
): Promise<void> {
  const report = toStorableReport(given);
  const startMs = performance.now();
  const idsOf = await findLabelIds(dictionary, run.accountId, new Set(points.map(({ labels }) => labels)));
  const { variableId } = run;
  const tuples = encodeReadings(
    points.map(({ dateMicros, value, labels }) => ({ variableId, dateMicros, value, ...idsOf(labels) })),
  );
  await inTransaction(
    connection,
    async (transaction) => {
      await endRun(transaction, run, 'Succeeded', report);
      const { ranges } = points.length > 0 ? await writePoints(transaction, [tuples]) : { ranges: [] };
      await announcePoints(transaction, run.accountId, ranges, run.wave);
      await announceEnd(transaction, run, 'CalculationCompleted', report);
      await transaction.query(ADD_STORE_DURATION, [run.id, performance.now() - startMs]);
    },
    { statementTimeoutMs: STORE_TIMEOUT_MS },
  );
}

/** Ends the run as Failed. A fault of ours is asked for again, a few times, with growing pauses. */
export async function failRun(connection: Connection, run: ClaimedRun, given: RunReport): Promise<void> {
  const report = toStorableReport(given);
  await inTransaction(connection, async (transaction) => {
    const isRetried = report.outcome === 'fault' && run.attempt + 1 < MAX_ATTEMPTS;
    await endRun(transaction, run, isRetried ? 'Abandoned' : 'Failed', report);
    if (isRetried) await requestAgain(transaction, { ...run, attempt: run.attempt + 1, delaySec: 2 ** run.attempt });
    else await announceEnd(transaction, run, 'CalculationFailed', report);
  });
}

/** Scripts print what they like; a text that cannot be stored must not keep the run from ending. */
function toStorableReport(report: RunReport): RunReport {
  const toStorable = (_name: string, value: unknown) => (typeof value === 'string' ? toStorableText(value) : value);
  return JSON.parse(JSON.stringify(report, toStorable)) as RunReport;
}

async function endRun(transaction: Transaction, run: ClaimedRun, state: string, report: RunReport): Promise<void> {
  const { rowCount } = await transaction.query(FINISH, [
    run.id,
    state,
    report.outcome,
    report.message,
    JSON.stringify(report.inputs),
    JSON.stringify(report.notes),
    JSON.stringify(report.counts),
    JSON.stringify(report.durations),
  ]);
  if (rowCount !== 1) throw new Error(`run ${run.id} was taken over; its result is not stored`);
}
