/**
 * Scans the bytes of a large push. Readings of the common shape, `{"date":"…","value":…}` with optional labels after it,
 * go straight into columns, five times faster than JSON.parse. Other readings and the rest of each element go through
 * JSON.parse and `PushReader` one by one. On any problem the scanner gives up; `parsePush` then parses the whole body and
 * reports the problems. A property test holds both to the same result.
 */
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  hasName,
  OPEN_BRACE,
  OPEN_BRACKET,
  skipColon,
  skipNested,
  skipSpace,
  skipText,
  skipValue,
} from './json-scanner.ts';
import type { GivenLabels } from './label-table-rules.ts';
import { isObject, type Members, PushReader } from './parse-push.ts';
import type { PushContents, PushLimits, TargetIdentifiers } from './push-element.ts';
import { DateScanner, scanValue } from './reading-scanner.ts';

export interface ScannedPush {
  readonly contents: PushContents;
  readonly elementPlaces: readonly Piece[];
}

/** A range of bytes; end exclusive. */
type Piece = readonly [start: number, end: number];

const NAME_DATA = Buffer.from('data');
const NAME_DATE = Buffer.from('date');
const NAME_VALUE = Buffer.from('value');
// The shortest valid reading: {"date":"2026-01-01T00:00","value":1}
const MIN_READING_BYTES = 37;
// Pieces for JSON.parse, one reading or an element without its readings, are normally far smaller.
const MAX_PIECE_BYTES = 1 << 16;
const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @returns undefined if `parsePush` must parse the body instead. */
export function scanPush(bytes: Uint8Array, limits: PushLimits): ScannedPush | undefined {
  try {
    return new PushScanner(bytes, limits).scan();
  } catch (error) {
    if (error instanceof UnreadablePieceError) return undefined;
    throw error;
  }
}

class UnreadablePieceError extends Error {}

/** Each `#scan…` method takes the position of a first byte and returns the position after the last, or -1 to give up. */
class PushScanner {
  readonly #bytes: Uint8Array;
  readonly #limits: PushLimits;
  readonly #capacity: number;
  readonly #reader: PushReader;
  readonly #dates = new DateScanner();
  readonly #targets: TargetIdentifiers[] = [];
  readonly #readingCounts: number[] = [];
  readonly #elementPlaces: Piece[] = [];
  /** Own labels of this element's readings; `columns` holds the index, 0: none. */
  #own: (GivenLabels | undefined)[] = [undefined];
  /** Bytes after date and value of the last reading with labels; the next reading often repeats them. */
  #tail: Uint8Array = new Uint8Array();

  constructor(bytes: Uint8Array, limits: PushLimits) {
    this.#bytes = bytes;
    this.#limits = limits;
    this.#capacity = Math.min(limits.maxReadings, Math.ceil(bytes.length / MIN_READING_BYTES));
    this.#reader = new PushReader(this.#capacity);
  }

  scan(): ScannedPush | undefined {
    const bytes = this.#bytes;
    let place = skipSpace(bytes, 0);
    if (bytes[place] !== OPEN_BRACKET) return undefined;
    do {
      if (this.#targets.length === this.#limits.maxElements) return undefined;
      place = this.#scanElement(skipSpace(bytes, place + 1));
      if (place < 0) return undefined;
      place = skipSpace(bytes, place);
    } while (bytes[place] === COMMA);
    const isWhole = bytes[place] === CLOSE_BRACKET && skipSpace(bytes, place + 1) === bytes.length;
    if (!isWhole) return undefined;
    return {
      contents: this.#reader.finish(this.#targets, this.#readingCounts),
      elementPlaces: this.#elementPlaces,
    };
  }

  #scanElement(start: number): number {
    const bytes = this.#bytes;
    if (bytes[start] !== OPEN_BRACE) return -1;
    const firstRow = this.#reader.row;
    let place = start;
    let dataStart = -1;
    let dataEnd = -1;
    do {
      const name = skipSpace(bytes, place + 1);
      const value = this.#skipName(name);
      if (value < 0) return -1;
      if (hasName(bytes, name, NAME_DATA)) {
        if (dataStart >= 0 || bytes[value] !== OPEN_BRACKET) return -1;
        dataStart = value;
        place = dataEnd = this.#scanReadings(value);
      } else place = skipValue(bytes, value);
      if (place < 0) return -1;
      place = skipSpace(bytes, place);
    } while (bytes[place] === COMMA);
    if (bytes[place] !== CLOSE_BRACE || dataStart < 0) return -1;
    const end = place + 1;
    if (!this.#readHead(firstRow, [start, dataStart], [dataEnd, end])) return -1;
    this.#elementPlaces.push([start, end]);
    return end;
  }

  /** @returns the position of the member's value. */
  #skipName(at: number): number {
    const end = skipText(this.#bytes, at);
    if (end < 0) return -1;
    // A name with escapes could still mean `data`.
    for (let place = at; place < end; place += 1) if (this.#bytes[place] === BACKSLASH) return -1;
    return skipColon(this.#bytes, end);
  }

  /** Parses the members before and after an element's readings. */
  #readHead(firstRow: number, before: Piece, after: Piece): boolean {
    const reader = this.#reader;
    const head = this.#parse('', before, '[]', after) as Members;
    const { target, given } = reader.readHead(head, '$');
    if (reader.details.length > 0) return false;
    this.#targets.push(target);
    this.#readingCounts.push(reader.row - firstRow);
    this.#placeLabels(firstRow, given);
    return true;
  }

  #placeLabels(firstRow: number, given: GivenLabels): void {
    const { columns, labels, row } = this.#reader;
    if (row === firstRow) return;
    if (this.#own.length === 1) {
      columns.fill(labels.placeOf(given), firstRow, row);
      return;
    }
    const places = this.#own.map((own) => labels.placeOf(given, own));
    for (let one = firstRow; one < row; one += 1) columns[one] = places[columns[one] as number] as number;
    this.#own = [undefined];
    this.#tail = new Uint8Array();
  }

  #scanReadings(at: number): number {
    const bytes = this.#bytes;
    const reader = this.#reader;
    let place = skipSpace(bytes, at + 1);
    if (bytes[place] === CLOSE_BRACKET) return place + 1;
    for (;;) {
      if (reader.row === this.#capacity) return -1;
      const end = this.#scanReading(place);
      place = end < 0 ? this.#readReading(place) : end;
      if (place < 0) return -1;
      reader.row += 1;
      place = skipSpace(bytes, place);
      if (bytes[place] === CLOSE_BRACKET) return place + 1;
      if (bytes[place] !== COMMA) return -1;
      place = skipSpace(bytes, place + 1);
    }
  }

  /** Scans a reading of the common shape: date and value first, in either order. */
  #scanReading(start: number): number {
    const bytes = this.#bytes;
    if (bytes[start] !== OPEN_BRACE) return -1;
    const name = skipSpace(bytes, start + 1);
    const isDateFirst = hasName(bytes, name, NAME_DATE);
    const first = isDateFirst ? this.#scanDate(name) : this.#scanValue(name);
    if (first < 0) return -1;
    const comma = skipSpace(bytes, first);
    if (bytes[comma] !== COMMA) return -1;
    const next = skipSpace(bytes, comma + 1);
    const second = isDateFirst ? this.#scanValue(next) : this.#scanDate(next);
    if (second < 0) return -1;
    const place = skipSpace(bytes, second);
    if (bytes[place] === CLOSE_BRACE) return place + 1;
    return bytes[place] === COMMA ? this.#scanLabels(place) : -1;
  }

