/**
 * Answers with the formatted rows of a read, adds headers about history cuts and rollups, and counts open answers and
 * their bytes.
 */
import type { Context } from 'hono';
import { type StreamServices, streamAnswer } from '../platform/streaming/stream-answer.ts';
import { type HistoryNotice, noticeHeaders } from '../selection/history-notice.ts';
import { countedPieces, type ReadMetrics } from './read-metrics.ts';

// Answers up to this size are sent whole, not as a stream: reading a last point takes 5.7 ms whole and 6.3 ms as a
// stream (medians of 150 alternating reads, under load). Waiting for this many bytes delays few streams, because the
// first chunk of most long answers is larger.
const WHOLE_BYTES = 16 << 10;

/**
 * @param write as for `streamAnswer`.
 * @param notice notice of history cuts and rollups; `write` fills it before it yields the first chunk (R-F9).
 * @throws as `streamAnswer`.
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
