/** How `alignTo` widens windows to whole civil periods; the warning about windows with partial periods (R-H6, R-H9). */
import { expect, test } from 'vitest';
import { findPartialPeriods } from '../../../src/calculation/authoring/find-partial-periods.ts';
import { DECLARATION_SCHEMA, type FormulaDeclaration } from '../../../src/calculation/declaration/declaration.ts';
import { findWindow } from '../../../src/calculation/inputs/windows.ts';
import { formatInstant } from '../../../src/platform/dates/instant-rules.ts';

const ZONE = 'Europe/Brussels';
const micros = (text: string) => Date.parse(text) * 1000;

function formulaOf(input: object): FormulaDeclaration {
  const variables = [{ alias: 'a', variableId: 1, ...input }];
  const declaration = DECLARATION_SCHEMA.parse({ calculatedVariableFormulas: [{ formula: '1', variables }] });
  const [formula] = declaration.calculatedVariableFormulas;
  if (!formula) throw new Error('no formula');
  return formula;
}

const show = (value: number | undefined) => (value === undefined ? null : formatInstant(value));

async function windowOf(input: object, changed: string, first?: string) {
  const [declared] = formulaOf(input).variables;
  if (!declared) throw new Error('no input');
  const at = micros(changed);
  const range = { fromMicros: at, toMicros: at };
  const window = await findWindow(declared, range, ZONE, undefined, async () => (first ? micros(first) : undefined));
  const { whole } = window;
  return [show(window.fromMicros), show(window.toMicros), whole && [show(whole.fromMicros), show(whole.toMicros)]];
}

test.each([
  ['Day', '2026-03-29T10:00:00Z', '2026-03-27T23:00:00Z', '2026-03-30T21:59:59.999999Z'],
  ['Week', '2026-03-29T10:00:00Z', '2026-03-22T23:00:00Z', '2026-04-05T21:59:59.999999Z'],
  ['Month', '2026-03-29T10:00:00Z', '2026-02-28T23:00:00Z', '2026-03-31T21:59:59.999999Z'],
  ['Year', '2026-01-01T10:00:00Z', '2024-12-31T23:00:00Z', '2026-12-31T22:59:59.999999Z'],
])(
  'windows: when a relative window of one day is aligned to %s, the window is widened to whole periods in local time (R-H6)',
  async (alignTo, at, from, to) => {
    const input = { periodType: 'RelativeDate', period: 1, periodTimeBase: 'Day', alignTo };
    expect(await windowOf(input, at)).toEqual([from, to, [from, to]]);
  },
);

test('windows: a relative window that reaches beyond the earliest date contains this date (R-H6)', async () => {
  const input = { periodType: 'RelativeDate', period: 500, periodTimeBase: 'Year' };
  expect((await windowOf(input, '1900-01-01T00:00:00Z'))[0]).toBe('1700-01-01T00:00:00Z');
});

test('windows: a LastNPoints window aligned to Day holds whole days, from the day of its first point to the day of the change (R-H6)', async () => {
  const input = { periodType: 'LastNPoints', period: 5, alignTo: 'Day' };
  const [from, to] = ['2026-03-19T23:00:00Z', '2026-03-21T22:59:59.999999Z'];
  expect(await windowOf(input, '2026-03-21T12:00:00Z', '2026-03-20T08:00:00Z')).toEqual([from, to, [from, to]]);
});

test('windows: `alignTo` moves the declared bounds of an absolute window outwards; an open end stays open (R-H6)', async () => {
  const input = { periodType: 'AbsoluteDate', fromAbsolutePeriod: '2026-03-21T12:00:00Z', alignTo: 'Month' };
  expect(await windowOf(input, '2026-06-01T00:00:00Z')).toEqual(['2026-02-28T23:00:00Z', null, undefined]);
});

test('windows: without `alignTo`, a relative window is not widened (R-H6)', async () => {
  const input = { periodType: 'RelativeDate', period: 1, periodTimeBase: 'Day' };
  const window = ['2026-03-20T12:00:00.000001Z', '2026-03-22T12:00:00Z', undefined];
  expect(await windowOf(input, '2026-03-21T12:00:00Z')).toEqual(window);
});

const [WARNED, NOT_WARNED] = ['gets a warning', 'gets no warning'] as const;
test.each([
  [{}, 'Day', WARNED],
  [{ alignTo: 'Day' }, 'Day', NOT_WARNED],
  [{ alignTo: 'Day' }, 'Hour', NOT_WARNED],
  [{ alignTo: 'Month' }, 'Week', WARNED],
  [{ alignTo: 'Year' }, 'Month', NOT_WARNED],
  [{ granularity: 'Day' }, 'Day', NOT_WARNED],
  [{ granularity: 'Day' }, 'Month', WARNED],
  [{ granularity: 'All' }, 'Day', WARNED],
  [{ periodType: 'AbsoluteDate' }, 'Day', NOT_WARNED],
  [{ periodType: 'LastNPoints' }, 'Day', WARNED],
] as const)(
  'validate: when an input is declared as %j and the script groups it by %s, the input %s (R-H9)',
  (input, period, verdict) => {
    const found = findPartialPeriods(formulaOf(input), ['inputVariables$a'], [{ period, line: 3 }], '$');
    expect(found.map(({ path }) => path)).toEqual(verdict === WARNED ? ['$.variables[0].alignTo'] : []);
  },
);

test('validate: the warning about a partial year also mentions quarters, because R reports `Year` for both (R-H9)', () => {
  const [warning] = findPartialPeriods(formulaOf({ alignTo: 'Month' }), [], [{ period: 'Year', line: 1 }], '$');
  expect(warning?.message).toBe(
    'the expression on line 1 groups by quarter or year, but the window of a may begin or end within a quarter or year; ' +
      'a run would then read only some points of that quarter or year; declare "alignTo": "Year"',
  );
});

test('validate: the warning about a partial day names the line, the input and the remedy (R-H9)', () => {
  const buckets = [{ period: 'Day', line: 3 }] as const;
  const [warning] = findPartialPeriods(formulaOf({}), [], buckets, '$');
  expect(warning?.message).toBe(
    'the expression on line 3 groups by day, but the window of a may begin or end within a day; a run would then read only some points of that day; ' +
      'declare "alignTo": "Day"',
  );
  expect(findPartialPeriods(formulaOf({}), ['inputVariables$b'], buckets, '$')).toEqual([]);
});