  #scanDate(at: number): number {
    if (!hasName(this.#bytes, at, NAME_DATE)) return -1;
    const value = skipColon(this.#bytes, at + NAME_DATE.length + 2);
    return value < 0 ? -1 : this.#dates.scan(this.#bytes, value, this.#reader);
  }

  #scanValue(at: number): number {
    if (!hasName(this.#bytes, at, NAME_VALUE)) return -1;
    const value = skipColon(this.#bytes, at + NAME_VALUE.length + 2);
    return value < 0 ? -1 : scanValue(this.#bytes, value, this.#reader);
  }

  /** Scans the members after date and value of a reading. @param at position of the comma. */
  #scanLabels(at: number): number {
    const bytes = this.#bytes;
    if (this.#hasTail(at)) {
      this.#reader.columns[this.#reader.row] = this.#own.length - 1;
      return at + this.#tail.length;
    }
    let comma = at;
    do {
      const value = this.#skipName(skipSpace(bytes, comma + 1));
      const end = value < 0 ? -1 : skipValue(bytes, value);
      if (end < 0) return -1;
      comma = skipSpace(bytes, end);
    } while (bytes[comma] === COMMA);
    if (bytes[comma] !== CLOSE_BRACE) return -1;
    const labels = this.#parse('{', [at + 1, comma + 1]) as Members;
    // Repeated members: the spelling decides which one counts, so leave it to JSON.parse.
    if (Object.keys(labels).some((key) => /^(date|value)$/i.test(key))) return -1;
    const own = this.#reader.readLabels(labels, '$');
    this.#tail = bytes.subarray(at, comma + 1);
    this.#addOwn(own);
    return comma + 1;
  }

  #hasTail(at: number): boolean {
    const tail = this.#tail;
    for (let index = 0; index < tail.length; index += 1) {
      if (this.#bytes[at + index] !== tail[index]) return false;
    }
    return tail.length > 0;
  }

  /** Parses a reading of any other shape. */
  #readReading(start: number): number {
    const end = this.#bytes[start] === OPEN_BRACE ? skipNested(this.#bytes, start) : -1;
    if (end < 0) return -1;
    const reading = this.#parse('', [start, end]);
    const own = isObject(reading) ? this.#reader.readReading(reading, '$', 0) : undefined;
    this.#tail = new Uint8Array();
    if (own) this.#addOwn(own);
    else this.#reader.columns[this.#reader.row] = 0;
    return this.#reader.details.length > 0 ? -1 : end;
  }

  #addOwn(own: GivenLabels): void {
    this.#reader.columns[this.#reader.row] = this.#own.push(own) - 1;
  }

  /**
   * Joins texts and pieces of the body and parses the result as JSON.
   * @throws UnreadablePieceError if the result is not JSON, or a piece is not UTF-8 or too large.
   */
  #parse(...parts: readonly (string | Piece)[]): unknown {
    try {
      return JSON.parse(parts.map((part) => (typeof part === 'string' ? part : this.#textOf(part))).join(''));
    } catch (error) {
      throw new UnreadablePieceError('a piece of the body is not JSON', { cause: error });
    }
  }

  #textOf([start, end]: Piece): string {
    if (end - start > MAX_PIECE_BYTES) throw new UnreadablePieceError('a piece of the body is too large');
    return UTF_8.decode(this.#bytes.subarray(start, end));
  }
}
