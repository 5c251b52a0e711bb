/**
 * Tests how values are checked against the definition of a form. Also tests which definitions are refused and which are
 * accepted.
 */
import { describe, expect, test } from 'vitest';
import { parseInput } from '../../../src/platform/http/lenient.ts';
import { findNewProblems } from '../../../src/structure/forms/check-values.ts';
import { FORM_LIMITS, NEW_FORM } from '../../../src/structure/forms/form-definition.ts';

type Field = Readonly<Record<string, unknown>>;

const define = (fields: readonly Field[], name = 'Boiler') =>
  parseInput(NEW_FORM, { name, entityType: 'Source', groups: [{ name: 'Main', fields }] });
const problemsOf = (fields: readonly Field[], main: unknown, former?: unknown) =>
  findNewProblems(
    [define(fields)],
    { Boiler: { Main: main } },
    former === undefined ? undefined : { Boiler: { Main: former } },
    '$.clientData',
  );

const FUEL = { name: 'Fuel', type: 'Int', isList: true, items: [{ name: 'Gas', value: 1 }, { value: 2 }] };

describe('forms: values', () => {
  test.each([
    ['String', 'x', 1, 'must be a string, got 1'],
    ['Int', 3, 3.5, 'must be an integer, got 3.5'],
    ['Double', 3.5, '3.5', 'must be a number, got "3.5"'],
    ['Boolean', false, 'false', 'must be true or false, got "false"'],
    ['Date', '2026-03-01', '01/03/2026', 'must be an ISO 8601 date such as 2026-03-01'],
    ['Date', '2026-03-01T10:00:00.1234567Z', '1767225600000', 'must be an ISO 8601 date'],
  ])('the value of a field of type %s may be %o or null, but not %o (R-C11)', (type, good, bad, message) => {
    const fields = [{ name: 'Value', type }];
    expect(problemsOf(fields, { Value: good })).toEqual([]);
    expect(problemsOf(fields, { Value: null })).toEqual([]);
    expect(problemsOf(fields, { Value: bad })).toEqual([
      { path: '$.clientData.Boiler.Main.Value', message: expect.stringContaining(message) },
    ]);
  });

  test('the value of a list field must be one of the items of the field; the message names the items', () => {
    expect(problemsOf([FUEL], { Fuel: 2 })).toEqual([]);
    expect(problemsOf([FUEL], { Fuel: 3 })).toMatchObject([{ message: 'must be one of 1 (Gas), 2, got 3' }]);
  });

  test('a value must be within the range of its field, both ends inclusive', () => {
    const fields = [{ name: 'Power', type: 'Double', minimum: 0, maximum: 10 }];
    for (const Power of [0, 10]) expect(problemsOf(fields, { Power })).toEqual([]);
    expect(problemsOf(fields, { Power: -1 })).toMatchObject([{ message: 'must be at least 0, got -1' }]);
    expect(problemsOf(fields, { Power: 10.5 })).toMatchObject([{ message: 'must be at most 10, got 10.5' }]);
  });

  test('when clientData contains the form, a required field must have a value; otherwise, no value is required', () => {
    const form = define([{ name: 'Serial', type: 'String', isRequired: true }]);
    const problems = (clientData: unknown) => findNewProblems([form], clientData, undefined, '$');
    expect(problems({})).toEqual([]);
    expect(problems({ Boiler: null, other: 1 })).toEqual([]);
    expect(problems({ Boiler: {} })).toEqual([{ path: '$.Boiler.Main', message: 'is required' }]);
    expect(problems({ Boiler: { Main: {} } })).toEqual([{ path: '$.Boiler.Main.Serial', message: 'is required' }]);
    expect(problems({ Boiler: { Main: { Serial: null } } })).toHaveLength(1);
  });

  test('a field or group that the form does not define is a problem; the message lists the defined names', () => {
    expect(problemsOf([FUEL], { Feul: 1 })).toEqual([
      { path: '$.clientData.Boiler.Main.Feul', message: 'is not a field of the group Main; known names: Fuel' },
    ]);
    expect(findNewProblems([define([FUEL])], { Boiler: { "O'ther": {} } }, undefined, '$')).toEqual([
      { path: `$.Boiler["O'ther"]`, message: 'is not a group defined by the form Boiler; known names: Main' },
    ]);
  });

  test('a stored invalid value is accepted as long as it does not change', () => {
    const fields = [FUEL, { name: 'Serial', type: 'String', isRequired: true }];
    const stored = { Fuel: 9, Extra: { deep: [1] } };
    expect(problemsOf(fields, stored)).toHaveLength(3);
    expect(problemsOf(fields, stored, stored)).toEqual([]);
    expect(problemsOf(fields, { ...stored, Serial: 'S' }, stored)).toEqual([]);
    expect(problemsOf(fields, { ...stored, Fuel: 8 }, stored)).toMatchObject([
      { path: '$.clientData.Boiler.Main.Fuel' },
    ]);
  });

  test('a new invalid value is refused even when more than 100 invalid values are already stored', () => {
    const stored = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`Old${index}`, 1]));
    expect(problemsOf([FUEL], stored)).toHaveLength(100);
    expect(problemsOf([FUEL], { ...stored, New: 1 }, stored)).toMatchObject([{ path: '$.clientData.Boiler.Main.New' }]);
  });

  test('a new invalid value is converted to text for the error message; a stored invalid value is not converted (R-A14)', () => {
    let described = 0;
    const value = { toJSON: () => (described += 1) };
    const fields = [{ name: 'Value', type: 'String' }];
    expect(problemsOf(fields, { Value: value }, { Value: value })).toEqual([]);
    expect(described).toBe(0);
    expect(problemsOf(fields, { Value: value })).toHaveLength(1);
    expect(described).toBeGreaterThan(0);
  });

  test('values of fields named "a/b~c", "toString" and "it\'s." are checked like any other; a value named __proto__ is refused as an unknown field', () => {
    const fields = [
      { name: 'a/b~c', type: 'Int' },
      { name: 'toString', type: 'Int' },
      { name: "it's.", type: 'Int' },
    ];
    expect(problemsOf(fields, { 'a/b~c': 1, toString: 2, "it's.": 3 })).toEqual([]);
    expect(problemsOf(fields, {})).toEqual([]);
    expect(problemsOf(fields, { 'a/b~c': 'x' })).toMatchObject([{ path: '$.clientData.Boiler.Main["a/b~c"]' }]);
    expect(problemsOf(fields, { toString: 'x', "it's.": 'x' })).toMatchObject([
      { path: '$.clientData.Boiler.Main.toString' },
      { path: '$.clientData.Boiler.Main["it\'s."]' },
    ]);
    const proto = JSON.parse('{"__proto__": {"x": 1}}') as object;
    expect(problemsOf(fields, proto)).toMatchObject([{ message: expect.stringContaining('is not a field') }]);
  });
});

