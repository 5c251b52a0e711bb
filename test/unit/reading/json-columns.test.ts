/** Writes each table as JSON columns and as JSON rows, and compares the two results (R-G3, R-G4). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writeJsonColumns } from '../../../src/reading/formats/json-columns.ts';
import { writeJson } from '../../../src/reading/formats/json-table.ts';
import type { Batch, Column, Table } from '../../../src/reading/formats/table.ts';
import { rowsOfColumns } from '../../support/answers/column-rows.ts';

const COLUMNS: readonly Column[] = [
  { name: 'variableId', kind: 'id' },
  { name: 'date', kind: 'instant', timeZoneId: 'Europe/Brussels' },
  { name: 'sumValue', kind: 'number' },
  { name: 'avgValue', kind: 'number' },
  { name: 'unitId', kind: 'id' },
  { name: 'version', kind: 'text' },
  { name: 'tags', kind: 'json' },
];

const number = fc.oneof(fc.double(), fc.constant(Number.NaN), fc.constant(-0));
const text = fc.option(fc.string({ unit: 'binary' }), { freq: 2 });
const labels = fc.array(text, { minLength: 1, maxLength: 3 });

const batch: fc.Arbitrary<Batch> = fc
  .record({
    variableId: fc.integer({ min: 1, max: 3 }),
    unitId: fc.constantFrom(null, 8),
    rows: fc.array(fc.tuple(fc.integer({ min: 0, max: 4e15 }), number, fc.nat({ max: 2 })), {
      minLength: 1,
      maxLength: 6,
    }),
    labels,
  })
  .map(({ variableId, unitId, rows, labels: texts }) => {
    const ids = Int32Array.from(rows, ([, , id]) => id);
    const values = { kind: 'numbers', values: Float64Array.from(rows, ([, value]) => value) } as const;
    // The aggregates of a variable are in one of two columns: sumValue or avgValue.
    const [sum, avg] = variableId === 1 ? [values, { kind: 'absent' } as const] : [{ kind: 'absent' } as const, values];
    const textOf = (id: number) => texts[id] ?? null;
    return {
      rowCount: rows.length,
      cells: [
        { kind: 'constant', value: variableId },
        { kind: 'instants', values: Float64Array.from(rows, ([date]) => date) },
        sum,
        avg,
        { kind: 'constant', value: variableId === 2 ? null : unitId },
        { kind: 'codes', ids, textOf },
        { kind: 'codes', ids, textOf: (id) => (textOf(id) === null ? null : JSON.stringify({ k: textOf(id) })) },
      ],
    };
  });

/** Batches come variable by variable; all batches of a variable have the same unit. */
const tables = fc.array(batch, { maxLength: 8 }).map((batches) => {
  return batches
    .toSorted((a, b) => idOf(a) - idOf(b))
    .map((one, _index, all): Batch => {
      const unit = all.find((other) => idOf(other) === idOf(one))?.cells[4] ?? { kind: 'absent' };
      return { ...one, cells: one.cells.with(4, unit) };
    });
});

function idOf({ cells: [id] }: Batch): number {
  return id?.kind === 'constant' ? (id.value ?? 0) : 0;
}

function tableOf(batches: readonly Batch[]): Table {
  return {
    columns: COLUMNS,
    batches: (async function* () {
      yield* batches;
    })(),
  };
}

async function parsed(pieces: AsyncGenerator<Uint8Array>): Promise<readonly Record<string, unknown>[]> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return JSON.parse(Buffer.concat(parts).toString());
}

describe('reading: JSON by columns (R-G3, R-G4)', () => {
  test('its objects together hold the same rows as JSON by rows, and each object holds at most the given number of rows', async () => {
    await fc.assert(
      fc.asyncProperty(tables, fc.constantFrom(6, 11, 1000), async (batches, objectRows) => {
        const objects = await parsed(writeJsonColumns(tableOf(batches), objectRows));
        expect(objects.flatMap(rowsOfColumns)).toEqual(await parsed(writeJson(tableOf(batches))));
        for (const { date } of objects) expect((date as readonly unknown[]).length).toBeLessThanOrEqual(objectRows);
        const variables = new Set(batches.map(idOf));
        if (objectRows === 1000) expect(objects.map(({ variableId }) => variableId)).toEqual([...variables]);
      }),
      { numRuns: 300 },
    );
  });

  test('an empty table is written as an empty array', async () => {
    expect(await parsed(writeJsonColumns(tableOf([])))).toEqual([]);
  });
});
