/** Worker thread that decodes large results for result-decoder.ts. */
import { parentPort } from 'node:worker_threads';
import { type ResultFrame, tryDecodeResult } from '../frame.ts';
import type { FrameLimits } from './frame-reader.ts';
import { PackedTexts } from './text-table.ts';

export interface DecodeRequest {
  readonly id: number;
  /** Parts of the frame, in order; their buffers are transferred. */
  readonly parts: readonly Uint8Array[];
  readonly limits: FrameLimits;
}

export interface DecodeReply {
  readonly id: number;
  readonly frame: ResultFrame | null;
}

parentPort?.on('message', ({ id, parts, limits }: DecodeRequest) => {
  const frame = tryDecodeResult(Buffer.concat(parts), limits);
  parentPort?.postMessage({ id, frame } satisfies DecodeReply, frame ? buffersOf(frame) : []);
});

function buffersOf(frame: ResultFrame): ArrayBuffer[] {
  const buffers: ArrayBufferLike[] = frame.files.map(({ bytes }) => bytes.buffer);
  if (frame.status === 'ok') {
    const { dates, values, versions, tags } = frame.series;
    buffers.push(dates.buffer, values.buffer);
    for (const column of [versions, tags]) {
      if (column) buffers.push(column.codes.buffer);
      if (column?.texts instanceof PackedTexts) buffers.push(column.texts.bytes.buffer, column.texts.ends.buffer);
    }
  }
  return buffers as ArrayBuffer[];
}
