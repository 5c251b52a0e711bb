/**
 * Answers with the formatted rows of a read, adds headers about history cuts and rollups, and counts open answers and
 * their bytes.
 */
import type { Context } from 'hono';
import { type StreamServices, streamAnswer } from '../platform/streaming/stream-answer.ts';
import { type HistoryNotice, noticeHeaders } from '../selection/history-notice.ts';
import { countedPieces, type ReadMetrics } from './read-metrics.ts';

// An answer up to this size is sent whole, because this is faster: 5.7 instead of 6.3 ms for one point. A longer answer
// begins only after this many bytes are ready.
const WHOLE_BYTES = 16 << 10;

/**
 * @param write the same as for `streamAnswer`.
 * @param notice lists the history cuts and the rollups that concern the answer. `write` fills the notice before it
 * yields the first chunk (R-F9).
 * @throws the errors of `streamAnswer`.
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