describe('forms: definitions', () => {
  const expectRefusal = (fields: readonly Field[], message: string) => expect(() => define(fields)).toThrow(message);
  test.each([
    ['a list without items', { name: 'x', type: 'Int', isList: true }, 'items must have at least 1 item'],
    [
      'a text among the items of an Int field',
      { name: 'x', type: 'Int', isList: true, items: [{ value: 'a' }] },
      'must be an integer',
    ],
    [
      'an item without a value',
      { name: 'x', type: 'Int', isList: true, items: [{ name: 'Gas' }] },
      'items[0].value must be a string, a number, true or false, got nothing',
    ],
    ['items without isList', { name: 'x', type: 'Int', items: [{ value: 1 }] }, 'isList must be true'],
    [
      'two equal items',
      { name: 'x', type: 'Int', isList: true, items: [{ value: 1 }, { value: 1 }] },
      'must be unique',
    ],
    [
      'a minimum for a text field',
      { name: 'x', type: 'String', minimum: 1 },
      'minimum must be absent for a field of type String',
    ],
    [
      'a maximum below the minimum',
      { name: 'x', type: 'Int', minimum: 2, maximum: 1 },
      'maximum must not be less than minimum (2), got 1',
    ],
    ['an unknown type', { name: 'x', type: 'Money' }, 'must be one of String, Int, Double, Boolean, Date'],
    ['a reserved name', { name: '__proto__', type: 'Int' }, 'must not be one of __proto__'],
  ])('a definition with %s is refused', (_what, field, message) => {
    expectRefusal([field], message);
  });

  test('a definition is refused when two fields have the same name, ignoring case, or when it has too many fields', () => {
    expectRefusal(
      [
        { name: 'Power', type: 'Int' },
        { name: 'POWER', type: 'Int' },
      ],
      'must be unique, ignoring case; got POWER twice',
    );
    const many = Array.from({ length: FORM_LIMITS.fields + 1 }, (_, index) => ({ name: `f${index}`, type: 'Int' }));
    expectRefusal(many, 'must have at most 300 fields in total, got 301');
  });

  test('a definition in the format of shipped clients is accepted: capitalized member names, types as numbers, and no `entityType` for a form of sites', () => {
    const Groups = [{ Name: 'G', Fields: [{ Name: 'D', Type: 5, IsList: false, Items: null }] }];
    expect(parseInput(NEW_FORM, { Name: 'F', Groups })).toMatchObject({
      entityType: 'Site',
      groups: [{ fields: [{ type: 'Date' }] }],
    });
  });
});
