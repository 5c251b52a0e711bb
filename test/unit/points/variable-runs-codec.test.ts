import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeTuples } from '../../../src/points/copy-codec.ts';
import { encodeRuns, encodeVariables, positionsOf } from '../../../src/points/origins/variable-runs-codec.ts';

const id = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 2 ** 31 - 1 }));
const tuplesOf = (ids: readonly number[]) =>
  encodeTuples(ids.map((variableId) => ({ variableId, dateMicros: 0, value: 1, versionTagId: 0, tagSetId: 0 })));

describe('points: run-length encoding of variable ids', () => {
  it("positionsOf returns the positions of a variable's readings, counted across all batches of a write", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(id, { maxLength: 30 }), { maxLength: 4 }),
        fc.func(fc.boolean()),
        (batches, isIncluded) => {
          const runs = encodeRuns(batches.map(tuplesOf), isIncluded);
          const all = batches.flat();
          for (const variableId of new Set(all)) {
            const found = positionsOf(runs, variableId).flatMap(({ start, end }) =>
              Array.from({ length: end - start }, (_, index) => start + index),
            );
            const expected = all.flatMap((one, index) => (one === variableId && isIncluded(one) ? [index] : []));
            expect(found).toEqual(expected);
          }
          expect(positionsOf(runs, 2 ** 31 - 2)).toEqual(
            all.includes(2 ** 31 - 2) && isIncluded(2 ** 31 - 2) ? expect.anything() : [],
          );
        },
      ),
    );
  });

  it('encodeVariables encodes the given variables and no others', () => {
    fc.assert(
      fc.property(fc.array(id), id, (ids, other) => {
        const runs = encodeVariables(ids);
        expect(positionsOf(runs, other).length > 0).toBe(ids.includes(other));
      }),
    );
  });

  it('takes less than four bytes per reading when each of 1,000 readings belongs to a different variable', () => {
    const ids = Array.from({ length: 1000 }, (_, index) => 1000 + ((index * 7919) % 5000));
    expect(encodeRuns([tuplesOf(ids)], () => true).length).toBeLessThan(4 * 1000);
  });
});
