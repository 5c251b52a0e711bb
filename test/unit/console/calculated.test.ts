/**
 * Tests pure functions that the console uses for calculated variables: waves, completion, declarations, and the lines
 * at which problems are shown.
 */
import { CompletionContext } from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import { describe, expect, test } from 'vitest';
import { findPartialPeriods } from '../../../src/calculation/authoring/find-partial-periods.ts';
import { DECLARATION_SCHEMA } from '../../../src/calculation/declaration/declaration.ts';
import { freeAlias, isSame, parseScalar, toDeclaration, toTexts } from '../../../src/console/calculated/declaration.ts';
import { placeWave } from '../../../src/console/calculated/runs/wave-rules.ts';
import { completeScript } from '../../../src/console/calculated/script/completions.ts';
import { queryOf } from '../../../src/console/calculated/script/preview/input-query.ts';
import { linesOf, othersOf } from '../../../src/console/calculated/script/problem-lines.ts';

const FIRST = '$.calculated.calculatedVariableFormulas[0]';
const [FORMULA] = DECLARATION_SCHEMA.parse({
  calculatedVariableFormulas: [{ formula: '1', variables: [{ alias: 'main', variableId: 1 }] }],
}).calculatedVariableFormulas;

describe('console wave: the chart of the runs that one change triggered (R-H8)', () => {
  const node = (variableId: number) => ({
    ...{ variableId, name: `v${variableId}`, sourceName: 's', state: 'Succeeded' as const, runId: variableId },
    ...{ outcome: 'ok', trigger: 'Input' as const, startedDate: null, finishedDate: null },
  });
  const place = (ids: readonly number[], edges: readonly (readonly [number, number])[]) =>
    placeWave({
      wave: 1,
      nodes: ids.map(node),
      edges: edges.map(([from, to]) => ({ from, to })),
      isCut: false,
    });
  const columnsOf = (placed: ReturnType<typeof placeWave>) =>
    Object.fromEntries(placed.nodes.map((each) => [each.node.variableId, each.column]));

  test('a variable is drawn to the right of all its causes', () => {
    const placed = place(
      [1, 2, 3, 4],
      [
        [1, 2],
        [2, 3],
        [1, 4],
        [3, 4],
      ],
    );
    expect(columnsOf(placed)).toEqual({ 1: 0, 2: 1, 3: 2, 4: 3 });
    expect(placed).toMatchObject({ columns: 4, rows: 1 });
  });

  test('variables in the same column are drawn in different rows', () => {
    const placed = place([1, 2, 3], []);
    expect(placed).toMatchObject({ columns: 1, rows: 3 });
    expect(new Set(placed.nodes.map(({ row }) => row))).toEqual(new Set([0, 1, 2]));
    const loop = [
      [1, 2],
      [2, 1],
    ] as const;
    expect(Object.keys(columnsOf(place([1, 2], loop)))).toHaveLength(2);
  });
});

describe('console script: problems by line (R-H9)', () => {
  const validation = {
    isValid: false,
    problems: [
      { path: `${FIRST}.formula`, message: 'unexpected symbol', line: 2 },
      { path: `${FIRST}.variables[0].alias`, message: 'must be an R name' },
    ],
    warnings: [
      { path: FIRST, message: 'inputVariables$gas is not declared; this formula declares main' },
      ...(FORMULA ? findPartialPeriods(FORMULA, [], [{ period: 'Day', line: 2 }], FIRST) : []),
    ],
  };

  test('an error and a warning about a line are marked on that line, and an undeclared name on every line that contains it', () => {
    const script = 'a <- inputVariables$gas\nb c\ninputVariables$gas';
    expect(linesOf(validation, 0, script)).toMatchObject([
      { line: 2, severity: 'error' },
      { line: 1, severity: 'warning' },
      { line: 3, severity: 'warning' },
      { line: 2, severity: 'warning', message: expect.stringContaining('groups by day') },
    ]);
    expect(linesOf(validation, 1, script)).toEqual([]);
  });

  test('a separate list shows warnings, problems without a line, and problems of formulas that are not displayed', () => {
    const pathsOf = (formula: number) => othersOf(validation, formula).map(({ path }) => path);
    expect(pathsOf(0)).toEqual(['formulas[0].variables[0].alias', 'formulas[0]', 'formulas[0].variables[0].alignTo']);
    expect(pathsOf(1)).toEqual(['formulas[0].formula', ...pathsOf(0)]);
  });
});

