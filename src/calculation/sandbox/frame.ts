/**
 * Encodes the frames that enter the sandbox and decodes the frames that leave it. The frames are columnar and
 * little-endian; r-runtime/FRAMES.md describes their layouts. Pure. A result comes from a script's process and is not
 * trusted: every count is checked against the remaining bytes, every code against its table.
 */
import { endianness } from 'node:os';
import { crc32 } from 'node:zlib';
import { FrameError, type FrameLimits, FrameReader, PointLimitError } from './results/frame-reader.ts';
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

/** A decoded result: the script's output, or the reason why the script failed. */
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
      /** Texts of the result's member `Errors`, when the script returned no series. */
      readonly errors: readonly string[];
      readonly messages: readonly string[];
      readonly warnings: readonly string[];
      readonly files: readonly ScriptFile[];
    };

if (endianness() !== 'LE') throw new Error('Tidemark needs a little-endian machine: frames to R are little-endian');

/** @returns the request frame of a job. In texts, NUL becomes U+FFFD, because a text in R cannot contain NUL. */
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

/**
 * Maximum number of files in a result. It protects against a forged result: the runner itself keeps at most 20 files
 * (r-runtime/R/files.R).
 */
const MAX_FILES = 100;
/**
 * Decodes the result frame of a script (R-H7).
 * @returns null when the bytes are not exactly one result frame.
 * @throws {Error} only for a bug in the decoder.
 */
export function tryDecodeResult(bytes: Buffer, limits: FrameLimits): ResultFrame | null {
  try {
    return decodeResult(bytes, limits);
  } catch (error) {
    if (error instanceof FrameError) return null;
    throw error;
  }
}

/**
 * Decodes a script's result frame. Returns the status `output_size` when the result has more than `maxPoints` points;
 * the bytes after their count are then not checked. Cuts the lists of messages, warnings and errors to `maxTextBytes`
 * bytes each.
 * @throws FrameError when the bytes are not exactly one result frame.
 */
export function decodeResult(bytes: Buffer, limits: FrameLimits): ResultFrame {
  const reader = new FrameReader(bytes, limits);
  if (reader.int() !== RESULT_MAGIC) throw new FrameError('the result must start with TMR2');
  const code = reader.int();
  const status = RESULT_STATUSES[code];
  if (status === undefined) throw new FrameError(`the result has an unknown status: ${code}`);
  const messages = reader.notes();
  const warnings = reader.notes();
  try {
    return decodeRest(reader, status, { messages, warnings });
  } catch (error) {
    if (!(error instanceof PointLimitError)) throw error;
    const nothing = { message: '', call: '', line: null, errors: [], files: [] };
    return { status: 'output_size', ...nothing, messages, warnings };
  }
}

function decodeRest(
  reader: FrameReader,
  status: (typeof RESULT_STATUSES)[number],
  notes: Pick<ResultFrame, 'messages' | 'warnings'>,
): ResultFrame {
  const body =
    status === 'ok'
      ? { status, errors: reader.notes(), series: readSeries(reader), ...notes }
      : { ...readFailure(reader), status, ...notes };
  const files = readFiles(reader);
  reader.expectEnd();
  return { ...body, files };
}

function readFailure(reader: FrameReader) {
  return { message: reader.text(), call: reader.text(), line: reader.int() || null, errors: reader.notes() };
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
    throw new RangeError(`the columns of an input must have the same length, got ${[rows, ...lengths].join(', ')}`);
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

/** @returns true for a number that R can hold as an integer. R uses −2³¹ for NA, and has no integer −0. */
function isRInteger(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 31 && !Object.is(value, -0);
}

function readSeries(reader: FrameReader): OutputSeries {
  return {
    dates: reader.doubles(reader.rows(8)),
    values: reader.doubles(reader.rows(8)),
    versions: reader.codedTexts(),
    tags: reader.codedTexts(),
  };
}

function readFiles(reader: FrameReader): readonly ScriptFile[] {
  const files: ScriptFile[] = [];
  const count = reader.count(8);
  if (count > MAX_FILES) throw new FrameError(`a result must have at most ${MAX_FILES} files, got ${count}`);
  for (let left = count; left > 0; left -= 1) files.push({ name: reader.text(), bytes: reader.blob() });
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

  /** Writes the byte lengths of all texts, then the bytes of all texts. */
  texts(texts: readonly string[]): void {
    const encoded = texts.map((text) => Buffer.from(text.replaceAll('\0', '\uFFFD')));
    this.ints(encoded.map((bytes) => bytes.length));
    this.#parts.push(...encoded);
  }

  mark(): number {
    return this.#parts.length;
  }

  /** @returns a 31-bit checksum of everything written since `mark()` returned `mark`. */
  checksumSince(mark: number): number {
    return this.#parts.slice(mark).reduce((sum, part) => crc32(part, sum), 0) >>> 1;
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
