/** Streams the formatted rows of a read, announces cuts of their history, and counts the open answer and its bytes. */
import type { Context } from 'hono';
import { type StreamServices, streamAnswer } from '../platform/streaming/stream-answer.ts';
import { type HistoryNotice, noticeHeaders } from '../selection/history-notice.ts';
import { countedPieces, type ReadMetrics } from './read-metrics.ts';

// A last point takes 5.7 ms, as a stream 6.3 (medians of 150 in turn, under load). The pieces of the formats have 64 KiB or
// more, except the last one, so streams begin as early as without this limit.
const WHOLE_BYTES = 16 << 10;

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
  const beforeFirst = () => {
    for (const [name, value] of noticeHeaders(notice)) c.header(name, value);
  };
  return streamAnswer(c, headers, pieces, services, { beforeFirst, wholeBytes: WHOLE_BYTES });
}
