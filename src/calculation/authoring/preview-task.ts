/**
 * Tasks that the API hands to a calculator, and the answers (R-H9). Only the calculator's machine needs R, so the API
 * and the calculator exchange a task and its answer through the table `calculation_preview`.
 */
import type { Declaration } from '../declaration/declaration.ts';
import type { PictureFormat } from '../sandbox/sandbox-types.ts';

/**
 * Dates of a preview. Absent dates are filled in this order:
 * 1. `to`: the value of `from`. If `from` is absent too: the newest date of the inputs, or now if the inputs have no
 *    points.
 * 2. `from` and `triggerDate`: the value of `to`.
 */
export interface PreviewDates {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly triggerDate?: string | undefined;
}

export type PreviewTask =
  | { readonly kind: 'validate'; readonly scripts: readonly (string | null)[] }
  | {
      readonly kind: 'evaluate';
      readonly dates: PreviewDates;
      readonly pictures: PictureFormat;
      /** Declaration to use in place of the saved one. */
      readonly declaration?: Declaration;
    }
  | { readonly kind: 'sampleData'; readonly dates: PreviewDates }
  | { readonly kind: 'packages' }
  | { readonly kind: 'replay'; readonly runId: number };

/** A syntax error of a script, or the reason why the script could not be checked. */
export interface ScriptProblem {
  /** Index of the formula in the declaration. */
  readonly formula: number;
  readonly message: string;
  /** Line of the error, counted from 1; null when R names no line. */
  readonly line: number | null;
}

/** A civil period that a script groups dates by. */
export interface ScriptBucket {
  /** A grouping by quarters has the period `Year`, because `alignTo` has no quarter. */
  readonly period: 'Hour' | 'Day' | 'Week' | 'Month' | 'Year';
  /** Line in which the top-level expression with the grouping begins, counted from 1. */
  readonly line: number;
}

/** An installed R package, which scripts can load. */
export interface RPackage {
  readonly name: string;
  readonly version: string;
}

export interface ValidateAnswer {
  readonly problems: readonly ScriptProblem[];
  /** For each formula, the names that its script reads, such as `inputVariables$gas`. */
  readonly names: readonly (readonly string[])[];
  /** For each formula, the kinds of period that its script groups by, such as Day. */
  readonly buckets: readonly (readonly ScriptBucket[])[];
}

export interface PreviewAnswer {
  readonly answer: Readonly<Record<string, unknown>> | undefined;
  readonly file: Buffer | undefined;
}
