/** The default Version of calculated points: the time of the run, rounded up to the hour (§9.4, R-H10). */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultVersion } from '../../../src/calculation/run/default-version-rules.ts';

test.each([
  ['of a run on the hour is that hour', '2026-03-01T14:00:00.000Z', '2026-03-01T14:00:00'],
  ['of a run one millisecond after the hour is the next hour', '2026-03-01T14:00:00.001Z', '2026-03-01T15:00:00'],
  ['of a run at midnight is that midnight', '2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00'],
  ['of a run one millisecond after midnight is 01:00', '2026-03-01T00:00:00.001Z', '2026-03-01T01:00:00'],
  ['of a run at 23:59:59.999 is midnight of the next day', '2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00'],
  ['of a run in the last millisecond of a year is 1 January', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00'],
])('calculation: the default Version %s (§9.4, R-H10)', (_rule, now, version) => {
  expect(defaultVersion(Date.parse(now))).toBe(version);
});

test('calculation: the default Version is the time of the run, rounded up to a whole hour (§9.4)', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(2199, 11, 31) }), (now) => {
      const version = Date.parse(`${defaultVersion(now)}Z`);
      expect(version % 3_600_000).toBe(0);
      expect(version - now).toBeGreaterThanOrEqual(0);
      expect(version - now).toBeLessThan(3_600_000);
    }),
  );
});
