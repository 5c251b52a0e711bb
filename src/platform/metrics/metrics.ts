/**
 * What a process counts and measures, for Prometheus (R-A9). The rooms are given these few words and say what they do;
 * prom-client keeps the numbers. A series is looked up once and then only added to: hot paths make no objects of labels.
 * Names begin with `tidemark_`, units are seconds and bytes, and no label takes its values from what clients send.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Only ever grows. */
export interface Count {
  /** @param by 1 when absent. */
  inc(by?: number): void;
}

/** How often which values were seen. */
export interface Distribution {
  observe(value: number): void;
}

export interface MetricName<Label extends string = never> {
  /** In full, such as `tidemark_push_bytes_total`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
}

export interface GaugeSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A number, or one for each set of labels; undefined while nobody can tell: then it is left out. */
export type GaugeReading = number | readonly GaugeSample[] | undefined;

type Values<Label extends string> = Readonly<Record<Label, string>>;

export interface Metrics {
  /** The counter of that name, made when it is not there yet. */
  counter<Label extends string>(metric: MetricName<Label>): (labels: Values<Label>) => Count;
  /** @param buckets upper bounds, ascending; by default durations from 1 ms to 30 s. */
  distribution<Label extends string>(
    metric: MetricName<Label>,
    buckets?: readonly number[],
  ): (labels: Values<Label>) => Distribution;
  /** Read anew with every scrape; one of the same name replaces it. */
  gauge(metric: MetricName<string>, read: () => GaugeReading | Promise<GaugeReading>): void;
  /** Adds what Node tells of its process: event loop, heap, garbage collection, under their usual names. */
  watchProcess(): void;
  readonly contentType: string;
  /** Everything in the text format of Prometheus. */
  text(): Promise<string>;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const known = new Map<string, unknown>();
  /** Rooms may be opened more than once in a process. */
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

/** A series begins with 0 when it is first asked for, not with its first event: one that appears with 1 has no rate. */
function remembered<Label extends string, Series>(begin: (labels: Values<Label>) => Series) {
  const known = new Map<string, Series>();
  return (labels: Values<Label>): Series => {
    const key = JSON.stringify(labels);
    const series = known.get(key) ?? begin(labels);
    known.set(key, series);
    return series;
  };
}
