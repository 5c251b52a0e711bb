/** Metrics of runs and of the R zygote (R-A9). */
import { type BacklogQuery, MAX_COUNTED } from '../platform/metrics/backlog.ts';
import type { Count, Metrics } from '../platform/metrics/metrics.ts';

/** Maps the name of each phase in the record of a run to the metric label of the phase (R-H8). */
const PHASES = { wait: 'wait', load: 'load', sandboxWait: 'sandbox_wait', r: 'r', store: 'store' } as const;

export interface EndedRunFigures {
  readonly outcome: string;
  /** Duration of each phase of the run, in milliseconds. */
  readonly durations: Readonly<Record<string, number>>;
  readonly counts: Readonly<Record<string, number>>;
}

export interface CalculationMetrics {
  runEnded(run: EndedRunFigures): void;
}

/** Registers the metrics of runs (R-A9). */
export function createCalculationMetrics(metrics: Metrics): CalculationMetrics {
  const runs = metrics.counter({
    name: 'tidemark_calculation_runs_total',
    help: 'Number of executed runs of calculated variables that ended, by outcome. Runs that a crash of the calculator or a temporary error interrupted are not counted.',
    labels: ['outcome'],
  });
  runs({ outcome: 'ok' });
  const phases = metrics.distribution({
    name: 'tidemark_calculation_phase_seconds',
    help: 'Duration of each phase of a run: wait (in the queue), load (inputs), sandbox_wait (for the sandbox), r (scripts), store (results).',
    labels: ['phase'],
  });
  const points = metrics.counter({
    name: 'tidemark_calculation_points_total',
    help: 'Points processed by runs, by direction: read or stored. For an input with a granularity, its buckets are counted.',
    labels: ['direction'],
  });
  const [read, stored] = [points({ direction: 'read' }), points({ direction: 'stored' })];
  return {
    runEnded: ({ outcome, durations, counts }) => {
      runs({ outcome }).inc();
      for (const [name, phase] of Object.entries(PHASES)) {
        const durationMs = durations[name];
        if (durationMs !== undefined) phases({ phase }).observe(durationMs / 1000);
      }
      read.inc(counts.read ?? 0);
      stored.inc(counts.stored ?? 0);
    },
  };
}

/** Metrics of the zygote, the warm R process that forks a process for each run. */
export interface ZygoteMetrics {
  readonly started: Count;
  /**
   * Zygotes that died or were killed, except standbys and zygotes that `close` stopped. Another zygote replaces each
   * counted zygote.
   */
  readonly died: Count;
  /**
   * Zygotes and standbys that were killed because they sent no heartbeat. The metric `died` counts these zygotes too,
   * but not these standbys.
   */
  readonly stuck: Count;
  /** @param isAlive function that returns true while the zygote accepts runs. */
  watch(isAlive: () => boolean): void;
}

/** Registers the metrics of the zygotes (R-A9). */
export function createZygoteMetrics(metrics: Metrics): ZygoteMetrics {
  const counter = (name: string, help: string) => metrics.counter({ name, help })({});
  return {
    started: counter('tidemark_zygote_starts_total', 'Number of warm R processes that started, including standbys.'),
    died: counter(
      'tidemark_zygote_deaths_total',
      'Number of warm R processes that died or were killed, not counting standbys.',
    ),
    stuck: counter(
      'tidemark_zygote_stuck_total',
      'Number of warm R processes, including standbys, that were killed because their heartbeat stopped.',
    ),
    watch: (isAlive) => {
      metrics.gauge(
        { name: 'tidemark_zygotes_alive', help: '1 when a warm R process accepts runs, 0 when none does.' },
        () => (isAlive() ? 1 : 0),
      );
    },
  };
}

export const CALCULATION_BACKLOG: BacklogQuery = {
  sql: `
    select (select count(*) from (
              select from calculation_request where not_before_date <= now() limit ${MAX_COUNTED}) due)::int as due,
           coalesce((
             select extract(epoch from now() - not_before_date) from calculation_request
             where not_before_date <= now() order by not_before_date limit 1), 0)::float8 as age,
           (select count(*) from calculation_run where state = 'Running')::int as running`,
  gauges: [
    { column: 'due', name: 'tidemark_calculation_due', help: 'Due requests for runs, counted up to 100000.' },
    {
      column: 'age',
      name: 'tidemark_calculation_due_age_seconds',
      help: 'Seconds since the oldest due request for a run became due; 0 when none is due. A change that joins a waiting request restarts its count.',
    },
    { column: 'running', name: 'tidemark_calculation_running', help: 'Runs under way.' },
  ],
};
