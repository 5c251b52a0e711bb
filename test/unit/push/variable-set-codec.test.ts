import { describe, expect, it } from 'vitest';
import { variableSet } from '../../../src/points/variable-set-codec.ts';

describe('push: variable ids as an int4multirange', () => {
  it.each([
    [[], '{}'],
    [[7], '{[7,7]}'],
    [[3, 1, 2, 2], '{[1,3]}'],
    [[9, 4, 5, 1], '{[1,1],[4,5],[9,9]}'],
    [[2147483646, 2147483644], '{[2147483644,2147483644],[2147483646,2147483646]}'],
  ])('%j is written as %s (R-D6)', (ids, literal) => {
    expect(variableSet(ids)).toBe(literal);
  });
});
