/**
 * Decodes small results in the calling thread, and large results in a worker thread. The buffers of a large result are
 * transferred to the worker. The buffers of the decoded columns and files are transferred back. The event loop of the
 * calling thread only copies the pieces of a large result as they arrive (R-H7).
 */
import { Worker } from 'node:worker_threads';
import { type ResultFrame, tryDecodeResult } from '../frame.ts';
import type { OutputColumn } from '../sandbox-types.ts';
import { INLINE_BYTES } from '../wire.ts';
import type { DecodeReply, DecodeRequest } from './decode-worker.ts';
import type { FrameLimits } from './frame-reader.ts';
import { PackedTexts } from './text-table.ts';

export interface ResultDecoder {
  /**
   * @param parts the parts of the frame. In a frame larger than INLINE_BYTES, each part must own its buffer, because
   * all buffers are transferred to the worker thread.
   * @returns null when the bytes are not exactly one result frame, or when the worker thread crashed.
   */
  decode(parts: readonly Buffer[], limits: FrameLimits): Promise<ResultFrame | null>;
  close(): Promise<void>;
}

/** Opens a decoder of results. Its worker thread starts with the first large result. */
export function openResultDecoder(): ResultDecoder {
  const waiting = new Map<number, (frame: ResultFrame | null) => void>();
  let lastId = 0;
  let worker: Worker | undefined;
  const start = (): Worker => {
    const started = new Worker(new URL('./decode-worker.ts', import.meta.url));
    started.unref();
    started.on('message', ({ id, frame }: DecodeReply) => {
      waiting.get(id)?.(frame && revive(frame));
      waiting.delete(id);
    });
    // When a frame crashes the thread, that frame and all frames queued behind it count as unreadable. The next large
    // result starts another thread.
    started.on('error', () => {});
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      for (const resolve of waiting.values()) resolve(null);
      waiting.clear();
    });
    return started;
  };
  return {
    decode: async (parts, limits) => {
      const bytes = parts.reduce((sum, { length }) => sum + length, 0);
      if (bytes <= INLINE_BYTES) return bytes > 0 ? tryDecodeResult(Buffer.concat(parts), limits) : null;
      worker ??= start();
      lastId += 1;
      const id = lastId;
      const frame = new Promise<ResultFrame | null>((resolve) => waiting.set(id, resolve));
      const buffers = parts.map(({ buffer }) => buffer as ArrayBuffer);
      worker.postMessage({ id, parts, limits } satisfies DecodeRequest, buffers);
      return frame;
    },
    close: async () => {
      await worker?.terminate();
    },
  };
}

/** Rebuilds each Buffer and each `PackedTexts`: `postMessage` does not keep these classes. */
function revive(frame: ResultFrame): ResultFrame {
  const files = frame.files.map(({ name, bytes }) => ({ name, bytes: Buffer.from(bytes.buffer) }));
  if (frame.status !== 'ok') return { ...frame, files };
  const { versions, tags, ...columns } = frame.series;
  return { ...frame, files, series: { ...columns, versions: reviveColumn(versions), tags: reviveColumn(tags) } };
}

function reviveColumn(column: OutputColumn | null): OutputColumn | null {
  if (!column || Array.isArray(column.texts)) return column;
  const { bytes, ends } = column.texts as PackedTexts;
  return { ...column, texts: new PackedTexts(bytes, ends) };
}
