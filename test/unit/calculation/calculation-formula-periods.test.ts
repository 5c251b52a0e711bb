/** Validity periods of formulas, and paths of values in forms (R-H1). */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  clampInto,
  planPeriods,
  touches,
  type Validity,
} from '../../../src/calculation/declaration/formula-period-rules.ts';
import { parseFormPath } from '../../../src/calculation/inputs/form-path-rules.ts';

const from = (fromMicros?: number, untilMicros?: number): Validity => ({ fromMicros, untilMicros });
const plan = (...validities: Validity[]) =>
  planPeriods(validities).map(({ formula, fromMicros, untilMicros }) => [formula, fromMicros, untilMicros]);

test('formula periods: a formula without bounds applies to all dates; without formulas there is no period (R-H1)', () => {
  expect(plan(from())).toEqual([[0, -Infinity, Infinity]]);
  expect(plan()).toEqual([]);
});

test('formula periods: where the periods of formulas overlap, the formula with the latest validFrom applies until its validUntil (R-H1)', () => {
  expect(plan(from(), from(10), from(20, 30))).toEqual([
    [0, -Infinity, 10],
    [1, 10, 20],
    [2, 20, 30],
    [1, 30, Infinity],
  ]);
});

test('formula periods: a gap between the validities of two formulas belongs to no period (R-H1)', () => {
  expect(plan(from(0, 10), from(20, 30))).toEqual([
    [0, 0, 10],
    [1, 20, 30],
  ]);
});

test('formula periods: each date gets the same formula from the plan of periods as from a search through all formulas (R-H1)', () => {
  const bound = fc.option(fc.nat(20), { nil: undefined });
  const begins = fc.uniqueArray(bound, { maxLength: 6 });
  fc.assert(
    fc.property(begins, fc.array(bound, { maxLength: 6 }), fc.nat(20), (begin, end, date) => {
      const validities = begin.map((fromMicros, index) => from(fromMicros, end[index]));
      const valid = validities
        .map((validity, formula) => ({ formula, begin: validity.fromMicros ?? -Infinity, until: validity.untilMicros }))
        .filter((it) => it.begin <= date && date < (it.until ?? Infinity))
        .sort((a, b) => b.begin - a.begin);
      const period = planPeriods(validities).find((it) => touches(it, { fromMicros: date, toMicros: date }));
      expect(period?.formula).toBe(valid[0]?.formula);
    }),
  );
});

test('formula periods: a range of dates is cut to the period; a range outside the period becomes the nearest date of the period (R-H1)', () => {
  const period = { formula: 0, fromMicros: 10, untilMicros: 20 };
  expect(clampInto(period, { fromMicros: 0, toMicros: 5 })).toEqual({ fromMicros: 10, toMicros: 10 });
  expect(clampInto(period, { fromMicros: 5, toMicros: 15 })).toEqual({ fromMicros: 10, toMicros: 15 });
  expect(clampInto(period, { fromMicros: 25, toMicros: 30 })).toEqual({ fromMicros: 19, toMicros: 19 });
});

test.each([
  ['Form.Group.Field', ['Form', 'Group', 'Field']],
  ["Form.'Floor area (m²)'.'it''s'", ['Form', 'Floor area (m²)', "it's"]],
  ['clientData.Form', ['Form']],
  ['clientData', ['clientData']],
])('form paths: the path %s is parsed to the keys %j (R-H1)', (path, keys) => {
  expect(parseFormPath(path)).toEqual(keys);
});

test.each(['', '.', 'a.', '.a', "'open", 'a..b', "''", 'a(b)', '"a', 'a."b'])(
  'form paths: "%s" is refused (R-H1)',
  (path) => {
    expect(parseFormPath(path)).toBeUndefined();
  },
);
