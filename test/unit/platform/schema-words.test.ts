import { expect, it } from 'vitest';
import { z } from 'zod';
import { DomainError } from '../../../src/platform/errors.ts';
import { enumerationSchema, idSchema, momentSchema, parseInput } from '../../../src/platform/http/lenient.ts';

const schema = z.object({
  name: z.string().min(1).max(3),
  count: z.int().min(1).max(5),
  ids: z.array(z.int()).max(1),
  isOn: z.boolean(),
  own: z.string({ error: 'must be an email address' }),
});

function problemsOf(value: unknown, refusing: z.ZodType = schema): Record<string, string> {
  try {
    parseInput(refusing, value);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return Object.fromEntries((error.details ?? []).map(({ path, message }) => [path, message]));
  }
  throw new Error('nothing was refused');
}

it('schema errors: for a value of the wrong type, the error names the expected and the received type, unless the schema defines a message (R-A5)', () => {
  expect(problemsOf({ name: 7, count: 'x', isOn: null, own: 1 })).toEqual({
    '$.name': 'must be a string, got a number',
    '$.count': 'must be a number, got a string',
    '$.ids': 'must be a list, got nothing',
    '$.isOn': 'must be true or false, got null',
    '$.own': 'must be an email address',
  });
});

it('schema errors: for a size or number out of range, the message names the limit; for a fraction, the message says that the value must be an integer (R-A5)', () => {
  expect(problemsOf({ name: 'long', count: 0, ids: [1, 2], isOn: true, own: '' })).toEqual({
    '$.name': 'must have at most 3 characters',
    '$.count': 'must be at least 1',
    '$.ids': 'must have at most 1 entry',
  });
  expect(problemsOf({ name: '', count: 1.5, ids: [], isOn: true, own: '' })).toEqual({
    '$.name': 'must have at least 1 character',
    '$.count': 'must be an integer',
  });
});

it('schema errors: for an id, an enumeration and a date, the message states the rule and the value received (R-A5)', () => {
  const lenient = z.object({ id: idSchema, level: enumerationSchema({ Read: 1, Write: 2 }), from: momentSchema });
  const idRule = 'must be an integer from 1 to 2147483647';
  expect(problemsOf({ level: 'Own', from: 'x'.repeat(70) }, lenient)).toEqual({
    '$.id': `${idRule}, got nothing`,
    '$.level': 'must be one of Read, Write, got "Own"',
    '$.from': expect.stringMatching(/, got "x{59}…$/),
  });
  expect(problemsOf({ id: 0, level: 1, from: '2026-03-01' }, lenient)).toEqual({ '$.id': `${idRule}, got 0` });
  expect(problemsOf({ id: '7b', level: 1, from: '2026-03-01' }, lenient)).toEqual({ '$.id': `${idRule}, got "7b"` });
});
