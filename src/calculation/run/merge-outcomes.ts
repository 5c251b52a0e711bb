/** Merges the outcomes of a run's formulas into the notes and durations of the run (R-H8). */
import type { SandboxOutcome } from '../sandbox/sandbox-types.ts';

/**
 * @returns the messages, warnings, errors and output of the formulas that ran, and details of the formula that failed
 * (R-H8). Messages, errors and output are in the order in which the formulas ran. A formula that ended with a
 * fault of the sandbox adds only details.
 * @param loaded object with the planned formulas and with the warnings about the form values of these formulas.
 */
export function mergeNotes(
  outcomes: readonly SandboxOutcome[],
  { planned, warnings }: { readonly planned: readonly unknown[]; readonly warnings: readonly string[] },
): Readonly<Record<string, unknown>> {
  if (planned.length === 0)
    return { warnings: ['for the dates of the run, the variable has no formula with a script'] };
  const notes = outcomes.flatMap((outcome) => (outcome.kind === 'fault' ? [] : [outcome.notes]));
  if (notes.length === 0) return describeFailure(outcomes.at(-1));
  const errorsOf = (kind: SandboxOutcome['kind']) =>
    outcomes.flatMap((outcome) => (outcome.kind === kind && 'errors' in outcome ? (outcome.errors ?? []) : []));
  return {
    messages: notes.flatMap(({ messages }) => messages),
    // When a script returns `Errors` together with a series, the errors are warnings of the run (R-H3).
    warnings: [...warnings, ...notes.flatMap((note) => note.warnings), ...errorsOf('ok')],
    output: notes.map(({ output }) => output).join(''),
    errors: [...errorsOf('ok'), ...errorsOf('script_error')],
    ...describeFailure(outcomes.at(-1)),
  };
}

function describeFailure(outcome: SandboxOutcome | undefined): Readonly<Record<string, unknown>> {
  switch (outcome?.kind) {
    case 'script_error':
      return { call: outcome.call, line: outcome.line };
    case 'limit':
      return { limit: outcome.limit, line: outcome.line };
    case 'killed':
      return { signal: outcome.signal, line: outcome.line };
    case 'fault':
      return { faultCause: outcome.cause };
    default:
      return {};
  }
}

/** @returns milliseconds spent in R, and milliseconds spent on waiting for R and on transferring bytes (R-H8). */
export function sumTimings(outcomes: readonly SandboxOutcome[]): Readonly<Record<string, number>> {
  const sum = (pick: (timing: SandboxOutcome['timing']) => number) =>
    outcomes.reduce((total, { timing }) => total + pick(timing), 0);
  return { r: sum(({ runMs }) => runMs), sandboxWait: sum(({ waitMs }) => waitMs) };
}
