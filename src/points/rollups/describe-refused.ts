/** Describes the points that a write refused because their dates are rolled up. */
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import { eachTuple, TUPLE_BYTES } from '../copy-codec.ts';

/** Maps the index of a batch to the byte offsets of its refused tuples, in ascending order. */
export type RefusedTuples = ReadonlyMap<number, readonly number[]>;

/**
 * @param tuples a batch.
 * @param offsets byte offsets of the refused tuples in the batch.
 * @returns one message per variable, with the number, the first date and the last date of its refused points.
 */
export function describeRefused(tuples: Buffer, offsets: readonly number[]): readonly string[] {
  const byVariable = new Map<number, { count: number; from: number; to: number }>();
  for (const offset of offsets) {
    eachTuple(tuples.subarray(offset, offset + TUPLE_BYTES), (variableId, dateMicros) => {
      const { count, from, to } = byVariable.get(variableId) ?? { count: 0, from: dateMicros, to: dateMicros };
      const range = { count: count + 1, from: Math.min(from, dateMicros), to: Math.max(to, dateMicros) };
      byVariable.set(variableId, range);
    });
  }
  return Array.from(byVariable, ([variableId, { count, from, to }]) => {
    const dates = from === to ? formatInstant(from) : `${formatInstant(from)} to ${formatInstant(to)}`;
    return `readings of variable ${variableId} were not stored (number of readings: ${count}, dates: ${dates}), because retention has already rolled up these dates`;
  });
}
