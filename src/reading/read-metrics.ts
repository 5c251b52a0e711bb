/** Metrics of reads over REST (R-A9). */
import type { Count, Metrics } from '../platform/metrics/metrics.ts';

export interface ReadMetrics {
  /** Counts points, buckets and compared dates that were read for answers. */
  readonly points: Count;
  /** Counts bytes of answers before compression. */
  readonly bytes: Count;
  /**
   * Adds one to the number of open answers.
   * @returns a function that subtracts it; call it when the answer ends.
   */
  openStream(): () => void;
}

/** @returns functions that count reads; registers their metrics (R-A9). */
export function createReadMetrics(metrics: Metrics): ReadMetrics {
  const counter = (name: string, help: string) => metrics.counter({ name, help })({});
  let open = 0;
  metrics.gauge(
    {
      name: 'tidemark_read_open_streams',
      help: 'Answers with points, buckets or comparisons that are being streamed over REST now.',
    },
    () => open,
  );
  return {
    points: counter('tidemark_read_points_total', 'Points, buckets and compared dates read for answers over REST.'),
    bytes: counter(
      'tidemark_read_bytes_total',
      'Bytes of answers with points, buckets or comparisons over REST, before compression.',
    ),
    openStream: () => {
      open += 1;
      return () => {
        open -= 1;
      };
    },
  };
}

/** Yields the chunks of an answer unchanged; counts the open answer and its bytes (R-A9). */
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

/** Yields chunks of points, buckets or compared dates unchanged; counts their rows in `points` (R-A9). */
export async function* countedChunks<Chunk extends { readonly dates: { readonly length: number } }>(
  chunks: AsyncIterable<Chunk>,
  points: Count,
): AsyncGenerator<Chunk> {
  for await (const chunk of chunks) {
    points.inc(chunk.dates.length);
    yield chunk;
  }
}
