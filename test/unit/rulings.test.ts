/**
 * Which tests hold which numbered ruling. The table in test/rulings.md is generated here (`npm test -- -u rulings` renews
 * it), and a ruling this version implements must be cited by some test.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const TESTS = fileURLToPath(new URL('..', import.meta.url));
const CITATION = /R-([A-K])(\d+)(?:–(?:R-)?[A-K]?(\d+))?/g;

/** Rulings implemented so far, as far as their part of the work went. */
const IMPLEMENTED = [
  ...[
    'A1',
    'A2',
    'A3',
    'A4',
    'A5',
    'A6',
    'A7',
    'A8',
    'A9',
    'A10',
    'B1',
    'B2',
    'B3',
    'B4',
    'B5',
    'B6',
    'B8',
    'B9',
    'B11',
  ],
  ...[
    'C4',
    'C5',
    'C6',
    'C7',
    'C8',
    'C10',
    'C11',
    'D1',
    'D2',
    'D3',
    'D4',
    'D5',
    'D6',
    'D10',
    'F1',
    'F2',
    'F3',
    'F4',
    'F5',
  ],
  ...[
    'G1',
    'G2',
    'G3',
    'H1',
    'H2',
    'H3',
    'H4',
    'H5',
    'H6',
    'H7',
    'H8',
    'H10',
    'I8',
    'J1',
    'J2',
    'J3',
    'K1',
    'K2',
    'K3',
    'K4',
  ],
];

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

test('every ruling implemented is cited by a test', () => {
  expect(IMPLEMENTED.filter((ruling) => !citations.has(ruling))).toEqual([]);
});

test('test/rulings.md tells which tests cite which ruling', async () => {
  const order = (ruling: string) => (ruling.codePointAt(0) ?? 0) * 1000 + Number(ruling.slice(1));
  const rows = [...citations].sort(([a], [b]) => order(a) - order(b));
  const table = rows.map(([ruling, files]) => `- R-${ruling}: ${files.join(', ')}`).join('\n');
  await expect(`# Rulings and the tests that cite them\n\n${table}\n`).toMatchFileSnapshot('../rulings.md');
});
