/**
 * Checks that no two files in sql/migrations have the same number. Two branches can choose the same number when each of
 * them adds a file.
 */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Two files have this number. Neither can be renamed, because databases that applied them record their names. */
const USED_TWICE = ['0037'];

test('migrations: no two files have the same number, except two with 0037', () => {
  const names = readdirSync(new URL('../../../sql/migrations/', import.meta.url), { encoding: 'utf8' });
  const numbers = names.map((name) => name.slice(0, 4)).toSorted();
  expect(numbers.filter((number, index) => number === numbers[index - 1])).toEqual(USED_TWICE);
  expect(numbers.length).toBeGreaterThan(50);
});
