/** Tests a consumer that stops before the end of the workbook of a structure. */
import { expect, test } from 'vitest';
import { encodeCells, writeSheets } from '../../../src/structure/exchange/export/write-document.ts';

test('structure documents: when the consumer of a workbook stops in the middle of a sheet, the generator of the rows is closed', async () => {
  let isEnded = false;
  async function* batches() {
    try {
      for (;;) yield encodeCells({ kind: 'sites', rows: [{ name: 'Mill' }] });
    } finally {
      isEnded = true;
    }
  }
  const pieces = writeSheets(batches());
  await pieces.next();
  await pieces.return(undefined);
  expect(isEnded).toBe(true);
});
