/**
 * Framing of the connection to a supervisor. This process sends a run header and the request frame; the supervisor
 * answers with chunks, the last of which is the trailer. The counterpart is r-runtime/src/sandbox.h. Only the
 * supervisor writes chunk headers and the trailer; a script chooses only the bytes inside `result` and `text` chunks
 * and, in the trailer, the line number and how R ends (`end` and `code`).
 */
import type { RunLimits } from './sandbox-types.ts';

const RUN_MAGIC = 0x31484d54; // "TMH1"
const TRAILER_MAGIC = 0x31544d54; // "TMT1"
const HEADER_BYTES = 64;
const TRAILER_BYTES = 64;
const CHUNK = { result: 1, text: 2, trailer: 3 } as const;

/** Number of bytes of a result row without its texts, and the number of bytes allowed for the rest of the result. */
const BYTES_PER_POINT = 24;
const TEXT_ALLOWANCE_BYTES = 64 << 20;

const ENDS = ['exited', 'signalled', 'setup_failed'] as const;
const LIMITS = [null, 'wall_time', 'cpu_time', 'memory', 'output_size', 'processes'] as const;
const STAGES = [
  'nothing',
  'reading the run header',
  'opening pipes',
  'entering new namespaces',
  'writing the user and group id maps',
  'starting a process',
  'starting a new session with the highest OOM score',
  'making mounts private',
  'making the file system read-only',
  'mounting a private /tmp',
  'mounting a private /proc',
  'hiding the socket directory',
  'arranging the descriptors',
  'setting resource limits',
  'dropping capabilities',
  'installing the system-call filter',
] as const;

/** The supervisor's report. `code` is an exit code or a signal number. */
export interface Trailer {
  readonly end: (typeof ENDS)[number];
  readonly code: number;
  readonly limit: (typeof LIMITS)[number];
  /** For `setup_failed`: the step that failed, and its errno. */
  readonly stage: string;
  readonly errno: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly maxRssBytes: number;
  /** Number of bytes that the script printed, including the bytes that the supervisor dropped. */
  readonly textBytes: number;
  /**
   * Line of the last top-level expression that the script reached, counted from 1; null when it reached none. The
   * script can forge this number.
   */
  readonly line: number | null;
}

/** Results up to this size are decoded on the event loop. */
export const INLINE_BYTES = 1 << 20;
/** Size of the blocks that collect a result larger than INLINE_BYTES. Their buffers can be transferred to a thread. */
const BLOCK_BYTES = 4 << 20;

/** Everything received on one connection. `trailer` is null when none arrived, for example if the supervisor died. */
export interface Answer {
  /** Parts of the result. In a result larger than INLINE_BYTES, each part owns its buffer. */
  readonly result: readonly Buffer[];
  readonly output: string;
  /** Bytes of the output as received. In `output`, a byte that is not UTF-8 became a character of three bytes. */
  readonly outputBytes: number;
  readonly trailer: Trailer | null;
}

/** @returns the maximum number of bytes of a result that may have `maxPoints` points. */
export function maxResultBytes(maxPoints: number): number {
  return maxPoints * BYTES_PER_POINT + TEXT_ALLOWANCE_BYTES;
}

/**
 * Encodes the header of a run: 64 bytes with the limits of the run.
 * @param frameBytes number of bytes of the request frame, which follows the header.
 */
export function encodeRunHeader(limits: RunLimits, frameBytes: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(RUN_MAGIC, 0);
  header.writeUInt32LE(1, 4);
  header.writeBigUInt64LE(BigInt(frameBytes), 8);
  header.writeUInt32LE(limits.wallTimeMs, 16);
  header.writeUInt32LE(limits.cpuTimeSec, 20);
  header.writeBigUInt64LE(BigInt(limits.memoryBytes), 24);
  header.writeBigUInt64LE(BigInt(limits.tmpBytes), 32);
  header.writeUInt32LE(limits.maxProcesses, 40);
  header.writeUInt32LE(limits.maxTextBytes, 44);
  header.writeBigUInt64LE(BigInt(maxResultBytes(limits.maxPoints)), 48);
  header.writeUInt32LE(limits.maxPoints, 56);
  return header;
}

