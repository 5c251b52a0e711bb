/**
 * A `World` runs the commands of a scenario, either in the model of the rules or in the store. The model and the store
 * must return the same rows.
 */
import type { Action, Moment, Period, Query, Tags } from './syntax.ts';

export interface Row {
  readonly variable: string;
  readonly dateMicros: number;
  /** Null for a bucket without a value. */
  readonly value: number | null;
  readonly version: string | null;
  readonly tags: Tags;
  /** VersionTimestamp; null for a bucket. */
  readonly versionMicros: number | null;
}

/** A line of the listing of versions (R-F8). */
export interface VersionLine {
  /** Null for the versions without a VersionTag. */
  readonly version: string | null;
  readonly count: number;
  readonly firstMicros: number;
  readonly lastMicros: number;
}

/** First and last VersionTimestamp of a write. */
export interface Span {
  readonly firstMicros: number;
  readonly lastMicros: number;
}

export interface World {
  /** @throws {Error} when the action is refused; the error's message gives the reason. */
  perform(action: Action): Promise<void>;
  read(query: Query): Promise<readonly Row[]>;
  /** @returns the number of rows that a query selects on all pages together. */
  count(query: Query): Promise<number>;
  versions(variable: string): Promise<readonly VersionLine[]>;
  /** @returns the number of points that the call deletes or, when `isWhatIf` is true, would delete. */
  remove(variable: string, period: Period, isWhatIf: boolean): Promise<number>;
  /** @throws {Error} when no write is named `label`. */
  spanOf(label: string): Span;
}

/** The `Span` of each named write. A write is named if its `Moment` is a label; this label is the key. */
export interface Spans {
  add(moment: Moment | undefined, span: Span): void;
  get(label: string): Span;
}

export function openSpans(): Spans {
  const spans = new Map<string, Span>();
  return {
    add: (moment, span) => {
      if (moment?.kind === 'label') spans.set(moment.label, span);
    },
    get: (label) => {
      const span = spans.get(label);
      if (!span) throw new Error(`no write is named ${label}`);
      return span;
    },
  };
}

/**
 * @param rows all rows of one variable.
 * @returns the rows on the query's page, or all rows when the query has no page.
 */
export function paged(query: Query, rows: readonly Row[]): readonly Row[] {
  const { page } = query;
  return page ? rows.slice(page.number * page.size, (page.number + 1) * page.size) : rows;
}
