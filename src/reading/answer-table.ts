/** Streams the formatted rows of a read and counts the open answer and its bytes. */
import type { Context } from 'hono';
import { type StreamServices, streamAnswer } from '../platform/streaming/stream-answer.ts';
import { countedPieces, type ReadMetrics } from './read-metrics.ts';

/** @param write as for `streamAnswer`. @throws the error of the first piece. */
export function answerTable(
  c: Context,
  contentType: string,
  write: (signal: AbortSignal) => AsyncGenerator<Uint8Array>,
  services: StreamServices & { readonly readMetrics: ReadMetrics },
): Promise<Response> {
  const headers = { 'Content-Type': contentType, Vary: 'Accept' };
  return streamAnswer(c, headers, (signal) => countedPieces(write(signal), services.readMetrics), services);
}
