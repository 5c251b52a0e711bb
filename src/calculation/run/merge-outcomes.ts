/** What is recorded of the outcomes of a run's formulas (R-H8): everything said, and the time it took. */
import type { SandboxOutcome } from '../sandbox/sandbox-types.ts';

/** What the scripts said, formula by formula; of the one that failed also where. */
export function mergeNotes(
  outcomes: readonly SandboxOutcome[],
  plannedCount: number,
): Readonly<Record<string, unknown>> {
  if (plannedCount === 0) return { warnings: ['no formula is valid for these dates'] };
  const notes = outcomes.flatMap((outcome) => (outcome.kind === 'fault' ? [] : [outcome.notes]));
  if (notes.length === 0) return describeFailure(outcomes.at(-1));
  const errors = outcomes.flatMap((outcome) => (outcome.kind === 'ok' ? outcome.errors : []));
  return {
    messages: notes.flatMap(({ messages }) => messages),
    // What a script calls an error beside its series is a warning of the run (R-H3).
    warnings: [...notes.flatMap(({ warnings }) => warnings), ...errors],
    output: notes.map(({ output }) => output).join(''),
    ...(outcomes.every(({ kind }) => kind === 'ok') && { errors }),
    ...describeFailure(outcomes.at(-1)),
  };
}

function describeFailure(outcome: SandboxOutcome | undefined): Readonly<Record<string, unknown>> {
  switch (outcome?.kind) {
    case 'script_error':
      return { call: outcome.call, line: outcome.line };
    case 'limit':
      return { limit: outcome.limit };
    case 'killed':
      return { signal: outcome.signal };
    case 'fault':
      return { faultCause: outcome.cause };
    default:
      return {};
  }
}

/** Milliseconds in R and on the way to it. */
export function sumTimings(outcomes: readonly SandboxOutcome[]): Readonly<Record<string, number>> {
  const sum = (pick: (timing: SandboxOutcome['timing']) => number) =>
    outcomes.reduce((total, { timing }) => total + pick(timing), 0);
  return { r: sum(({ runMs }) => runMs), sandboxWait: sum(({ waitMs }) => waitMs) };
}
