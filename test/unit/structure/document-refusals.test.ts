/** Tests the errors for structure documents that cannot be read. Each error names the place of the fault. */
import { describe, expect, test } from 'vitest';
import { readJsonRows } from '../../../src/structure/exchange/reading/json-rows.ts';
import { scanJson } from '../../../src/structure/exchange/reading/json-scanner.ts';
import { RowBatches } from '../../../src/structure/exchange/reading/row-batches.ts';
import { readWorkbookRows } from '../../../src/structure/exchange/reading/workbook-rows.ts';
import { makeZip, workbookEntries } from '../../fixtures/files/make-workbook.ts';

const LIMITS = { maxRows: 10, maxInflatedBytes: 2 ** 20, maxRatio: 1e6 };

const sourceOf = (bytes: Uint8Array) => {
  return { sizeBytes: bytes.length, partBytes: bytes.length, readPart: async () => bytes };
};

async function stage(read: (batches: RowBatches) => Promise<unknown>) {
  const problems: string[] = [];
  const batches = new RowBatches(LIMITS.maxRows, async (batch) => {
    problems.push(...batch.problems.map(({ path, message }) => `${path} ${message}`));
  });
  await read(batches);
  await batches.flush();
  return problems;
}

const readJson = (text: string) => stage((batches) => readJsonRows(sourceOf(Buffer.from(text)), batches));

/**
 * Makes and reads a workbook with one sheet.
 * @param rows XML of the rows of the sheet. With undefined, the workbook lists the sheet but does not contain it.
 */
function readSheet(name: string, rows: string | undefined) {
  const sheet = `<worksheet><sheetData>${rows ?? ''}</sheetData></worksheet>`;
  const entries = workbookEntries({ sheet })
    .filter((entry) => rows !== undefined || !entry.name.startsWith('xl/worksheets/'))
    .map((entry) => ({ name: entry.name, content: String(entry.content).replace('A &gt; B', name) }));
  return stage((batches) => readWorkbookRows(sourceOf(makeZip(entries)), LIMITS, batches));
}

const rowOf = (row: number, ...cells: readonly string[]) => {
  const texts = cells.map((cell, column) => {
    return `<c r="${'ABCDE'[column]}${row}" t="inlineStr"><is><t>${cell}</t></is></c>`;
  });
  return `<row r="${row}">${texts.join('')}</row>`;
};

describe('structure documents: the refusal of a JSON document', () => {
  test.each([
    ['truncated JSON', '{"sites":[{"name":"A"}', 'a comma or ] must follow an element; see byte 22 of the document'],
    ['a missing comma', '{"sites":[{} {}]}', 'a comma or ] must follow an element; see byte 13 of the document'],
    [
      'a missing name',
      '{"sites":[],}',
      'a member must begin with a name in double quotes; see byte 12 of the document',
    ],
    ['a quote that is not closed', '{"sites":[{},{"name":"A}]}', 'must not end within $.sites[1]; see byte 13 of the'],
    ['a truncated list', '{"sites":[', 'the document must not end within $.sites[0]; see byte 10 of the document'],
  ])('gives the byte position of %s', async (_what, text, message) => {
    await expect(readJson(text)).rejects.toMatchObject({
      code: 'malformed_document',
      message: expect.stringContaining(message),
    });
  });

  test('gives the path and the byte position of an invalid or too large value', async () => {
    await expect(readJson('{"format":nul}')).rejects.toMatchObject({
      message: expect.stringMatching(/^\$\.format must be valid JSON in UTF-8: .*; see byte 10 of the document$/),
    });
    await expect(readJson('{"sites":[{}, {"name" "A"}]}')).rejects.toMatchObject({
      message: expect.stringMatching(/^\$\.sites\[1\] must be valid JSON in UTF-8: .*; see byte 14 of the document$/),
    });
    const pieces = async function* () {
      yield Buffer.from(`{"sites":[{}, {"name":"${'x'.repeat(1 << 20)}`);
    };
    const scan = async () => {
      for await (const _element of scanJson(pieces(), 1 << 20));
    };
    const rule = 'must be at most 1048576 bytes (1 MiB), and its quotes and brackets must be closed';
    const message = `$.sites[1] ${rule}; see byte 14 of the document`;
    await expect(scan()).rejects.toMatchObject({ code: 'too_large', message });
  });

  test('gives the path of an element that needs too much memory or is nested too deeply', async () => {
    const deep = {
      get name(): string {
        throw new RangeError('Maximum call stack size exceeded');
      },
    };
    const add = (batches: RowBatches) => batches.add('sites', '$.sites[7]', (member) => member, deep);
    await expect(stage(add)).rejects.toMatchObject({
      code: 'too_large',
      message: '$.sites[7] needs more memory than an import may use, or is nested too deeply',
    });
  });
});

describe('structure documents: the refusal of a workbook', () => {
  test('lists the sheets of the workbook when the import knows none of their names', async () => {
    await expect(readSheet('Sites &amp; more', rowOf(1, 'name'))).rejects.toMatchObject({
      code: 'empty_document',
      message: expect.stringMatching(/must have a sheet named catalogues, .* or variables, got "Sites & more"$/),
    });
  });

  test('says which columns have the same name', async () => {
    await expect(readSheet('sites', rowOf(1, 'name', 'city', 'Name'))).rejects.toMatchObject({
      message: 'the sheet sites must have at most one column of each name, got name in A and in C',
    });
  });

  test('names the sheet whose XML is damaged', async () => {
    await expect(readSheet('sites', `${rowOf(1, 'name')}</row>`)).rejects.toMatchObject({
      code: 'damaged_file',
      message: expect.stringMatching(/^the sheet sites cannot be read: /),
    });
  });

  test('names a sheet when the workbook lists the sheet but does not contain its rows', async () => {
    await expect(readSheet('sites', undefined)).rejects.toMatchObject({
      code: 'damaged_file',
      message: 'the workbook lists the sheet sites, but does not contain its rows',
    });
  });

  test('names a required member for which the sheet has no column', async () => {
    const rows = `${rowOf(1, 'entityType')}${rowOf(2, 'Site')}`;
    expect(await readSheet('forms', rows)).toEqual(['forms!2.name must be a string, got nothing']);
  });
});
