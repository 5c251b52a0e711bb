/**
 * Checks that each ruling is cited by at least one test, and that test/rulings.md lists the citing tests (`npm test --
 * -u rulings` renews the list).
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const TESTS = fileURLToPath(new URL('../..', import.meta.url));
const CITATION = /R-([A-K])(\d+)(?:–(?:R-)?[A-K]?(\d+))?/g;

/** The ids of all rulings, such as `A1`. For each letter, the table gives the first and the last number. */
const RULINGS: readonly string[] = Object.entries({
  A: [1, 15],
  B: [1, 15],
  C: [1, 12],
  D: [1, 10],
  E: [1, 5],
  F: [1, 9],
  G: [1, 6],
  H: [1, 12],
  I: [1, 8],
  J: [1, 3],
  K: [1, 4],
}).flatMap(([letter, [first = 0, last = 0]]) =>
  Array.from({ length: last - first + 1 }, (_, index) => `${letter}${first + index}`),
);

function citationsOf(file: string): readonly string[] {
  return [...readFileSync(join(TESTS, file), 'utf8').matchAll(CITATION)].flatMap(([, letter, first, last]) => {
    const numbers = Array.from({ length: Number(last ?? first) - Number(first) + 1 }, (_, i) => Number(first) + i);
    return numbers.map((number) => `${letter}${number}`);
  });
}

const citations = new Map<string, string[]>();
for (const file of globSync('**/*.test.ts', { cwd: TESTS }).sort()) {
  if (file.endsWith('rulings.test.ts')) continue;
  for (const ruling of new Set(citationsOf(file))) citations.set(ruling, [...(citations.get(ruling) ?? []), file]);
}

test('rulings: every ruling is cited by a test', () => {
  expect(RULINGS.filter((ruling) => !citations.has(ruling))).toEqual([]);
});

test('rulings: test/rulings.md lists, for each ruling, the test files that cite the ruling', async () => {
  const order = (ruling: string) => (ruling.codePointAt(0) ?? 0) * 1000 + Number(ruling.slice(1));
  const rows = [...citations].sort(([a], [b]) => order(a) - order(b));
  const table = rows.map(([ruling, files]) => `- R-${ruling}: ${files.join(', ')}`).join('\n');
  await expect(`# Rulings and the tests that cite them\n\n${table}\n`).toMatchFileSnapshot('../../rulings.md');
});
