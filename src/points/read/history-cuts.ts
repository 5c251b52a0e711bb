/**
 * Finds the variables whose history was cut (versions were deleted) after the earliest state a selection reads (R-F9).
 * For such a variable, a missing or older version does not prove that no other version was known. The latest versions
 * are always complete. A selection by VersionTag or tags, or of every version, reads no particular state, so any cut
 * concerns it.
 */
import type { Queryable, Transaction } from '../../platform/database/database.ts';
import type { Micros, PointSelection } from '../point.ts';
import { findRolledUp, type RawBoundary } from '../rollups/find-rolled-up.ts';
import { horizonBefore } from './select-versions.ts';
import { instantLiteral } from './sql-literal.ts';

/** A variable, and the instant from which its states are complete. */
export interface HistoryCut {
  readonly variableId: number;
  readonly historyFromMicros: Micros;
}

/**
 * Receives what a read lacks, before its first row: the history cuts of its variables, and the variables whose early points
 * were replaced by rollups. Both lists may be empty.
 */
export type NoteCuts = (cuts: readonly HistoryCut[], rolledUp: readonly RawBoundary[]) => void;

/**
 * Finds the cuts that concern a selection, latest first (R-F9). Runs no statement for the latest versions.
 * @param transaction the snapshot that the rows are read from: it still has every row that a cut after it removed.
 */
export async function findHistoryCuts(
  transaction: Queryable,
  selection: PointSelection,
): Promise<readonly HistoryCut[]> {
  const condition = conditionOf(selection);
  if (condition === undefined) return [];
  const { rows } = await transaction.query<HistoryCut>(
    `select variable_id as "variableId", (extract(epoch from history_from) * 1000000)::int8 as "historyFromMicros"
     from series where variable_id = any($1::int[]) and ${condition}
     order by history_from desc, variable_id`,
    [selection.variableIds],
  );
  return rows;
}

/** Calls `noteCuts` with the cuts that a snapshot shows, then yields the rows. */
export async function* withHistoryCuts<Item>(
  transaction: Transaction,
  selection: PointSelection,
  rows: AsyncIterable<Item>,
  noteCuts: NoteCuts | undefined,
): AsyncGenerator<Item> {
  if (noteCuts) {
    const cuts = await findHistoryCuts(transaction, selection);
    noteCuts(cuts, await findRolledUp(transaction, selection));
  }
  yield* rows;
}

/** @returns SQL that is true for the cuts after the earliest state read; undefined when only the latest is read. */
function conditionOf(selection: PointSelection): string | undefined {
  const { fromMicros, version } = selection;
  const { asOfMicros, horizon, versionTags, tags, isEvery } = version;
  if (isEvery || versionTags || tags) return 'history_from is not null';
  if (horizon === undefined && asOfMicros === undefined) return undefined;
  const states = [
    ...(asOfMicros === undefined ? [] : [`history_from > ${instantLiteral(asOfMicros)}`]),
    ...(horizon === undefined ? [] : [afterHorizon(selection, fromMicros)]),
  ];
  return `(${states.join(' or ')})`;
}

/**
 * A read with a horizon reads its earliest state at the first date of the period. A period without a start has no first
 * date, so every cut counts.
 */
function afterHorizon(selection: PointSelection, fromMicros: Micros | undefined): string {
  if (fromMicros === undefined) return 'history_from is not null';
  return `history_from > (select ${horizonBefore(selection)} from (select ${instantLiteral(fromMicros)} as date) asked)`;
}
