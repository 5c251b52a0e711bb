/** The error for a refused declaration states the path, the rule and the value that was given. */
import { expect, test } from 'vitest';
import { DECLARATION_SCHEMA } from '../../../src/calculation/declaration/declaration.ts';
import { parseInput } from '../../../src/platform/http/lenient.ts';

/** @returns the message of the error; an empty text when the declaration is accepted. */
function refusalOf(...formulas: readonly object[]): string {
  try {
    parseInput(DECLARATION_SCHEMA, { calculatedVariableFormulas: formulas });
    return '';
  } catch (error) {
    return String(error);
  }
}
const input = { alias: 'a', variableId: 1 };

test.each([
  ['asOf', 5, 'must be an ISO 8601 date', '5'],
  ['asOf', '2026-03-01T00:00:00.1234567Z', 'no finer than microseconds', '"2026-03-01T00:00:00.1234567Z"'],
  ['relativeVersion', 'soon', 'must be "Current"', '"soon"'],
  ['horizon', '24', 'must be an ISO 8601 duration', '"24"'],
  ['version', 5, 'must be a string or a list of at most 100 strings', '5'],
  ['tags', [5], 'must be a string or a list of at most 100 strings', '[5]'],
])('calculation: the error for an input whose `%s` is %j states the rule and the value', (name, value, rule, shown) => {
  const message = refusalOf({ variables: [{ ...input, [name]: value }] });
  expect(message).toContain(`$.calculatedVariableFormulas[0].variables[0].${name} must be`);
  expect(message).toContain(rule);
  expect(message).toContain(`, got ${shown}`);
});

test('calculation: the error for an invalid `value` or `path` states what is allowed and what was received', () => {
  expect(refusalOf({ constants: [{ alias: 'c', value: {} }] })).toContain(
    '$.calculatedVariableFormulas[0].constants[0].value must be a number, a string, true, false or null, got {}',
  );
  expect(refusalOf({ entities: [{ alias: 'e', entityType: 'Site', path: '' }] })).toMatch(
    /path must be words joined.*, got ""$/,
  );
});

test('calculation: when two formulas are valid from the same instant, the second is refused with an error that has the index of the first', () => {
  expect(refusalOf({}, {})).toContain(
    '[1].validFrom must differ from the validFrom of calculatedVariableFormulas[0], got none',
  );
  const validFrom = '2026-03-01T00:00:00Z';
  expect(refusalOf({}, { validFrom }, { validFrom })).toContain(
    `[2].validFrom must differ from the validFrom of calculatedVariableFormulas[1], got ${validFrom};`,
  );
});
