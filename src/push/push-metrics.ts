/** Metrics of pushes (R-A9). */
import type { Count, Metrics } from '../platform/metrics/metrics.ts';

/**
 * How a push was stored. `door`: by group commit, for the small-push handler. `group`: by group commit, for the app.
 * `direct`: by a direct write. `resent`: the push repeats a stored push and was not stored again (R-D7). The names are
 * values of the metric label `way`, which dashboards of operators use: do not rename them.
 */
export type StoragePath = 'door' | 'group' | 'direct' | 'resent';

export interface CountedPush {
  /** Length of the body after decompression. For a custom format: length of the mapped body. */
  readonly bytes: number;
  readonly elements: number;
  readonly readings: number;
  readonly rejectedElements: number;
}

export interface PushMetrics {
  /** Counts a push that got status 200. The bytes, elements and readings of a re-sent push are not counted. */
  accepted(path: StoragePath, push: CountedPush): void;
  /** Counts requests that got status 503 because too many bytes of readings waited to be written. */
  readonly queueFull: Count;
  /** Counts pushes that got status 503 because request bodies took too much memory. */
  readonly memoryFull: Count;
}

/** Registers the metrics of pushes (R-A9). @returns the counters of these metrics. */
export function createPushMetrics(metrics: Metrics): PushMetrics {
  const pushes = metrics.counter({
    name: 'tidemark_pushes_accepted_total',
    help: 'Pushes that got status 200, by how they were stored: door (small-push handler), group (group commit), direct (direct write) or resent (stored before).',
    labels: ['way'],
  });
  const ways = { door: of('door'), group: of('group'), direct: of('direct'), resent: of('resent') };
  function of(path: StoragePath): Count {
    return pushes({ way: path });
  }
  const bytes = one(
    'tidemark_push_bytes_total',
    'Total size of the bodies of accepted pushes, in bytes: after decompression and, in a custom format, after mapping. Re-sent pushes do not count.',
  );
  const readings = one('tidemark_push_readings_total', 'Readings accepted.');
  const elements = metrics.counter({
    name: 'tidemark_push_elements_total',
    help: 'Elements of pushes with status 200, by outcome. accepted: the element identifies one variable. rejected: the element identifies no variable, or several. Elements of re-sent pushes do not count.',
    labels: ['outcome'],
  });
  const [accepted, rejected] = [elements({ outcome: 'accepted' }), elements({ outcome: 'rejected' })];
  const refused = metrics.counter({
    name: 'tidemark_pushes_turned_away_total',
    help: 'Pushes and replays that got status 503 because a resource, or the share of it that the caller may use, was full. queue: bytes waiting to be written. memory: bodies of pushes not answered yet.',
    labels: ['full'],
  });
  function one(name: string, help: string): Count {
    return metrics.counter({ name, help })({});
  }
  return {
    accepted: (path, push) => {
      ways[path].inc();
      if (path === 'resent') return;
      bytes.inc(push.bytes);
      readings.inc(push.readings);
      accepted.inc(push.elements);
      if (push.rejectedElements > 0) rejected.inc(push.rejectedElements);
    },
    queueFull: refused({ full: 'queue' }),
    memoryFull: refused({ full: 'memory' }),
  };
}
