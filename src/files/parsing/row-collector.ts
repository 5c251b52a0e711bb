/**
 * Rows as they were read → a chunk: good rows as columns, bad ones as errors. When the targets and labels of its rows
 * are known, the chunk becomes COPY tuples. Runs in the parser's thread; sees every row, so it makes no object per row.
 */
import { encodeReadings } from '../../points/encode-readings.ts';
import { formatInstant } from '../../points/instant-rules.ts';
import type { PointEntry } from '../../points/point.ts';
import type { Columns } from '../columns-rules.ts';
import type { RowError, RowErrorCode, RowWarning } from '../standard-file.ts';
import { LabelTable } from './label-table.ts';
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

  /** Ends the chunk; every target and label must be resolved. The collector is empty afterwards. */
  encode(): EncodedRows {
    const entries: PointEntry[] = [];
    for (let place = 0; place < this.#size; place += 1) {
      const entry = this.#toEntry(place);
      if (entry) entries.push(entry);
    }
    const encoded = {
      tuples: encodeReadings(entries),
      ingested: entries.length,
      errors: this.#errors.sort((a, b) => a.row - b.row),
      warnings: this.#warnings,
      warningCount: this.#warningCount,
    };
    this.#clear();
    return encoded;
  }

  #toEntry(place: number): PointEntry | undefined {
    const target = this.targets.get(this.#targetIds[place] ?? 0);
    const labels = this.labels.get(this.#labelIds[place] ?? 0);
    const row = this.#rows[place] ?? 0;
    if (target.kind === 'problem') {
      this.reject(row, target.problem.code, target.problem.message);
      return undefined;
    }
    if ('code' in labels) {
      this.reject(row, labels.code, labels.message);
      return undefined;
    }
    let dateMicros = this.#dates[place] ?? 0;
    if (this.#isLocal[place] === 1) {
      const { micros, kind } = target.clock(dateMicros);
      if (kind !== 'exact') this.#warn(row, kind, dateMicros, micros, target.timeZoneId);
      dateMicros = micros;
    }
    const { versionTagId, tagSetId } = labels;
    return { variableId: target.variableId, dateMicros, value: this.#values[place] ?? 0, versionTagId, tagSetId };
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
  }
}

function grown<Column extends Float64Array | Int32Array | Uint8Array>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}
