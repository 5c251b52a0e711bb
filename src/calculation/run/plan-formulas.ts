/** After a change, finds which formulas of a declaration must run, and for which dates (R-H1, R-H6). */
import type { Micros } from '../../points/point.ts';
import { type Declaration, type FormulaDeclaration, hasScript, instantMicros } from '../declaration/declaration.ts';
import {
  clampInto,
  type DateRange,
  type FormulaPeriod,
  planPeriods,
  touches,
} from '../declaration/formula-period-rules.ts';
import type { KnownVariable } from '../inputs/variable-infos.ts';
import { reachOf } from '../inputs/windows.ts';

export interface PlannedFormula {
  /** Index of the formula in the declaration. */
  readonly index: number;
  readonly formula: FormulaDeclaration;
  /** A range of dates that the formula computes: only points in it are stored. */
  readonly period: FormulaPeriod;
  /** The range of the changed dates, with both ends clamped to the period. */
  readonly changed: DateRange;
  readonly triggerMicros: Micros;
}

/**
 * Plans the runs of the formulas that have a script (R-H1, R-H6). A formula runs in either of two cases:
 * - A changed date lies in the period of the formula.
 * - No changed date lies in the period, but the range that `reachOf` returns for an input and the changed dates
 *   contains a date of the period. The formula then runs for a single date of the period, the one nearest to the
 *   changed dates. If the input is not of type RelativeDate, only `alignTo` widens the range of `reachOf`.
 */
export function planFormulas(
  declaration: Declaration,
  changed: DateRange,
  triggerMicros: Micros,
  variables: ReadonlyMap<number, KnownVariable>,
): readonly PlannedFormula[] {
  const formulas = declaration.calculatedVariableFormulas;
  const validities = formulas.map(({ validFrom, validUntil }) => {
    return { fromMicros: instantMicros(validFrom), untilMicros: instantMicros(validUntil) };
  });
  return planPeriods(validities).flatMap((period): PlannedFormula[] => {
    const formula = formulas[period.formula];
    if (!formula || !hasScript(formula) || !touches(period, farthestReach(formula, changed, variables))) return [];
    const trigger = clampInto(period, { fromMicros: triggerMicros, toMicros: triggerMicros }).toMicros;
    return [{ index: period.formula, formula, period, changed: clampInto(period, changed), triggerMicros: trigger }];
  });
}

function farthestReach(
  { variables: inputs }: FormulaDeclaration,
  changed: DateRange,
  variables: ReadonlyMap<number, KnownVariable>,
): DateRange {
  const reaches = inputs.map((input) => reachOf(input, changed, variables.get(input.variableId)?.timeZoneId ?? 'UTC'));
  return {
    fromMicros: Math.min(changed.fromMicros, ...reaches.map(({ fromMicros }) => fromMicros)),
    toMicros: Math.max(changed.toMicros, ...reaches.map(({ toMicros }) => toMicros)),
  };
}
