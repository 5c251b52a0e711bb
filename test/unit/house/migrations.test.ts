/** The numbers of the files in sql/migrations. Two branches can take the same number, and neither sees the other's file. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Two files landed with this number. A file that databases have applied keeps its name, because they know it by this name. */
const LANDED_TWICE = ['0037'];

test('migrations: no two files have the same number, except the two that landed with 0037', () => {
  const names = readdirSync(new URL('../../../sql/migrations/', import.meta.url), { encoding: 'utf8' });
  const numbers = names.map((name) => name.slice(0, 4)).toSorted();
  expect(numbers.filter((number, index) => number === numbers[index - 1])).toEqual(LANDED_TWICE);
  expect(numbers.length).toBeGreaterThan(50);
});