/** Parses an answer as it arrives. If the answer breaks off, the trailer is null. */
export class AnswerReader {
  /** Small result: its pieces as they arrived. Large result: its full blocks; `#block` is the block being filled. */
  #results: Buffer[] = [];
  #resultBytes = 0;
  #block: Buffer | undefined;
  #blockBytes = 0;
  #pending: Buffer = Buffer.alloc(0);
  #output = '';
  #outputBytes = 0;
  #trailer: Trailer | null = null;

  /** @returns true once the trailer, which is the last chunk, has arrived. */
  take(bytes: Buffer): boolean {
    this.#pending = this.#pending.length > 0 ? Buffer.concat([this.#pending, bytes]) : bytes;
    for (;;) {
      const end = this.#pending.length < 8 ? 8 : 8 + this.#pending.readUInt32LE(4);
      if (this.#pending.length < end) return this.#trailer !== null;
      this.#takeChunk(this.#pending.readUInt32LE(0), this.#pending.subarray(8, end));
      this.#pending = this.#pending.subarray(end);
    }
  }

  answer(): Answer {
    const last = this.#block ? [this.#block.subarray(0, this.#blockBytes)] : [];
    return {
      result: [...this.#results, ...last],
      output: this.#output,
      outputBytes: this.#outputBytes,
      trailer: this.#trailer,
    };
  }

  #takeChunk(kind: number, payload: Buffer): void {
    if (kind === CHUNK.result) this.#takeResult(payload);
    else if (kind === CHUNK.text) {
      this.#output = payload.toString('utf8');
      this.#outputBytes = payload.length;
    } else if (kind === CHUNK.trailer) this.#trailer = decodeTrailer(payload);
  }

  #takeResult(payload: Buffer): void {
    const wasSmall = this.#resultBytes <= INLINE_BYTES;
    this.#resultBytes += payload.length;
    if (this.#resultBytes <= INLINE_BYTES) {
      this.#results.push(payload);
      return;
    }
    const pieces = wasSmall ? this.#results : [];
    if (wasSmall) this.#results = [];
    for (const piece of [...pieces, payload]) this.#fillBlocks(piece);
  }

  #fillBlocks(piece: Buffer): void {
    for (let from = 0; from < piece.length; ) {
      if (this.#block && this.#blockBytes === BLOCK_BYTES) this.#results.push(this.#block);
      if (!this.#block || this.#blockBytes === BLOCK_BYTES) {
        this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
        this.#blockBytes = 0;
      }
      const copied = piece.copy(this.#block, this.#blockBytes, from);
      this.#blockBytes += copied;
      from += copied;
    }
  }
}

function decodeTrailer(chunk: Buffer): Trailer | null {
  if (chunk.length !== TRAILER_BYTES || chunk.readUInt32LE(0) !== TRAILER_MAGIC) return null;
  const end = ENDS[chunk.readInt32LE(4)];
  const limit = LIMITS[chunk.readInt32LE(12)];
  if (end === undefined || limit === undefined) return null;
  return {
    end,
    code: chunk.readInt32LE(8),
    limit,
    stage: STAGES[chunk.readInt32LE(16)] ?? 'an unknown step',
    errno: chunk.readInt32LE(20),
    wallMs: Number(chunk.readBigUInt64LE(24)) / 1000,
    cpuMs: Number(chunk.readBigUInt64LE(32)) / 1000,
    maxRssBytes: Number(chunk.readBigUInt64LE(40)),
    textBytes: Number(chunk.readBigUInt64LE(48)),
    line: Math.max(0, chunk.readInt32LE(56)) || null,
  };
}
