/**
 * Collects the rows of a chunk: valid rows as columns, invalid rows as errors. After the targets and labels of the rows
 * have been resolved, encodes the valid rows as COPY tuples. Runs in the parser process. A valid row takes no object.
 */

import { LOCAL_DAY } from '../../platform/dates/date-rules.ts';
import { TUPLE_BYTES, TupleWriter } from '../../points/copy-codec.ts';
import type { Target } from '../../push/resolve-targets.ts';
import { localDateWarning } from '../../structure/catalogue/time-zones.ts';
import { MAX_WARNINGS, type RowError, type RowErrorCode, type RowWarning } from '../standard-file.ts';
import type { Columns } from './header-columns.ts';
import { LabelTable } from './label-table.ts';
import { orderRows } from './order-rows.ts';
import { TargetTable } from './target-table.ts';

const FIRST_CAPACITY = 65_536;

/** A chunk that is ready to be written. */
export interface EncodedRows {
  /** COPY tuples of the rows to be written: only the last row of each variable, date and VersionTag (R-D5). */
  readonly tuples: Buffer;
  /** Row number (see `RowError`) of the first row with a valid date and value; 0 when the chunk has no such row. */
  readonly firstRow: number;
  /** Number of valid rows, including rows that repeat a date. */
  readonly ingested: number;
  readonly errors: readonly RowError[];
  /** The first 100 warnings; `warningCount` counts all. */
  readonly warnings: readonly RowWarning[];
  readonly warningCount: number;
}

/**
 * Holds the rows of one chunk at a time. `encode` removes the rows. `targets` and `labels` keep their combinations for
 * the next chunk, unless `trim` clears the combinations.
 */
export class RowCollector {
  readonly targets: TargetTable;
  readonly labels: LabelTable;
  #size = 0;
  #rows = new Float64Array(FIRST_CAPACITY);
  #dates = new Float64Array(FIRST_CAPACITY);
  #isLocal = new Uint8Array(FIRST_CAPACITY);
  #values = new Float64Array(FIRST_CAPACITY);
  #targetIds = new Int32Array(FIRST_CAPACITY);
  #labelIds = new Int32Array(FIRST_CAPACITY);
  #tagSetIds = new Int32Array(FIRST_CAPACITY);
  #errors: RowError[] = [];
  #warnings: RowWarning[] = [];
  #warningCount = 0;

  /** @param decode decodes the raw text of a cell; returns undefined when the cell is not UTF-8. */
  constructor(columns: Columns, decode: (text: string) => string | undefined) {
    this.targets = new TargetTable(columns.identifiers, decode);
    this.labels = new LabelTable(decode);
  }

  /** Number of valid and invalid rows collected since the last call of `encode`. */
  get count(): number {
    return this.#size + this.#errors.length;
  }

