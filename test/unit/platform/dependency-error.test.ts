import { describe, expect, it } from 'vitest';
import { isDependencyError } from '../../../src/platform/database/dependency-error.ts';

const failure = (code: string, message = 'failed') => Object.assign(new Error(message), { code });

describe('a dependency', () => {
  it.each(['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', '08006', '57P01'])(
    'that cannot be reached is no fault of ours: %s (R-A5)',
    (code) => {
      expect(isDependencyError(failure(code))).toBe(true);
      expect(isDependencyError(new AggregateError([failure('E'), failure(code)]))).toBe(true);
    },
  );

  it('that ended the connection neither (R-A5)', () => {
    expect(isDependencyError(new Error('Connection terminated unexpectedly'))).toBe(true);
  });

  it.each(['23505', '22021', 'ERR_INVALID_ARG_TYPE'])('that says no is: %s (R-A5)', (code) => {
    expect(isDependencyError(failure(code))).toBe(false);
  });
});
