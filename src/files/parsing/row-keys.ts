/** Finds the targets and labels of rows by the bytes of their cells (`CellKeys`). */
import { CellKeys } from '../cells/cell-keys.ts';
import type { RowCells } from '../cells/row-cells.ts';
import type { Columns } from './header-columns.ts';
import type { RowCollector } from './row-collector.ts';

/** Adds the rows of a file to a collector. Create one `RowKeys` per file and collector. */
export class RowKeys {
  readonly #collector: RowCollector;
  readonly #targets: CellKeys;
  readonly #labels: CellKeys;
  #generation = 0;

  /** @param textOf function that returns the text of a cell as the `decode` function of the collector expects it. */
  constructor(columns: Columns, collector: RowCollector, textOf: (cells: RowCells, column: number) => string) {
    this.#collector = collector;
    const { targets, labels } = collector;
    const { identifiers, version, tags } = columns;
    const textAt = (cells: RowCells, column: number | undefined) => (column === undefined ? '' : textOf(cells, column));
    this.#targets = new CellKeys(
      identifiers.map(({ column }) => column),
      (cells) => {
        const texts: string[] = [];
        for (const { column } of identifiers) texts[column] = textOf(cells, column);
        return targets.idOf(texts);
      },
    );
    this.#labels = new CellKeys(
      [version, tags].flatMap((column) => column ?? []),
      (cells) => labels.idOf(textAt(cells, version), textAt(cells, tags)),
    );
  }

  /**
   * Adds a row with a valid date and value.
   * @param dateMicros microseconds since 1970-01-01, on the local clock when `isLocal`.
   * @param isDay true when the row has a date without a time of day; `dateMicros` is then 00:00 of that day.
   */
  add(row: number, cells: RowCells, dateMicros: number, isLocal: boolean, value: number, isDay = false): void {
    const collector = this.#collector;
    const generation = collector.targets.generation + collector.labels.generation;
    if (generation !== this.#generation) {
      this.#generation = generation;
      this.#targets.clear();
      this.#labels.clear();
    }
    collector.add(row, dateMicros, isLocal, value, this.#targets.idOf(cells), this.#labels.idOf(cells), isDay);
  }
}
