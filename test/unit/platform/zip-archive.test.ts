/**
 * Tests the error for a refused zip archive (R-E4). The message names the faulty part of the workbook, or gives the
 * maximum inflated size and the declared inflated size. Also tests how sizes are shown.
 */
import { describe, expect, test } from 'vitest';
import { showBytes } from '../../../src/platform/limits.ts';
import { openZipArchive } from '../../../src/platform/streaming/zip-archive.ts';
import { makeZip, type ZipEntry } from '../../fixtures/files/make-workbook.ts';

const LIMITS = { maxInflatedBytes: 3 << 20, maxRatio: 100 };

/** Opens an archive, and reads the entry `xl/a.xml`. */
async function readA(...entries: readonly ZipEntry[]): Promise<void> {
  const bytes = makeZip(entries);
  const source = { sizeBytes: bytes.length, partBytes: bytes.length, readPart: async () => bytes };
  const archive = await openZipArchive(source, LIMITS);
  for await (const piece of archive.read('xl/a.xml')) expect(piece.length).toBeGreaterThan(0);
}

describe('zip archive: the error message contains', () => {
  test('the name of the part whose compressed bytes are damaged', async () => {
    const deflated = { data: Buffer.from([0xff, 0xff, 0xff]), inflatedBytes: 3, crc32: 0 };
    await expect(readA({ name: 'xl/a.xml', content: '', deflated })).rejects.toMatchObject({
      code: 'damaged_file',
      message: expect.stringMatching(/^the workbook cannot be read: xl\/a\.xml: invalid block type/),
    });
  });

  test('the duplicate name when two parts have the same name', async () => {
    const entries = ['b', 'c', 'c'].map((name, index) => ({ name: `xl/${name}.xml`, content: String(index) }));
    await expect(readA(...entries)).rejects.toMatchObject({
      code: 'damaged_file',
      message: 'the workbook cannot be read: two parts have the same name, "xl/c.xml"',
    });
  });

  test('the maximum size and the claimed size; each is given in bytes and, rounded, in MiB or GiB', async () => {
    const large = { name: 'xl/a.xml', content: 'a', claims: { inflatedBytes: 2 ** 31 } };
    await expect(readA(large)).rejects.toMatchObject({
      code: 'zip_bomb',
      message:
        'the workbook was not read: the workbook must inflate to at most 3145728 bytes (3 MiB), got 2147483648 bytes (2 GiB)',
    });
  });
});

test.each([
  [0, '0 bytes'],
  [1_048_575, '1048575 bytes'],
  [1_048_576, '1048576 bytes (1 MiB)'],
  [1_600_000, '1600000 bytes (1.5 MiB)'],
  [2 ** 31, '2147483648 bytes (2 GiB)'],
])('zip archive: a size of %i bytes is shown as "%s"', (bytes, text) => expect(showBytes(bytes)).toBe(text));
