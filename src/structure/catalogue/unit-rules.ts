/** Conversion between units of one family (R-C8): the value in the base unit is `(value - offset) / divisor`. */
import type { LinearScale } from '../../points/point.ts';

export interface UnitConversion {
  /** How many of this unit make one base unit: 0.001 for MWh when the base unit is kWh. */
  readonly divisor: number;
  /** Value in this unit that equals 0 in the base unit. */
  readonly offset: number;
}

/**
 * Returns the conversion of values from the unit `from` to the unit `to`. Both units must be in the same family (R-C8).
 */
export function scaleBetween(from: UnitConversion, to: UnitConversion): LinearScale {
  const ratio = tidy(to.divisor / from.divisor);
  const isGrowing = Math.abs(ratio) >= 1;
  const factor = isGrowing ? ratio : 1;
  const divisor = isGrowing ? 1 : tidy(from.divisor / to.divisor);
  return { factor, divisor, shift: tidy(to.offset - (from.offset * factor) / divisor) };
}

/** Rounds to 15 digits if this changes the value by at most one rounding error: 0.0010000000000000002 gives 0.001. */
function tidy(value: number): number {
  const short = Number(value.toPrecision(15));
  return Math.abs(short - value) <= Math.abs(value) * Number.EPSILON ? short : value;
}
