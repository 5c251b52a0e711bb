/**
 * Rows as they were read → a chunk: good rows as columns, bad ones as errors. When the targets and labels of its rows
 * are known, the chunk becomes COPY tuples. Runs in the parser's thread; sees every row, so it makes no object per row.
 */

import { formatInstant } from '../../platform/dates/instant-rules.ts';
import { TUPLE_BYTES, TupleWriter } from '../../points/copy-codec.ts';
import type { RowError, RowErrorCode, RowWarning } from '../standard-file.ts';
import type { Columns } from './columns-rules.ts';
import { LabelTable } from './label-table.ts';
import { orderRows } from './order-rows-rules.ts';
import { TargetTable } from './target-table.ts';

const FIRST_CAPACITY = 65_536;
const MAX_WARNINGS = 100;

export interface EncodedRows {
  /** COPY tuples, less repeats (R-D5). */
  readonly tuples: Buffer;
  /** Rows that were ingested, repeats included. */
  readonly ingested: number;
  readonly errors: readonly RowError[];
  /** The first 100; `warningCount` counts all. */
  readonly warnings: readonly RowWarning[];
  readonly warningCount: number;
}

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

  /** @param decode a cell as it was read → its text, undefined when it is not UTF-8. */
  constructor(columns: Columns, decode: (text: string) => string | undefined) {
    this.targets = new TargetTable(columns.identifiers, decode);
    this.labels = new LabelTable(decode);
  }

  /** Rows taken since the last chunk, good and bad. */
  get count(): number {
    return this.#size + this.#errors.length;
  }

  add(row: number, dateMicros: number, isLocal: boolean, value: number, targetId: number, labelId: number): void {
    if (this.#size === this.#rows.length) this.#grow();
    const place = this.#size++;
    this.#rows[place] = row;
    this.#dates[place] = dateMicros;
    this.#isLocal[place] = isLocal ? 1 : 0;
    this.#values[place] = value;
    this.#targetIds[place] = targetId;
    this.#labelIds[place] = labelId;
  }

  reject(row: number, code: RowErrorCode, message: string): void {
    this.#errors.push({ row, code, message });
  }

  /**
   * Ends the chunk; every target and label must be resolved. The collector is empty afterwards.
   * @param roomFor memory for so many bytes of tuples.
   */
  encode(roomFor: (bytes: number) => Buffer = Buffer.allocUnsafeSlow): EncodedRows {
    const size = this.#settle();
    const columns = { size, variableIds: this.#targetIds, dates: this.#dates, versionTagIds: this.#labelIds };
    const encoded = {
      tuples: this.#toTuples(size, orderRows(columns), roomFor),
      ingested: size,
      errors: this.#errors.sort((a, b) => a.row - b.row),
      warnings: this.#warnings,
      warningCount: this.#warningCount,
    };
    this.#clear();
    return encoded;
  }

  /**
   * Moves the rows that are ingested to the front, with ids of variables, VersionTags and tag sets in place of our own
   * numbers, and instants in place of local dates. The others become errors.
   * @returns how many are left.
   */
  #settle(): number {
    let count = 0;
    for (let place = 0; place < this.#size; place += 1) {
      const target = this.targets.get(this.#targetIds[place] as number);
      const labels = this.labels.get(this.#labelIds[place] as number);
      const row = this.#rows[place] as number;
      const problem = target.kind === 'problem' ? target.problem : 'code' in labels ? labels : undefined;
      if (problem) this.reject(row, problem.code, problem.message);
      if (target.kind === 'problem' || 'code' in labels) continue;
      let date = this.#dates[place] as number;
      if (this.#isLocal[place] === 1) {
        const { micros, kind } = target.clock(date);
        if (kind !== 'exact') this.#warn(row, kind, date, micros, target.timeZoneId);
        date = micros;
      }
      this.#targetIds[count] = target.variableId;
      this.#dates[count] = date;
      this.#values[count] = this.#values[place] as number;
      this.#labelIds[count] = labels.versionTagId;
      this.#tagSetIds[count] = labels.tagSetId;
      count += 1;
    }
    return count;
  }

  #toTuples(size: number, order: Uint32Array | undefined, roomFor: (bytes: number) => Buffer): Buffer {
    const count = order?.length ?? size;
    const writer = new TupleWriter(count, roomFor(count * TUPLE_BYTES));
    for (let index = 0; index < count; index += 1) {
      const place = order ? (order[index] as number) : index;
      writer.add(
        this.#targetIds[place] as number,
        this.#dates[place] as number,
        this.#values[place] as number,
        this.#labelIds[place] as number,
        this.#tagSetIds[place] as number,
      );
    }
    return writer.finish();
  }

  #warn(row: number, kind: 'ambiguous' | 'skipped', localMicros: number, micros: number, timeZoneId: string): void {
    this.#warningCount += 1;
    if (this.#warnings.length === MAX_WARNINGS) return;
    const what = kind === 'ambiguous' ? 'occurs twice; the later instant' : 'does not exist; the time after the gap';
    const local = formatInstant(localMicros).replace('Z', '');
    const message = `${local} in ${timeZoneId} ${what}, ${formatInstant(micros)}, was taken`;
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
