/** The cells of a column as texts, one row after the other: what JSON and CSV have in common. */
import { zoneOffset } from '../structure/time-zones.ts';
import { instantWriter, localInstantWriter } from './instant-writer-rules.ts';
import type { Cells, Column, InstantWriter } from './table.ts';

/** The text of a row's cell. */
export type CellWriter = (row: number) => string;

/** How a format writes what is not the same in all. */
export interface CellTexts {
  readonly absent: string;
  readonly number: (value: number) => string;
  readonly instant: (text: string) => string;
  readonly text: (text: string, column: Column) => string;
}

/** The writers of instants of a table's columns, each with its memory. */
export function instantWriters(columns: readonly Column[]): readonly InstantWriter[] {
  return columns.map(({ timeZoneId }) =>
    timeZoneId === undefined ? instantWriter() : localInstantWriter(zoneOffset(timeZoneId)),
  );
}

/** @returns a writer of one batch's cells of a column, or their text when all have the same. */
export function cellWriter(
  column: Column,
  cells: Cells,
  writeInstant: InstantWriter,
  texts: CellTexts,
): CellWriter | string {
  switch (cells.kind) {
    case 'absent':
      return texts.absent;
    case 'constant':
      return texts.number(cells.value ?? Number.NaN);
    case 'numbers': {
      const { values } = cells;
      return (row) => texts.number(values[row] ?? Number.NaN);
    }
    case 'instants': {
      const { values } = cells;
      return remembering(values, (micros) => texts.instant(writeInstant(micros)));
    }
    case 'codes': {
      const textOf = new Map<number, string>();
      for (const id of cells.ids) {
        if (textOf.has(id)) continue;
        const text = cells.textOf(id);
        textOf.set(id, text === null ? texts.absent : texts.text(text, column));
      }
      return remembering(cells.ids, (id) => textOf.get(id) ?? texts.absent);
    }
  }
}

/** Labels and VersionTimestamps come in runs of the same. */
function remembering(values: Float64Array | Int32Array, write: (value: number) => string): CellWriter {
  let last = Number.NaN;
  let text = '';
  return (row) => {
    const value = values[row] ?? Number.NaN;
    if (value !== last) {
      last = value;
      text = write(value);
    }
    return text;
  };
}
