/** Converts points, chunk by chunk, into the columns that a script sees (R-H2). */

import type { AggregateChunk } from '../../points/buckets/bucket.ts';
import type { Labels } from '../../points/dictionary.ts';
import type { PointChunk } from '../../points/point.ts';
import type { CodedText, SeriesColumns } from '../sandbox/sandbox-types.ts';

const MICROS_PER_SECOND = 1_000_000;
/**
 * Greatest R integer; as UNIX seconds it is 2038-01-19T03:14:07Z. A column with a date outside ±MAX_R_SECONDS is sent
 * as doubles.
 */
const MAX_R_SECONDS = 2_147_483_647;

const NO_VERSION = '';
/** Cell of the column Tags in a row without tags. Every cell of this column is a JSON object as text (§2). */
const NO_TAGS = '{}';

/** The columns of one chunk. They have at most one row for each second. */
interface Part {
  readonly dates: Int32Array | Float64Array;
  readonly values: Float64Array;
  readonly versionTagIds: Int32Array | undefined;
  readonly tagSetIds: Int32Array | undefined;
}

/** Collects the chunks of one input. Chunks must ascend by date. */
export class InputColumns {
  readonly #parts: Part[] = [];
  #rows = 0;
  #points = 0;

  /** Number of points in all added chunks, including the points that are not kept. A bucket counts as one point. */
  get pointCount(): number {
    return this.#points;
  }

  add(chunk: PointChunk | AggregateChunk): void {
    const part = toPart(chunk);
    this.#points += chunk.dates.length;
    const last = this.#parts.at(-1);
    // Of the points within the same second, only the last is kept, even when the points are in different chunks (R-H2).
    if (last && part.dates.length > 0 && last.dates.at(-1) === part.dates[0]) {
      this.#parts[this.#parts.length - 1] = withoutLast(last);
      this.#rows -= 1;
    }
    this.#parts.push(part);
    this.#rows += part.dates.length;
  }

  /** Ids of the VersionTags and tag sets of the collected points, for `Dictionary.labelsOf`. */
  labelIds(): { readonly versionTagIds: Int32Array; readonly tagSetIds: Int32Array }[] {
    return this.#parts.flatMap(({ versionTagIds, tagSetIds }) =>
      versionTagIds && tagSetIds ? [{ versionTagIds, tagSetIds }] : [],
    );
  }

  finish(labels: Labels): SeriesColumns {
    const dates = newDates(
      this.#rows,
      this.#parts.some((part) => part.dates instanceof Float64Array),
    );
    const values = new Float64Array(this.#rows);
    let at = 0;
    for (const part of this.#parts) {
      dates.set(part.dates, at);
      values.set(part.values, at);
      at += part.dates.length;
    }
    const parts = this.#parts;
    const size = this.#rows;
    return {
      dates,
      values,
      versions: codeTexts(parts, size, (part) => part.versionTagIds, labels.versionTag, NO_VERSION),
      tags: codeTexts(parts, size, (part) => part.tagSetIds, labels.tags, NO_TAGS),
    };
  }
}

function newDates(count: number, isBeyondIntegers: boolean): Int32Array | Float64Array {
  return isBeyondIntegers ? new Float64Array(count) : new Int32Array(count);
}

function toPart(chunk: PointChunk | AggregateChunk): Part {
  const count = chunk.dates.length;
  // The dates of a chunk are ascending, so every date lies between the first and the last date.
  const isBeyond = [chunk.dates[0] ?? 0, chunk.dates[count - 1] ?? 0].some((micros) => !isRInteger(micros));
  const dates = newDates(count, isBeyond);
  let isDistinct = true;
  for (let row = 0; row < count; row += 1) {
    dates[row] = Math.floor((chunk.dates[row] ?? 0) / MICROS_PER_SECOND);
    if (row > 0 && dates[row - 1] === dates[row]) isDistinct = false;
  }
  const versionTagIds = 'versionTagIds' in chunk ? chunk.versionTagIds : undefined;
  const tagSetIds = 'tagSetIds' in chunk ? chunk.tagSetIds : undefined;
  const part = { dates, values: chunk.values, versionTagIds, tagSetIds };
  return isDistinct ? part : keepLasts(part);
}

function isRInteger(micros: number): boolean {
  return Math.abs(Math.floor(micros / MICROS_PER_SECOND)) <= MAX_R_SECONDS;
}

function withoutLast({ dates, values, versionTagIds, tagSetIds }: Part): Part {
  return {
    dates: dates.subarray(0, -1),
    values: values.subarray(0, dates.length - 1),
    versionTagIds: versionTagIds?.subarray(0, dates.length - 1),
    tagSetIds: tagSetIds?.subarray(0, dates.length - 1),
  };
}

function keepLasts({ dates, values, versionTagIds, tagSetIds }: Part): Part {
  const kept = Uint32Array.from([...dates.keys()].filter((row) => dates[row] !== dates[row + 1]));
  const pick = (column: Int32Array) => Int32Array.from(kept, (row) => column[row] ?? 0);
  return {
    dates: dates instanceof Float64Array ? Float64Array.from(kept, (row) => dates[row] ?? 0) : pick(dates),
    values: Float64Array.from(kept, (row) => values[row] ?? Number.NaN),
    versionTagIds: versionTagIds && pick(versionTagIds),
    tagSetIds: tagSetIds && pick(tagSetIds),
  };
}

/** Makes a table of the texts that the parts use, and converts each dictionary id to an index into this table. */
function codeTexts(
  parts: readonly Part[],
  size: number,
  columnOf: (part: Part) => Int32Array | undefined,
  textOf: (id: number) => string | null,
  none: string,
): CodedText {
  const codes = new Int32Array(size);
  const codeOf = new Map<number, number>();
  const codeFor = (id: number): number => {
    const code = codeOf.get(id) ?? codeOf.size;
    codeOf.set(id, code);
    return code;
  };
  let at = 0;
  let [lastId, lastCode] = [-1, 0];
  for (const part of parts) {
    const ids = columnOf(part);
    for (let row = 0; row < part.dates.length; row += 1, at += 1) {
      const id = ids?.[row] ?? 0;
      // Adjacent rows usually have the same id, so the code of the previous row is reused.
      if (id !== lastId) [lastId, lastCode] = [id, codeFor(id)];
      codes[at] = lastCode;
    }
  }
  return { codes, texts: Array.from(codeOf.keys(), (id) => textOf(id) ?? none) };
}