describe('console script: chart of the inputs', () => {
  const read = { formula: 0, alias: 'a', variableId: 1, points: 0, lastVersionTimestamp: null };
  const [from, to] = ['2026-03-01T10:00:00Z', '2026-03-01T20:00:00Z'];

  test('an input that has only one end is read from that end, with a margin of ten steps (R-G2)', () => {
    expect(queryOf({ ...read, from, to: null }, 900)).toMatchObject({
      variableIds: 1,
      from: '2026-03-01T07:30:00.000Z',
    });
    expect(queryOf({ ...read, from: null, to }, 900)).toMatchObject({ to: '2026-03-01T22:30:00.000Z' });
  });

  test('the chart selects the versions that the run selected: as-of date, horizon and tags (R-G2)', () => {
    const chosen = { asOf: to, horizon: 'PT24H', tags: ['a:1', 'b:2'] };
    expect(queryOf({ ...read, from, to, ...chosen }, 900)).toMatchObject(chosen);
  });
});

describe('console script: completion (R-H2, R-H4)', () => {
  const complete = completeScript(() => ({ inputs: ['gas'], forms: ['factor'], constants: ['scale'] }));
  const suggest = (text: string) =>
    complete(new CompletionContext(EditorState.create({ doc: text }), text.length, true))?.options.map(
      ({ label }) => label,
    ) ?? [];

  test.each([
    ['x <- inputVariables$', 'gas'],
    ['inputForms$f', 'factor'],
    ['inputConstants$', 'scale'],
    ['inputVariables$gas$', 'TimeSeries'],
    ['inputVariables$gas$TimeSeries$', 'Dates'],
    ['targetVariable$', 'ChangedFrom'],
    ['SetD', 'SetDataOnCommonAxis'],
    ['inp', 'inputVariables$gas$TimeSeries'],
  ])('after %s, %s is suggested', (text, label) => {
    expect(suggest(text)).toContain(label);
  });

  test('typing letters filters the suggested names; typing $ requests new suggestions', () => {
    const text = 'inputVariables';
    const names = complete(new CompletionContext(EditorState.create({ doc: text }), text.length, true));
    const isValid = (typed: string) => names?.validFor instanceof RegExp && names.validFor.test(typed);
    expect(['inputVar', 'inputVariables', 'inputVariables$'].map(isValid)).toEqual([true, true, false]);
  });
});

describe('console script: declarations (R-H1)', () => {
  test('when declarations are compared, a null member counts as absent, and the `siteId` of an input is ignored', () => {
    const [a, b] = [
      {
        friendlyName: null,
        calculatedVariableFormulas: [{ formula: 'x', variables: [{ alias: 'a', variableId: 1, siteId: 2 }] }],
      },
      { calculatedVariableFormulas: [{ formula: 'x', validFrom: null, variables: [{ variableId: 1, alias: 'a' }] }] },
    ].map(toDeclaration);
    expect(a && b && isSame(a, b)).toBe(true);
    expect(a && isSame(a, { ...a, friendlyName: 'other' })).toBe(false);
    expect(toTexts(toDeclaration(null)).script).toBe('');
  });

  test('a generated alias is an R name that no other input has', () => {
    expect(freeAlias('Énergie, kWh', [])).toBe('energie_kwh');
    expect(freeAlias('1 %', ['input'])).toBe('input_2');
  });

  test.each([
    ['1.5', 1.5],
    ['TRUE', true],
    ['', ''],
    ['one', 'one'],
  ])('the text %j of a constant is read as %j', (text, value) => {
    expect(parseScalar(text)).toBe(value);
  });
});
