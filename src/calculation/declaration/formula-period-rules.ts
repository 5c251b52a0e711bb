/**
 * Decides which formula computes which dates (R-H1). A formula is valid from `validFrom` (inclusive) to `validUntil`
 * (exclusive). Where several formulas are valid, the formula with the latest `validFrom` computes the dates, so a new
 * formula supersedes an earlier formula that has no `validUntil`.
 */
import type { Micros } from '../../points/point.ts';

export interface Validity {
  readonly fromMicros: Micros | undefined;
  /** Exclusive. */
  readonly untilMicros: Micros | undefined;
}

/** A range of dates that one formula computes. */
export interface FormulaPeriod {
  /** Index of the formula in the declaration. */
  readonly formula: number;
  readonly fromMicros: Micros;
  /** Exclusive. */
  readonly untilMicros: Micros;
}

/** A range of dates; both ends are inclusive. */
export interface DateRange {
  readonly fromMicros: Micros;
  readonly toMicros: Micros;
}

/**
 * @returns disjoint periods, ascending. Adjacent periods of the same formula are merged. A period without a beginning
 * has `fromMicros` -Infinity; a period without an end has `untilMicros` Infinity (R-H1).
 */
export function planPeriods(validities: readonly Validity[]): readonly FormulaPeriod[] {
  const begins = validities.map(({ fromMicros }) => fromMicros ?? Number.NEGATIVE_INFINITY);
  const ends = validities.map(({ untilMicros }) => untilMicros ?? Number.POSITIVE_INFINITY);
  const edges = [...new Set([...begins, ...ends])].sort((a, b) => a - b);
  const periods: FormulaPeriod[] = [];
  for (const [index, fromMicros] of edges.slice(0, -1).entries()) {
    const untilMicros = edges[index + 1] ?? Number.POSITIVE_INFINITY;
    const formula = findValid(begins, ends, fromMicros);
    const last = periods.at(-1);
    if (formula === undefined) continue;
    if (last?.formula === formula && last.untilMicros === fromMicros) periods.splice(-1, 1, { ...last, untilMicros });
    else periods.push({ formula, fromMicros, untilMicros });
  }
  return periods;
}

function findValid(begins: readonly Micros[], ends: readonly Micros[], at: Micros): number | undefined {
  let found: number | undefined;
  for (const [formula, begin] of begins.entries()) {
    if (begin > at || (ends[formula] ?? 0) <= at) continue;
    if (found === undefined || begin > (begins[found] ?? 0)) found = formula;
  }
  return found;
}

/**
 * @returns the part of a range that lies in a period. If the whole range lies outside the period, returns a range of
 *   one date: the period's date nearest to the range (R-H1).
 */
export function clampInto({ fromMicros, untilMicros }: FormulaPeriod, range: DateRange): DateRange {
  return { fromMicros: clamp(range.fromMicros), toMicros: clamp(range.toMicros) };

  function clamp(micros: Micros): Micros {
    return Math.min(Math.max(micros, fromMicros), untilMicros - 1);
  }
}

/** @returns whether any date of the range is in the period (R-H1). */
export function touches({ fromMicros, untilMicros }: FormulaPeriod, range: DateRange): boolean {
  return range.fromMicros < untilMicros && range.toMicros >= fromMicros;
}
