/** Conversion of units (R-C8) on columns of values: of points, and of what was made of points. */
import { DomainError } from '../../platform/errors.ts';
import type { AggregateFunction } from '../buckets/bucket.ts';
import type { LinearScale } from '../point.ts';

/**
 * `value * factor / divisor + shift` in place; NaN, no value, stays.
 * @throws DomainError invalid_input when a result is beyond what a number can hold.
 */
export function scaleValues(values: Float64Array, scale: LinearScale, variableId: number): void {
  convert(values, variableId, (value) => stretch(value, scale) + scale.shift);
}

/** What the database has to work out: below a negative factor the greatest value is the least. */
export function unscaledFunction(aggregate: AggregateFunction, scale: LinearScale | undefined): AggregateFunction {
  if (scale === undefined || scale.factor / scale.divisor >= 0) return aggregate;
  return aggregate === 'min' ? 'max' : aggregate === 'max' ? 'min' : aggregate;
}

/**
 * Aggregates of values as aggregates of the converted values, in place.
 * @param points how many there are in each bucket.
 */
export function scaleAggregates(
  values: Float64Array,
  points: Float64Array,
  aggregate: AggregateFunction,
  scale: LinearScale,
  variableId: number,
): void {
  const toScaled = conversionOf(aggregate, scale);
  convert(values, variableId, (value, index) => toScaled(value, points[index] ?? 0));
}

/** A shift counts once for every point of a sum, and not at all for how far points are apart. */
function conversionOf(aggregate: AggregateFunction, scale: LinearScale): (value: number, points: number) => number {
  switch (aggregate) {
    case 'count':
      return (value) => value;
    case 'sum':
      return (value, points) => stretch(value, scale) + scale.shift * points;
    case 'variance':
      return (value) => stretch(stretch(value, scale), scale);
    case 'stdev':
      return (value) => Math.abs(stretch(value, scale));
    case 'avg':
    case 'min':
    case 'max':
      return (value) => stretch(value, scale) + scale.shift;
  }
}

function stretch(value: number, { factor, divisor }: LinearScale): number {
  return (value * factor) / divisor;
}

function convert(values: Float64Array, variableId: number, toScaled: (value: number, index: number) => number): void {
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? Number.NaN;
    const scaled = toScaled(value, index);
    if (!Number.isFinite(scaled) && !Number.isNaN(value)) {
      const problem = 'in the unit asked for is beyond what a number can hold';
      throw new DomainError('invalid_input', `variable ${variableId}: ${value} ${problem}`);
    }
    values[index] = scaled;
  }
}
