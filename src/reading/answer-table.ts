/** Streams the formatted rows of a read, announces cuts of their history, and counts the open answer and its bytes. */
import type { Context } from 'hono';
import { type StreamServices, streamAnswer } from '../platform/streaming/stream-answer.ts';
import { type HistoryNotice, noticeHeaders } from '../selection/history-notice.ts';
import { countedPieces, type ReadMetrics } from './read-metrics.ts';

/**
 * @param write as for `streamAnswer`.
 * @param notice filled by `write` before its first piece (R-F9).
 * @throws the error of the first piece.
 */
export function answerTable(
  c: Context,
  contentType: string,
  write: (signal: AbortSignal) => AsyncGenerator<Uint8Array>,
  notice: HistoryNotice,
  services: StreamServices & { readonly readMetrics: ReadMetrics },
): Promise<Response> {
  const headers = { 'Content-Type': contentType, Vary: 'Accept' };
  const pieces = (signal: AbortSignal) => countedPieces(write(signal), services.readMetrics);
  return streamAnswer(c, headers, pieces, services, () => {
    for (const [name, value] of noticeHeaders(notice)) c.header(name, value);
  });
}
