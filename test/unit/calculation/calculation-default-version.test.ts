import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultVersion } from '../../../src/calculation/run/default-version-rules.ts';

test.each([
  ['exactly on the hour stays at that hour', '2026-03-01T14:00:00.000Z', '2026-03-01T14:00:00'],
  ['one millisecond after the hour rolls to the next', '2026-03-01T14:00:00.001Z', '2026-03-01T15:00:00'],
  ['midnight stays', '2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00'],
  ['one millisecond after midnight is one o’clock', '2026-03-01T00:00:00.001Z', '2026-03-01T01:00:00'],
  ['23:59:59.999 rolls to the next day', '2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00'],
  ['the last millisecond of a year rolls to the next', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00'],
])('%s (§9.4, R-H10)', (_rule, now, version) => {
  expect(defaultVersion(Date.parse(now))).toBe(version);
});

test('the default Version is a whole hour, not before the time and less than an hour after it (§9.4)', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(2199, 11, 31) }), (now) => {
      const version = Date.parse(`${defaultVersion(now)}Z`);
      expect(version % 3_600_000).toBe(0);
      expect(version - now).toBeGreaterThanOrEqual(0);
      expect(version - now).toBeLessThan(3_600_000);
    }),
  );
});
