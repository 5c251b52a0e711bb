/** Types for a run in the sandbox: its job, limits and outcome, and SandboxUnavailableError (R-H2, R-H3, R-H7). */
import type { TextTable } from './results/text-table.ts';

/** Dictionary-coded text column: a table of texts and, for each row, the zero-based index of its text. */
export interface CodedText {
  readonly codes: Int32Array;
  readonly texts: readonly string[];
}

/**
 * Points of one variable, as columns of equal length. `dates` are distinct UNIX seconds in ascending order. A
 * Float64Array is needed for dates that 32-bit integers cannot hold (before December 1901 or after January 2038).
 */
export interface SeriesColumns {
  readonly dates: Int32Array | Float64Array;
  readonly values: Float64Array;
  readonly versions: CodedText;
  readonly tags: CodedText;
}

/**
 * What a script can read about an input (member `Variable`) or about the calculated variable (`targetVariable`) (R-H2).
 * A null becomes NULL in R.
 */
export interface VariableInfo {
  readonly id: number;
  readonly name: string;
  readonly sourceId: number;
  readonly granularity: number | null;
  readonly granularityTimeBase: string | null;
  readonly quantityType: string | null;
  readonly aggregate: string | null;
  readonly sourceTimeZoneId: string | null;
}

export type ScalarValue = string | number | boolean | null;

/** Inclusive limits of dates in UNIX seconds. A null (NULL in R) means that the dates have no limit on that side. */
export interface DateWindow {
  readonly from: number | null;
  readonly to: number | null;
}

export interface SandboxInput {
  readonly alias: string;
  readonly variable: VariableInfo;
  /** Window of the dates that were read. In R: `From` and `To` of the input; NULL without a window. */
  readonly window?: DateWindow;
  readonly series: SeriesColumns;
}

export interface SandboxScalar {
  readonly alias: string;
  readonly value: ScalarValue;
}

/** What the sandbox gets in order to run one script. `triggerDate` is in UNIX seconds. */
export interface SandboxJob {
  readonly script: string;
  readonly inputs: readonly SandboxInput[];
  readonly forms: readonly SandboxScalar[];
  readonly constants: readonly SandboxScalar[];
  readonly target: VariableInfo;
  /**
   * Window of the dates that changed. In R: `ChangedFrom` and `ChangedTo` of `targetVariable`; NULL without a window.
   */
  readonly changed?: DateWindow;
  readonly triggerDate: number;
  /** Format of the plots; absent means that no plot and no other file of the script is kept (R-H9). */
  readonly pictures?: PictureFormat;
  /** Time that earlier scripts of the same run have used; it is subtracted from the limits (R-H7). */
  readonly spent?: SpentTime;
}

export interface SpentTime {
  readonly wallMs: number;
  readonly cpuMs: number;
}

export type PictureFormat = 'svg' | 'png';

/** A file that a run wrote: a plot or data file of the script, or the sample data. The script can choose file names. */
export interface ScriptFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * Columns that the script returned. Their lengths may differ, because the rules about lengths, NA and tags (§7) are
 * applied later, by the caller. `dates` are whole UNIX seconds, unless the script forged the result. A date that is NA
 * or infinite becomes NaN; a text that is NA becomes ''.
 */
export interface OutputSeries {
  readonly dates: Float64Array;
  readonly values: Float64Array;
  readonly versions: OutputColumn | null;
  readonly tags: OutputColumn | null;
}

/** Text column of a result: a table of texts and, for each row, the zero-based index of its text. */
export interface OutputColumn {
  readonly codes: Int32Array;
  readonly texts: TextTable;
}

/**
 * Texts that the script wrote. The messages and warnings together are cut at about CALC_MAX_TEXT_BYTES, and so is the
 * printed output.
 */
export interface Notes {
  readonly messages: readonly string[];
  readonly warnings: readonly string[];
  readonly output: string;
}

export interface RunTiming {
  /**
   * Milliseconds spent on waiting for a zygote and on transferring bytes. If the sandbox ended or did not answer, the
   * time of the run is included.
   */
  readonly waitMs: number;
  /**
   * Wall time in milliseconds, from the arrival of the run header to the end of the run. 0 if the sandbox ended or did
   * not answer.
   */
  readonly runMs: number;
  readonly cpuMs: number;
  readonly maxRssBytes: number;
}

export type LimitName = 'wall_time' | 'cpu_time' | 'memory' | 'output_size' | 'processes';

/**
 * Cause of a fault of the sandbox: `run` when the sandbox ended or did not answer, and the failed run was the only run
 * in the sandbox; otherwise `sandbox`.
 */
export type FaultCause = 'run' | 'sandbox';

/**
 * How a run ended. Every `message` is meant for the script's author. The outcome `fault` is an error of the service;
 * after a fault, the run may be repeated.
 */
export type SandboxOutcome =
  | {
      readonly kind: 'ok';
      readonly series: OutputSeries;
      readonly errors: readonly string[];
      /** The plots and data files of the script, and the sample data. Present only when the job requested plots. */
      readonly files?: readonly ScriptFile[];
      readonly notes: Notes;
      readonly timing: RunTiming;
    }
  | {
      readonly kind: 'script_error';
      readonly message: string;
      /** The R call that failed; empty when unknown, and for an error at the top level of the script. */
      readonly call: string;
      /** Line at which the script failed, counted from 1; null when unknown. */
      readonly line: number | null;
      /** The texts of `Errors`, when the script returned `Errors` but no series; otherwise empty or absent. */
      readonly errors?: readonly string[];
      readonly files?: readonly ScriptFile[];
      readonly notes: Notes;
      readonly timing: RunTiming;
    }
  | {
      readonly kind: 'limit';
      readonly limit: LimitName;
      readonly message: string;
      /** Line that R reported, otherwise the line of the last top-level expression reached; null when unknown. */
      readonly line: number | null;
      readonly notes: Notes;
      readonly timing: RunTiming;
    }
  | {
      readonly kind: 'killed';
      readonly signal: string;
      readonly message: string;
      /** Line that R reported, otherwise the line of the last top-level expression reached; null when unknown. */
      readonly line: number | null;
      readonly notes: Notes;
      readonly timing: RunTiming;
    }
  | { readonly kind: 'fault'; readonly cause: FaultCause; readonly message: string; readonly timing: RunTiming };

/** Limits of a run (R-H7). */
export interface RunLimits {
  readonly wallTimeMs: number;
  readonly cpuTimeSec: number;
  readonly memoryBytes: number;
  readonly tmpBytes: number;
  readonly maxProcesses: number;
  readonly maxTextBytes: number;
  readonly maxPoints: number;
}

/** The sandbox is unavailable, or weaker than configured. The service never falls back to less isolation (R-H7). */
export class SandboxUnavailableError extends Error {
  override readonly name = 'SandboxUnavailableError';
}
