import fc from 'fast-check';
import { expect, it } from 'vitest';
import { orderRows } from '../../../src/files/parsing/order-rows.ts';

const row = fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 2 }));

it('files: ordering a chunk of rows keeps only the last row per variable, date and VersionTag, and sorts the dates of each variable (R-D5)', () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 40 }), (rows) => {
      const order = orderRows({
        size: rows.length,
        variableIds: Int32Array.from(rows, ([variableId]) => variableId),
        dates: Float64Array.from(rows, ([, date]) => date),
        versionTagIds: Int32Array.from(rows, ([, , tag]) => tag),
      });
      const kept = [...(order ?? rows.keys())];
      const lasts = new Map(rows.map((given, index) => [given.join(), index]));
      expect(new Set(kept)).toEqual(new Set(lasts.values()));
      const dates = new Map<number, number>();
      for (const index of kept) {
        const [variableId, date] = rows[index] ?? [0, 0];
        expect(date).toBeGreaterThanOrEqual(dates.get(variableId) ?? 0);
        dates.set(variableId, date);
      }
    }),
  );
});

it('files: ordering a chunk of rows keeps file order when the dates of each variable ascend, and otherwise sorts by variable and date', () => {
  const columns = {
    size: 3,
    variableIds: Int32Array.of(1, 2, 1),
    dates: Float64Array.of(1, 1, 2),
    versionTagIds: new Int32Array(3),
  };
  expect(orderRows(columns)).toBeUndefined();
  expect(orderRows({ ...columns, dates: Float64Array.of(2, 1, 1) })).toEqual(Uint32Array.of(2, 0, 1));
});
