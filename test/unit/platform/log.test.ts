/** A logged error shows enough to find the fault, but none of the processed data (R-K4). */
import { describe, expect, test } from 'vitest';
import { describeError } from '../../../src/platform/log.ts';

const SECRET = 'marker-of-a-secret';

describe('log: errors (R-K1, R-K4)', () => {
  test.each([
    ['the command that Redis refused', { command: { name: 'auth', args: ['default', SECRET] } }],
    [
      'the row that PostgreSQL refused',
      { detail: `Failing row contains (${SECRET})`, where: SECRET, internalQuery: SECRET },
    ],
    ['the address that could not be read', { input: `postgres://user:${SECRET}@host` }],
    ['a request or an answer', { config: { headers: { authorization: SECRET } }, response: { body: SECRET } }],
  ])('an error is logged without %s', (_what, extra) => {
    const inner = Object.assign(new Error('refused'), extra);
    for (const error of [inner, new Error('outer', { cause: inner }), new AggregateError([inner], 'several')]) {
      expect(JSON.stringify(describeError(error))).not.toContain(SECRET);
    }
  });

  test('an error is logged with its message and stack, and with the code, constraint and table of its cause', () => {
    const error = Object.assign(new Error('duplicate key'), { code: '23505', constraint: 'site_key', table: 'site' });
    expect(describeError(new Error('could not be written', { cause: error }))).toMatchObject({
      ...{ type: 'Error', message: 'could not be written', stack: expect.stringContaining('log.test.ts') },
      cause: { message: 'duplicate key', code: '23505', constraint: 'site_key', table: 'site' },
    });
  });

  test('the length of a description is limited, even for cyclic causes or a long message', () => {
    const circle = new Error('circle');
    circle.cause = circle;
    expect(JSON.stringify(describeError(circle)).length).toBeLessThan(20_000);
    expect(String(describeError(new Error('x'.repeat(1_000_000))).message).length).toBeLessThan(3000);
  });

  test('a thrown string is logged with its type and its text', () => {
    expect(describeError('text')).toEqual({ type: 'string', message: 'text' });
  });
});
