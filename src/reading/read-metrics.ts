/** What is counted of points being read over REST (R-A9). */
import type { Count, Metrics } from '../platform/metrics/metrics.ts';

export interface ReadMetrics {
  /** Points or buckets handed to the writers of formats. */
  readonly points: Count;
  /** Of the answers, before compression. */
  readonly bytes: Count;
  /** An answer begins to be written; call what is returned, once, when it is over. */
  openStream(): () => void;
}

export function createReadMetrics(metrics: Metrics): ReadMetrics {
  const counter = (name: string, help: string) => metrics.counter({ name, help })({});
  let open = 0;
  metrics.gauge({ name: 'tidemark_read_open_streams', help: 'Answers of points being streamed.' }, () => open);
  return {
    points: counter('tidemark_read_points_total', 'Points or buckets streamed to readers over REST.'),
    bytes: counter('tidemark_read_bytes_total', 'Bytes of these answers, before compression.'),
    openStream: () => {
      open += 1;
      return () => {
        open -= 1;
      };
    },
  };
}

/** Counts an answer and what passes of it, piece by piece. */
export async function* countedPieces(
  pieces: AsyncIterable<Uint8Array>,
  metrics: ReadMetrics,
): AsyncGenerator<Uint8Array> {
  const close = metrics.openStream();
  try {
    for await (const piece of pieces) {
      metrics.bytes.inc(piece.length);
      yield piece;
    }
  } finally {
    close();
  }
}

/** Counts what passes, chunk by chunk. */
export async function* countedChunks<Chunk extends { readonly dates: { readonly length: number } }>(
  chunks: AsyncIterable<Chunk>,
  points: Count,
): AsyncGenerator<Chunk> {
  for await (const chunk of chunks) {
    points.inc(chunk.dates.length);
    yield chunk;
  }
}
