/** `linesOfError`: the line of a mapper's expression on which the console shows an error. */
import { describe, expect, test } from 'vitest';
import { linesOfError } from '../../../src/console/calculated/script/problem-lines.ts';

const EXPRESSION = '[{\n  "a": b\n  "c": 1\n}]\n';

describe('console data: the error of a mapper', () => {
  test('is shown on the line that contains the character position given in the message (R-D9)', () => {
    const message = 'the mapper failed: Expected "}", got "c" (at character 16 of the expression)';
    expect(linesOfError(EXPRESSION, message)).toEqual([{ line: 3, message, severity: 'error' }]);
  });

  test('is shown on the last non-blank line when the expression ends too early (R-D9)', () => {
    expect(linesOfError('[{ "a":\n\n', 'Expected "}" (at character 9 of the expression)')[0]?.line).toBe(1);
  });

  test('is shown on the first line when the message gives no character position (R-D9)', () => {
    expect(linesOfError(EXPRESSION, 'the mapper failed: timed out')[0]?.line).toBe(1);
  });
});
