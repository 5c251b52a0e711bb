import Excel from 'exceljs';
import { expect, test } from 'vitest';
import { isRefused, planColumns, READ_COLUMNS } from '../../../src/console/data/files/column-rules.ts';
import { cellText, readRows } from '../../../src/console/data/files/read-rows.ts';
import { planColumns as planOfService } from '../../../src/files/parsing/header-columns.ts';
import { TEMPLATE_COLUMNS } from '../../../src/files/template.ts';
import { receiveUpload } from '../../../src/files/upload/receive-upload.ts';

/** Second name of the column `source_serialnumber`. */
const ALIAS = 'source_serial_number';

test('console data: READ_COLUMNS names exactly the columns that the service reads (R-E2)', () => {
  const names = [...READ_COLUMNS].filter((name) => name !== ALIAS);
  expect(planOfService(names, 1).ignored).toEqual([]);
  expect(planOfService(['date', 'value', ALIAS], 1).ignored).toEqual([]);
  expect(new Set(names)).toEqual(new Set(TEMPLATE_COLUMNS));
});

test('console data: the check of a header names every required column that the header lacks (R-E2)', () => {
  expect(planColumns([' Date ', 'remark', ''])).toEqual({
    columns: [
      { name: 'Date', isRead: true },
      { name: 'remark', isRead: false },
    ],
    missing: ['value', 'identifier'],
  });
});

test.each(['a.xls', 'a.XLSM', 'a.xlsb', 'a.ods', 'readings', 'a.pdf', 'a.json', 'a.csv.gz'])(
  'console data: %s is announced as refused only if the service refuses the file (R-E1)',
  async (name) => {
    const request = new Request(`http://localhost/storage?filename=${name}`, {
      ...{ method: 'POST', body: 'x', headers: { 'content-type': 'application/octet-stream' } },
    });
    const isTaken = await receiveUpload(request, 100).then(
      () => true,
      () => false,
    );
    expect(isRefused(name)).toBe(!isTaken);
  },
);

test('console data: reading a workbook rounds a date that ends in .999 up to the whole second and leaves other dates unchanged (R-E2)', () => {
  const texts = ['01:59:59.999', '02:00:00.000', '02:00:00.250'].map((time) =>
    cellText(new Date(`2016-07-01T${time}Z`)),
  );
  expect(texts).toEqual(['2016-07-01T02:00:00', '2016-07-01T02:00:00', '2016-07-01T02:00:00.250']);
});

test('console data: reading a workbook gives the rows of the first sheet and the names of all sheets (R-E2)', async () => {
  const workbook = new Excel.Workbook();
  workbook.addWorksheet('March').addRows([
    ['date', 'value'],
    ['2026-03-01T00:00:00Z', 1],
  ]);
  workbook.addWorksheet('April').addRows([
    ['date', 'value'],
    ['2026-04-01T00:00:00Z', 2],
  ]);
  const read = await readRows(new Blob([await workbook.xlsx.writeBuffer()]), 'points.xlsx', { count: 5 });
  expect(read?.sheets).toEqual(['March', 'April']);
  expect([...(read?.rows ?? [])]).toEqual([[2, ['2026-03-01T00:00:00Z', '1']]]);
});
