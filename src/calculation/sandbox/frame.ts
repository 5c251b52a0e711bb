/**
 * Codec of the columnar frames that enter and leave the sandbox, little-endian; layouts in r-runtime/FRAMES.md. Pure.
 * A result comes from a script's process and is not trusted: every count is checked against the remaining bytes, every
 * code against its table.
 */
import { endianness } from 'node:os';
import { crc32 } from 'node:zlib';
import type {
  CodedText,
  DateWindow,
  OutputSeries,
  SandboxInput,
  SandboxJob,
  SandboxScalar,
  ScalarValue,
  ScriptFile,
  SeriesColumns,
  VariableInfo,
} from './sandbox-types.ts';

const REQUEST_MAGIC = 0x32514d54; // "TMQ2"
const RESULT_MAGIC = 0x32524d54; // "TMR2"
const SCALAR = { null: 0, double: 1, text: 2, logical: 3, integer: 4 } as const;
const PICTURES = { none: 0, svg: 1, png: 2 } as const;
const RESULT_STATUSES = ['ok', 'script_error', 'memory', 'output_size', 'processes'] as const;

export type FailureStatus = Exclude<(typeof RESULT_STATUSES)[number], 'ok'>;

/** A decoded result: the script's output, or why it failed. */
export type ResultFrame =
  | {
      readonly status: 'ok';
      readonly series: OutputSeries;
      readonly errors: readonly string[];
      readonly messages: readonly string[];
      readonly warnings: readonly string[];
      readonly files: readonly ScriptFile[];
    }
  | {
      readonly status: FailureStatus;
      readonly message: string;
      readonly call: string;
      readonly line: number | null;
      /** `Errors` that a script returned without a series. */
      readonly errors: readonly string[];
      readonly messages: readonly string[];
      readonly warnings: readonly string[];
      readonly files: readonly ScriptFile[];
    };

/** The bytes are not a result frame: truncated, forged, or of another version. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

if (endianness() !== 'LE') throw new Error('frames need a little-endian machine');

/** @returns the request frame of a job. A NUL in a text, which R cannot hold, becomes U+FFFD. */
export function encodeRequest(job: SandboxJob): Buffer {
  const writer = new FrameWriter();
  writer.int(REQUEST_MAGIC);
  writer.texts([job.script]);
  const given = writer.mark();
  writeScalar(writer, Math.trunc(job.triggerDate));
  writeVariable(writer, job.target);
  writeWindow(writer, job.changed);
  writeList(writer, job.inputs, writeInput);
  writeList(writer, job.forms, writeAliasedScalar);
  writeList(writer, job.constants, writeAliasedScalar);
  const seed = writer.checksumSince(given);
  writer.int(PICTURES[job.pictures ?? 'none']);
  writer.int(seed);
  return writer.finish();
}

/** Decodes the result frame of a script. @throws FrameError when the bytes are not exactly one result frame. */
export function decodeResult(bytes: Buffer): ResultFrame {
  const reader = new FrameReader(bytes);
  if (reader.int() !== RESULT_MAGIC) throw new FrameError('the result must start with TMR2');
  const status = RESULT_STATUSES[reader.int()];
  if (status === undefined) throw new FrameError('the result has an unknown status');
  const messages = reader.countedTexts();
  const warnings = reader.countedTexts();
  const body =
    status === 'ok'
      ? { status, errors: reader.countedTexts(), series: readSeries(reader), messages, warnings }
      : { ...readFailure(reader), status, messages, warnings };
  const files = readFiles(reader);
  reader.expectEnd();
  return { ...body, files };
}

function readFailure(reader: FrameReader) {
  return { message: reader.text(), call: reader.text(), line: reader.int() || null, errors: reader.countedTexts() };
}

function writeList<T>(writer: FrameWriter, items: readonly T[], write: (writer: FrameWriter, item: T) => void): void {
  writer.int(items.length);
  for (const item of items) write(writer, item);
}

function writeInput(writer: FrameWriter, input: SandboxInput): void {
  writer.texts([input.alias]);
  writeVariable(writer, input.variable);
  writeWindow(writer, input.window);
  writeSeries(writer, input.series);
}

function writeVariable(writer: FrameWriter, variable: VariableInfo): void {
  writeScalar(writer, variable.id);
  writeScalar(writer, variable.name);
  writeScalar(writer, variable.sourceId);
  writeScalar(writer, variable.granularity);
  writeScalar(writer, variable.granularityTimeBase);
  writeScalar(writer, variable.quantityType);
  writeScalar(writer, variable.aggregate);
  writeScalar(writer, variable.sourceTimeZoneId);
}

function writeWindow(writer: FrameWriter, { from, to }: DateWindow = { from: null, to: null }): void {
  writeScalar(writer, from);
  writeScalar(writer, to);
}

function writeSeries(writer: FrameWriter, series: SeriesColumns): void {
  const rows = series.dates.length;
  const lengths = [series.values.length, series.versions.codes.length, series.tags.codes.length];
  if (lengths.some((length) => length !== rows))
    throw new RangeError(`columns must have the same length, got ${rows}, ${lengths}`);
  writer.ints([rows, series.dates.BYTES_PER_ELEMENT]);
  writer.column(series.dates);
  writer.column(series.values);
  writeCoded(writer, series.versions);
  writeCoded(writer, series.tags);
}

