/**
 * What the API asks of a calculator on behalf of an author (R-H9). Scripts run where R is, which need not be where the
 * API is; a row in the database carries the task there and the answer back.
 */
import type { Declaration } from '../declaration/declaration.ts';
import type { PictureFormat } from '../sandbox/sandbox-types.ts';

/** Dates of a preview; without them the newest date of the inputs, as if it had just been written. */
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
      /** Instead of the one saved. */
      readonly declaration?: Declaration;
    }
  | { readonly kind: 'sampleData'; readonly dates: PreviewDates };

/** What is wrong with a script. */
export interface ScriptProblem {
  /** Place of the formula. */
  readonly formula: number;
  readonly message: string;
  /** Counted from 1; null when no line is to blame. */
  readonly line: number | null;
}

export interface ValidateAnswer {
  readonly problems: readonly ScriptProblem[];
  /** `inputVariables$name` and the like, as each script spells them. */
  readonly names: readonly (readonly string[])[];
}

export interface PreviewAnswer {
  readonly answer: Readonly<Record<string, unknown>> | undefined;
  readonly file: Buffer | undefined;
}
