/** Metrics of reads over REST (R-A9). */
import type { Count, Metrics } from '../platform/metrics/metrics.ts';

export interface ReadMetrics {
  /** Counts what is read for answers: points, buckets, or the dates of a comparison. */
  readonly points: Count;
  /** Counts the bytes of answers as they are before compression. */
  readonly bytes: Count;
  /**
   * Adds one to the number of open answers.
   * @returns a function that subtracts one from this number; call the function when the answer ends.
   */
  openStream(): () => void;
}

/** Registers the metrics of reads (R-A9). @returns the functions that update these metrics. */
export function createReadMetrics(metrics: Metrics): ReadMetrics {
  const counter = (name: string, help: string) => metrics.counter({ name, help })({});
  let open = 0;
  metrics.gauge(
    {
      name: 'tidemark_read_open_streams',
      help: 'Number of open answers of reads at /data and /data/compare.',
    },
    () => open,
  );
  return {
    points: counter(
      'tidemark_read_points_total',
      'Number of points, buckets and compared dates that were read for answers of /data and /data/compare.',
    ),
    bytes: counter(
      'tidemark_read_bytes_total',
      'Bytes of answers of reads at /data and /data/compare, counted before compression.',
    ),
    openStream: () => {
      open += 1;
      return () => {
        open -= 1;
      };
    },
  };
}

/**
 * Yields the chunks of an answer unchanged and counts their bytes (R-A9). The answer counts as open until the generator
 * ends.
 */
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

/**
 * Yields the chunks unchanged and adds the number of rows of each chunk to the metric `points` (R-A9). A row is a
 * point, a bucket or a compared date.
 */
export async function* countedChunks<Chunk extends { readonly dates: { readonly length: number } }>(
  chunks: AsyncIterable<Chunk>,
  points: Count,
): AsyncGenerator<Chunk> {
  for await (const chunk of chunks) {
    points.inc(chunk.dates.length);
    yield chunk;
  }
}
