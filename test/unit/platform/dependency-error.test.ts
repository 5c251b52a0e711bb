import { describe, expect, it } from 'vitest';
import { isDependencyError, sqlStateOf } from '../../../src/platform/database/dependency-error.ts';

const failure = (code: string, message = 'failed') => Object.assign(new Error(message), { code });

describe('platform: dependency errors', () => {
  it.each(['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', '08006', '53100', '57P01', '58030'])(
    'an error with the code %s means that a dependency is unavailable (R-A5)',
    (code) => {
      expect(isDependencyError(failure(code))).toBe(true);
      expect(isDependencyError(new AggregateError([failure('E'), failure(code)]))).toBe(true);
    },
  );

  it.each([
    'Connection terminated unexpectedly',
    'Client has encountered a connection error and is not queryable',
    'timeout exceeded when trying to connect',
  ])('the error "%s" means that a dependency is unavailable (R-A5)', (message) => {
    expect(isDependencyError(new Error(message))).toBe(true);
  });

  it.each(['23505', '22021', 'ERR_INVALID_ARG_TYPE'])(
    'an error with the code %s does not mean that a dependency is unavailable (R-A5)',
    (code) => {
      expect(isDependencyError(failure(code))).toBe(false);
    },
  );

  it.each(['42P01', 'P0001'])('the error code %s is recognized as an SQLSTATE', (code) => {
    expect(sqlStateOf(failure(code))).toBe(code);
  });

  it.each(['EPIPE', 'ECONNRESET'])('the error code %s is not recognized as an SQLSTATE', (code) => {
    expect(sqlStateOf(failure(code))).toBeUndefined();
  });
});
