/** Checks the numbers of the files in sql/migrations, because two branches may each add a file with the same number. */
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
