/** Converts point values and aggregates to another unit (R-C8). */
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import { DomainError } from '../../platform/errors.ts';
import type { AggregateFunction } from '../buckets/bucket.ts';
import type { LinearScale } from '../point.ts';

/** Values of a variable that are converted in place. */
export interface ScaledValues {
  readonly variableId: number;
  /** Dates of the points, or starts of the buckets, in microseconds since 1970. The array is as long as `values`. */
  readonly dates: Float64Array;
  readonly values: Float64Array;
}

/**
 * Converts values in place: `value * factor / divisor + shift` (R-C8). NaN (no value) is not changed.
 * @throws {DomainError} invalid_input when a result exceeds the range of a double.
 */
export function scaleValues(scaled: ScaledValues, scale: LinearScale): void {
  convert(scaled, (value) => stretch(value, scale) + scale.shift);
}

/**
 * Returns the aggregate function that the database must apply to the stored values. `scaleAggregates` then scales its
 * result. A negative factor or divisor swaps min and max (R-C8).
 */
export function unscaledFunction(aggregate: AggregateFunction, scale: LinearScale | undefined): AggregateFunction {
  if (scale === undefined || scale.factor / scale.divisor >= 0) return aggregate;
  return aggregate === 'min' ? 'max' : aggregate === 'max' ? 'min' : aggregate;
}

/**
 * Converts aggregates of stored values to aggregates of converted values, in place (R-C8).
 * @param points number of points in each bucket; the array has the same length as `scaled.values`.
 * @throws {DomainError} invalid_input when a result exceeds the range of a double.
 */
export function scaleAggregates(
  scaled: ScaledValues,
  points: Float64Array,
  aggregate: AggregateFunction,
  scale: LinearScale,
): void {
  const toScaled = conversionOf(aggregate, scale);
  convert(scaled, (value, index) => toScaled(value, points[index] ?? 0));
}

/**
 * Returns the function that converts the value of an aggregate to another unit. A sum contains the unit's offset once
 * per point.
 */
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

function convert(
  { variableId, dates, values }: ScaledValues,
  toScaled: (value: number, index: number) => number,
): void {
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? Number.NaN;
    const scaled = toScaled(value, index);
    if (!Number.isFinite(scaled) && !Number.isNaN(value)) {
      const place = `variable ${variableId} at ${formatInstant(dates[index] ?? 0)}`;
      const rule = 'exceeds the range of a double (about 1.8e308) in the requested unit; request another unit';
      throw new DomainError('invalid_input', `${place}: ${value} ${rule}`);
    }
    values[index] = scaled;
  }
}
