/** Conversion between units of one family (R-C8): `base = (value - offset) / divisor`. */
import type { LinearScale } from '../../points/point.ts';

export interface UnitConversion {
  /** How many of it make one base unit. */
  readonly divisor: number;
  /** What it shows where the base unit shows zero. */
  readonly offset: number;
}

/** @returns how a value of `from` becomes one of `to`; both are of one family. */
export function scaleBetween(from: UnitConversion, to: UnitConversion): LinearScale {
  const ratio = tidy(to.divisor / from.divisor);
  const isGrowing = Math.abs(ratio) >= 1;
  const factor = isGrowing ? ratio : 1;
  const divisor = isGrowing ? 1 : tidy(from.divisor / to.divisor);
  return { factor, divisor, shift: tidy(to.offset - (from.offset * factor) / divisor) };
}

/** The number with 15 digits where that is as good a reading of the quotient: 0.001, not 0.0010000000000000002. */
function tidy(value: number): number {
  const short = Number(value.toPrecision(15));
  return Math.abs(short - value) <= Math.abs(value) * Number.EPSILON ? short : value;
}