  /**
   * Adds a row with a valid date and value.
   * @param dateMicros microseconds since 1970-01-01T00:00 in UTC, or in local time when `isLocal` is true.
   * @param isDay true when the row has a date without a time of day; `dateMicros` is then 00:00 of that day.
   */
  add(
    row: number,
    dateMicros: number,
    isLocal: boolean,
    value: number,
    targetId: number,
    labelId: number,
    isDay = false,
  ): void {
    if (this.#size === this.#rows.length) this.#grow();
    const at = this.#size++;
    this.#rows[at] = row;
    this.#dates[at] = dateMicros;
    this.#isLocal[at] = isDay ? LOCAL_DAY : isLocal ? 1 : 0;
    this.#values[at] = value;
    this.#targetIds[at] = targetId;
    this.#labelIds[at] = labelId;
  }

  /** Adds a row error. */
  reject(row: number, code: RowErrorCode, message: string): void {
    this.#errors.push({ row, code, message });
  }

  /**
   * Encodes the collected rows and empties the collector. Call it only when every target and label is resolved.
   * @param allocate returns memory for the given number of bytes.
   */
  encode(allocate: (bytes: number) => Buffer = Buffer.allocUnsafeSlow): EncodedRows {
    const firstRow = this.#size === 0 ? 0 : (this.#rows[0] as number);
    const size = this.#settle();
    const columns = { size, variableIds: this.#targetIds, dates: this.#dates, versionTagIds: this.#labelIds };
    const encoded = {
      tuples: this.#toTuples(size, orderRows(columns), allocate),
      firstRow,
      ingested: size,
      errors: this.#errors.sort((a, b) => a.row - b.row),
      warnings: this.#warnings,
      warningCount: this.#warningCount,
    };
    this.#clear();
    return encoded;
  }

  /**
   * Looks up the targets and labels of the rows, converts local dates to UTC, and divides values by the divider. Moves
   * valid rows to the front and turns invalid rows into errors.
   * @returns number of valid rows.
   */
  #settle(): number {
    let count = 0;
    for (let at = 0; at < this.#size; at += 1) {
      const target = this.targets.get(this.#targetIds[at] as number);
      const labels = this.labels.get(this.#labelIds[at] as number);
      const row = this.#rows[at] as number;
      const problem = target.kind === 'problem' ? target.problem : 'code' in labels ? labels : undefined;
      if (problem) this.reject(row, problem.code, problem.message);
      if (target.kind === 'problem' || 'code' in labels) continue;
      const value = (this.#values[at] as number) / target.divider;
      if (!Number.isFinite(value)) {
        this.reject(row, 'invalid_value', notFinite(target, this.#values[at] as number));
        continue;
      }
      let date = this.#dates[at] as number;
      if (this.#isLocal[at] !== 0) {
        const { micros, kind } = target.clock(date, this.#isLocal[at] === LOCAL_DAY);
        if (kind !== 'exact') this.#warn(row, kind, date, micros, target.timeZoneId);
        date = micros;
      }
      this.#targetIds[count] = target.variableId;
      this.#dates[count] = date;
      this.#values[count] = value;
      this.#labelIds[count] = labels.versionTagId;
      this.#tagSetIds[count] = labels.tagSetId;
      count += 1;
    }
    return count;
  }

  #toTuples(size: number, order: Uint32Array | undefined, allocate: (bytes: number) => Buffer): Buffer {
    const count = order?.length ?? size;
    const writer = new TupleWriter(count, allocate(count * TUPLE_BYTES));
    for (let index = 0; index < count; index += 1) {
      const at = order ? (order[index] as number) : index;
      writer.add(
        this.#targetIds[at] as number,
        this.#dates[at] as number,
        this.#values[at] as number,
        this.#labelIds[at] as number,
        this.#tagSetIds[at] as number,
      );
    }
    return writer.finish();
  }

  #warn(row: number, kind: 'ambiguous' | 'skipped', localMicros: number, micros: number, timeZoneId: string): void {
    this.#warningCount += 1;
    if (this.#warnings.length === MAX_WARNINGS) return;
    const message = localDateWarning(kind, localMicros, micros, timeZoneId);
    this.#warnings.push({ row, code: `${kind}_local_date`, message });
  }

  #clear(): void {
    this.#size = 0;
    this.#errors = [];
    this.#warnings = [];
    this.#warningCount = 0;
    this.targets.trim();
    this.labels.trim();
  }

  #grow(): void {
    const capacity = this.#rows.length * 2;
    this.#rows = grown(this.#rows, new Float64Array(capacity));
    this.#dates = grown(this.#dates, new Float64Array(capacity));
    this.#isLocal = grown(this.#isLocal, new Uint8Array(capacity));
    this.#values = grown(this.#values, new Float64Array(capacity));
    this.#targetIds = grown(this.#targetIds, new Int32Array(capacity));
    this.#labelIds = grown(this.#labelIds, new Int32Array(capacity));
    this.#tagSetIds = grown(this.#tagSetIds, new Int32Array(capacity));
  }
}

function grown<Column extends Float64Array | Int32Array | Uint8Array>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}

function notFinite({ variableId, divider }: Target, value: number): string {
  return `value must be finite after division by ${divider}, the divider of variable ${variableId}, got ${value}`;
}
