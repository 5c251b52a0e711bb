/**
 * Finds the history cuts that concern a selection (R-F9). States of a variable before its history cut may lack
 * versions, because versions were deleted.
 */
import type { OpenedRows, Queryable } from '../../platform/database/database.ts';
import type { Micros, PointSelection } from '../point.ts';
import { type RawBoundary, selectRolledUp } from '../rollups/find-rolled-up.ts';
import { needsLabels } from './find-chosen-labels.ts';
import { STREAM_FROM_INDEXES } from './select-of-variables.ts';
import { horizonBefore } from './select-versions.ts';
import { instantLiteral, integerArrayLiteral } from './sql-literal.ts';

/** A variable, and the instant from which the states of the variable are complete. Earlier states may be incomplete. */
export interface HistoryCut {
  readonly variableId: number;
  readonly historyFromMicros: Micros;
}

/**
 * Called before the first row of a read, with the history cuts and the rollups that concern the read. Both lists may be
 * empty.
 */
export type NoteCuts = (cuts: readonly HistoryCut[], rolledUp: readonly RawBoundary[]) => void;

/**
 * Finds the history cuts that concern a selection, latest cut first (R-F9).
 * @param transaction the transaction that also reads the rows: its snapshot makes the cuts match the rows.
 */
export async function findHistoryCuts(
  transaction: Queryable,
  selection: PointSelection,
): Promise<readonly HistoryCut[]> {
  const statement = selectHistoryCuts(selection);
  return statement === undefined ? [] : (await transaction.query<HistoryCut>(statement)).rows;
}

/** The arguments of `NoteCuts`: the history cuts and rollups that concern a read. */
export type Notice = Parameters<NoteCuts>;

/**
 * Returns the first statements of a read; `toNotice` takes their results. If the read needs labels, the planner is
 * restricted only after the tag sets are found, because finding them needs a bitmap scan.
 */
export function openingOf(selection: PointSelection): readonly string[] {
  const cuts = selectHistoryCuts(selection);
  const planner = needsLabels(selection) ? [] : STREAM_FROM_INDEXES;
  return [selectRolledUp(selection), ...(cuts === undefined ? [] : [cuts]), ...planner];
}

/**
 * Takes the results of the statements of `openingOf`. The second result is the history cuts, or empty when the read
 * needs none.
 */
export function toNotice(opened: OpenedRows): Notice {
  const [rolledUp, cuts] = opened as readonly [readonly RawBoundary[], readonly HistoryCut[]];
  return [cuts, rolledUp];
}

/** Returns the statement of `findHistoryCuts`; undefined when only the latest versions are read. */
function selectHistoryCuts(selection: PointSelection): string | undefined {
  const condition = conditionOf(selection);
  if (condition === undefined) return undefined;
  return `
  select variable_id as "variableId", (extract(epoch from history_from) * 1000000)::int8 as "historyFromMicros"
  from series where variable_id = any(${integerArrayLiteral(selection.variableIds)}) and ${condition}
  order by history_from desc, variable_id`;
}

/**
 * @returns SQL that is true for the cuts that concern the selection; undefined when the selection reads only the latest
 * versions, because no cut concerns these.
 */
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
 * Returns an SQL condition for a read with a horizon. For each date, such a read uses the state at the instant "date
 * minus horizon". The condition is true for a variable whose history cut is later than the earliest of these instants.
 * If the period has no start, the condition is true for every variable that has a history cut.
 */
function afterHorizon(selection: PointSelection, fromMicros: Micros | undefined): string {
  if (fromMicros === undefined) return 'history_from is not null';
  const { toMicros } = selection;
  const within = toMicros === undefined ? '' : `where date <= ${instantLiteral(toMicros)}`;
  return `history_from > (select min(${horizonBefore(selection)}) from (${firstDates(instantLiteral(fromMicros))}) asked
    ${within})`;
}

/**
 * The dates of a period for which "date minus horizon" can be the earliest instant. This need not be the first date: on
 * 28 and 29 March, a month before is 28 February. The instant can step back at midnight and after a change of the clock,
 * which are at quarter hours of UTC.
 */
const firstDates = (from: string) => `
    select ${from} as date
    union all select generate_series(date_bin('15 minutes', ${from}, 'epoch') + interval '15 minutes',
      ${from} + interval '1 day', interval '15 minutes')`;
