/**
 * Metrics of a process for Prometheus (R-A9). Only this module uses prom-client. Hot paths look up a series once and
 * keep it, so that they create no label objects. The names of our own metrics begin with `tidemark_`; no label takes
 * free text from clients.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** One series of a counter. The value of the series only increases. */
export interface Count {
  /** Adds `by` to the value of the series. `by` is at least 0; its default is 1. */
  inc(by?: number): void;
}

/** One series of a histogram. The series counts observations in buckets. */
export interface Distribution {
  observe(value: number): void;
}

export interface MetricName<Label extends string = never> {
  /** Full name of the metric, such as `tidemark_push_bytes_total`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
}

export interface GaugeSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * A number, or one number per set of labels. While the value is unknown, the reading is undefined, and a scrape returns
 * no value of the gauge.
 */
export type GaugeReading = number | readonly GaugeSample[] | undefined;

type Values<Label extends string> = Readonly<Record<Label, string>>;

export interface Metrics {
  /**
   * Returns the function that gives the counter's series for a set of labels. The first call with a metric name creates
   * the counter; later calls return the same function.
   */
  counter<Label extends string>(metric: MetricName<Label>): (labels: Values<Label>) => Count;
  /**
   * Returns the function that gives the histogram's series for a set of labels. The first call with a metric name
   * creates the histogram; later calls return the same function.
   * @param buckets ascending upper bounds; default: durations from 1 ms to 30 s.
   */
  distribution<Label extends string>(
    metric: MetricName<Label>,
    buckets?: readonly number[],
  ): (labels: Values<Label>) => Distribution;
  /** Registers a gauge that is read at every scrape. A second gauge of the same name replaces the first. */
  gauge(metric: MetricName<string>, read: () => GaugeReading | Promise<GaugeReading>): void;
  /** Adds prom-client's default metrics of the process: event loop, heap, garbage collection. */
  watchProcess(): void;
  readonly contentType: string;
  /** Writes all metrics in the text format of Prometheus. */
  text(): Promise<string>;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Creates an empty registry (R-A9). */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const known = new Map<string, unknown>();
  /** Creates the metric only at the first call with its `name`, because a process can open a feature twice. */
  const once = <Made>(name: string, make: () => Made): Made => {
    if (!known.has(name)) known.set(name, make());
    return known.get(name) as Made;
  };
  return {
    counter: (metric) =>
      once(metric.name, () => {
        const counter = new Counter(toConfiguration(metric, registry));
        return remembered((labels) => {
          counter.inc(labels, 0);
          return counter.labels(labels);
        });
      }),
    distribution: (metric, buckets = SECONDS) =>
      once(metric.name, () => {
        const histogram = new Histogram({ ...toConfiguration(metric, registry), buckets: [...buckets] });
        return remembered((labels) => {
          histogram.zero(labels);
          return histogram.labels(labels);
        });
      }),
    gauge: (metric, read) => {
      registry.removeSingleMetric(metric.name);
      new Gauge({
        ...toConfiguration(metric, registry),
        collect: async function () {
          const reading = await read();
          this.reset();
          if (reading === undefined) this.remove({});
          else if (typeof reading === 'number') this.set(reading);
          else for (const { labels, value } of reading) this.set(labels, value);
        },
      });
    },
    watchProcess: () => collectDefaultMetrics({ register: registry }),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}

function toConfiguration<Label extends string>({ name, help, labels = [] }: MetricName<Label>, registry: Registry) {
  return { name, help, labelNames: [...labels], registers: [registry] };
}

/**
 * Returns a function that returns the series of a set of labels. It calls `begin` once for each set. `begin` starts the
 * series at 0, because Prometheus computes no rate when a series first appears with 1.
 */
function remembered<Label extends string, Series>(begin: (labels: Values<Label>) => Series) {
  const known = new Map<string, Series>();
  return (labels: Values<Label>): Series => {
    const key = JSON.stringify(labels);
    const series = known.get(key) ?? begin(labels);
    known.set(key, series);
    return series;
  };
}
