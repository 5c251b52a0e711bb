/** Syntax tree of scenario files (grammar: test/scenarios/README.md). */

/** Source position, for messages. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number;
}

export interface Scenario {
  readonly title: string;
  readonly position: SourcePosition;
  readonly commands: readonly Command[];
}

export type Tags = Readonly<Record<string, string>>;

/**
 * A moment in a scenario: a label or an instant.
 * - In a write, the moment stands after the word `at`. A label names the write, so that later lines can refer to it. An
 *   instant is the first VersionTimestamp that the write assigns to each variable. If a variable already has a
 *   VersionTimestamp at or after the instant, its first new VersionTimestamp is instead 1 µs after its latest one.
 * - In an expectation, an instant is the expected VersionTimestamp. A label stands for any VersionTimestamp from the
 *   first to the last of the write with this label.
 */
export type Moment =
  | { readonly kind: 'label'; readonly label: string }
  | { readonly kind: 'instant'; readonly micros: number };

export interface Reading {
  readonly dateMicros: number;
  readonly value: number;
  readonly version?: string;
  readonly tags?: Tags;
}

export interface PushElement {
  readonly variable: string;
  readonly version?: string;
  readonly tags?: Tags;
  readonly readings: readonly Reading[];
}

/** The elements of one push request. Only the last reading of each variable, date and VersionTag is written (R-D5). */
export type PushBody = readonly PushElement[];

/** A row that a script returns. An absent member stands for an empty cell; `tags` is the raw text of the Tags cell. */
export interface ScriptRow {
  readonly dateMicros: number;
  readonly value: number;
  readonly version?: string;
  readonly tags?: string;
}

export interface ScriptOutput {
  readonly rows: readonly ScriptRow[];
  /** Whole columns that override the rows' own `version` and `tags`. A column may be longer or shorter than `rows`. */
  readonly versionColumn?: readonly string[];
  readonly tagsColumn?: readonly string[];
}

/** Moment to which a read looks back: the read returns the versions that were known then (R-F5, R-G2). */
export type KnownAt =
  | { readonly kind: 'label'; readonly label: string; readonly isBefore: boolean }
  | { readonly kind: 'instant'; readonly micros: number }
  | { readonly kind: 'relative'; readonly text: string; readonly nowMicros: number; readonly timeZoneId: string };

/**
 * For each date, the read selects only versions known at least `duration` (ISO 8601) before the date. The years,
 * months, weeks and days of `duration` are counted in the time zone `timeZoneId`.
 */
export interface Horizon {
  readonly duration: string;
  readonly timeZoneId: string;
}

/** Settings that decide which versions a read selects (R-G2). */
export interface Choice {
  readonly knownAt?: KnownAt;
  readonly horizon?: Horizon;
  readonly versionTags?: readonly string[];
  readonly tags?: readonly (readonly [key: string, value: string])[];
  readonly isEvery: boolean;
}

export const AGGREGATES = ['sum', 'min', 'max', 'avg', 'count', 'variance', 'stdev'] as const;
export type Aggregate = (typeof AGGREGATES)[number];

export const BUCKETS = ['minute', 'hour', 'day', 'week', 'month', 'year', 'all'] as const;
export type Bucket = (typeof BUCKETS)[number];

export const FILLS = ['none', 'previous', 'linear', 'null'] as const;
export type Fill = (typeof FILLS)[number];

export interface Aggregation {
  readonly aggregate: Aggregate;
  readonly bucket: Bucket;
  readonly timeZoneId: string;
  readonly fill: Fill;
  /** A bucket with fewer points than this has no aggregate. */
  readonly minCount: number;
}

export interface Period {
  readonly fromMicros?: number;
  readonly toMicros?: number;
  readonly isToIncluded: boolean;
}

export interface Query extends Period {
  readonly variables: readonly string[];
  readonly choice: Choice;
  readonly aggregation?: Aggregation;
  readonly order: 'asc' | 'desc';
  readonly page?: { readonly number: number; readonly size: number };
}

/** An expected row. A member that is absent here is not checked; a member that is null here must be null in the row. */
export interface ExpectedRow {
  readonly position: SourcePosition;
  readonly variable: string;
  readonly dateMicros: number;
  readonly value: number | null;
  readonly version: string | null;
  readonly tags?: Tags;
  /** The expected VersionTimestamp, as an instant or as the label of the write that assigned it. */
  readonly moment?: Moment;
}

/** An expected line of the listing of versions (R-F8). */
export interface ExpectedVersion {
  readonly position: SourcePosition;
  /** Null for the versions without a VersionTag. */
  readonly version: string | null;
  readonly count: number;
  readonly first?: Moment;
  readonly last?: Moment;
}

export type Action =
  | { readonly kind: 'account-limit'; readonly limit: number }
  | {
      readonly kind: 'variable';
      readonly variable: string;
      readonly isVersioned: boolean;
      readonly limit: number | null;
    }
  | { readonly kind: 'toggle'; readonly variable: string; readonly isVersioned: boolean }
  | { readonly kind: 'limit'; readonly variable: string; readonly limit: number | null }
  | { readonly kind: 'write'; readonly bodies: readonly PushBody[]; readonly moment?: Moment }
  | { readonly kind: 'calculate'; readonly variable: string; readonly atMicros: number; readonly output: ScriptOutput }
  | { readonly kind: 'copy'; readonly variable: string; readonly atMicros: number; readonly input: string }
  | { readonly kind: 'purge'; readonly variables: readonly string[] };

export type Look =
  | { readonly kind: 'read'; readonly query: Query; readonly expected: readonly ExpectedRow[] }
  | { readonly kind: 'count'; readonly query: Query; readonly expected: number }
  | { readonly kind: 'versions'; readonly variable: string; readonly expected: readonly ExpectedVersion[] }
  | {
      readonly kind: 'delete';
      readonly variable: string;
      readonly period: Period;
      readonly isWhatIf: boolean;
      readonly expected?: number;
    };

export type Command = (Action | Look) & {
  readonly position: SourcePosition;
  /** Text that the message of the expected error must contain. */
  readonly expectedError?: string;
};