function writeCoded(writer: FrameWriter, column: CodedText): void {
  writer.int(column.texts.length);
  writer.texts(column.texts);
  writer.column(column.codes);
}

function writeAliasedScalar(writer: FrameWriter, scalar: SandboxScalar): void {
  writer.texts([scalar.alias]);
  writeScalar(writer, scalar.value);
}

function writeScalar(writer: FrameWriter, value: ScalarValue): void {
  if (value === null) writer.int(SCALAR.null);
  else if (typeof value === 'boolean') writer.ints([SCALAR.logical, value ? 1 : 0]);
  else if (typeof value === 'string') {
    writer.int(SCALAR.text);
    writer.texts([value]);
  } else if (isRInteger(value)) writer.ints([SCALAR.integer, value]);
  else {
    writer.int(SCALAR.double);
    writer.column(Float64Array.of(value));
  }
}

/** R's smallest 32-bit integer means NA; −0 is a double. */
function isRInteger(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 31 && !Object.is(value, -0);
}

function readSeries(reader: FrameReader): OutputSeries {
  return {
    dates: reader.doubles(reader.count(8)),
    values: reader.doubles(reader.count(8)),
    versions: reader.codedTexts(),
    tags: reader.codedTexts(),
  };
}

function readFiles(reader: FrameReader): readonly ScriptFile[] {
  const files: ScriptFile[] = [];
  for (let left = reader.count(8); left > 0; left -= 1) files.push({ name: reader.text(), bytes: reader.blob() });
  return files;
}

class FrameWriter {
  readonly #parts: Uint8Array[] = [];

  int(value: number): void {
    this.ints([value]);
  }

  ints(values: readonly number[]): void {
    this.column(Int32Array.from(values));
  }

  column(values: Int32Array | Float64Array): void {
    this.#parts.push(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }

  /** All byte lengths, then all bytes. */
  texts(texts: readonly string[]): void {
    const encoded = texts.map((text) => Buffer.from(text.replaceAll('\0', '\uFFFD')));
    this.ints(encoded.map((bytes) => bytes.length));
    this.#parts.push(...encoded);
  }

  mark(): number {
    return this.#parts.length;
  }

  /** @returns 31 bits over everything written since the mark. */
  checksumSince(mark: number): number {
    return this.#parts.slice(mark).reduce((sum, part) => crc32(part, sum), 0) >>> 1;
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

class FrameReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int(): number {
    this.#require(4);
    this.#at += 4;
    return this.#bytes.readInt32LE(this.#at - 4);
  }

  /** A count of items of at least `itemBytes` each, which must fit into what is left. */
  count(itemBytes: number): number {
    const count = this.int();
    if (count < 0) throw new FrameError(`a count must not be negative, got ${count}`);
    this.#require(count * itemBytes);
    return count;
  }

  ints(count: number): Int32Array {
    return new Int32Array(this.#copy(count * 4));
  }

  doubles(count: number): Float64Array {
    return new Float64Array(this.#copy(count * 8));
  }

  blob(): Buffer {
    return Buffer.from(this.#copy(this.count(1)));
  }

  text(): string {
    return this.#texts(1)[0] ?? '';
  }

  countedTexts(): string[] {
    return this.#texts(this.count(4));
  }

  /** Null when the column is absent (count −1). Every code is one of the table. */
  codedTexts(): CodedText | null {
    const rows = this.int();
    if (rows === -1) return null;
    if (rows < 0) throw new FrameError(`a count must not be negative, got ${rows}`);
    const texts = this.countedTexts();
    const codes = this.ints(rows);
    for (const code of codes) {
      if (code < 0 || code >= texts.length) {
        throw new FrameError(`a code must be in the table of ${texts.length} texts, got ${code}`);
      }
    }
    return { codes, texts };
  }

  expectEnd(): void {
    const rest = this.#bytes.length - this.#at;
    if (rest > 0) throw new FrameError(`the result must end with its frame, got ${rest} more bytes`);
  }

  #texts(count: number): string[] {
    const lengths = this.ints(count);
    return Array.from(lengths, (length) => {
      if (length < 0) throw new FrameError(`the length of a text must not be negative, got ${length}`);
      this.#require(length);
      this.#at += length;
      return this.#bytes.toString('utf8', this.#at - length, this.#at);
    });
  }

  /** A copy, because views need an alignment that a position in a frame does not have. */
  #copy(length: number): ArrayBuffer {
    this.#require(length);
    const copy = new Uint8Array(length);
    copy.set(this.#bytes.subarray(this.#at, this.#at + length));
    this.#at += length;
    return copy.buffer;
  }

  #require(length: number): void {
    const rest = this.#bytes.length - this.#at;
    if (length > rest) throw new FrameError(`the result is truncated: ${length} bytes expected, ${rest} left`);
  }
}
