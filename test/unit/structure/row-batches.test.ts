/** Tests that the summary of `RowBatches` names the ignored members of an imported row, up to a maximum of 100. */
import { expect, test } from 'vitest';
import { RowBatches } from '../../../src/structure/exchange/reading/row-batches.ts';

test('structure import: the first 100 of the 150 unknown members of a row are reported by name', async () => {
  const batches = new RowBatches(10, async () => {});
  const unknown = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`extra${index}`, 1]));
  await batches.add('sites', '$.sites[0]', (member) => member, { name: 'Mill', ...unknown });
  const expected = Array.from({ length: 100 }, (_, index) => `sites.extra${index}`);
  expect(batches.summary().ignored).toEqual(expected);
});
