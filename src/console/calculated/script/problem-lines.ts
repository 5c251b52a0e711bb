/**
 * Assigns the problems of a formula's script, or the error of a mapper's expression, to lines in an editor. Has no side
 * effects.
 */
import type { components } from '../../api/openapi.d.ts';

type Validation = components['schemas']['Validation'];

/** A problem at a line of the script. */
export interface LineProblem {
  /** Line of the script, counted from 1. */
  readonly line: number;
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

const ROOT = '$.calculated.calculatedVariableFormulas';
const UNDECLARED = /^(\S+) is not declared/;
const LINE = /\bon line (\d+) /;
/** Matches the last words of a mapper's error message; they give the position of a character in the expression. */
const POSITION = /\(at character (\d+) of the expression\)$/;

/**
 * @returns the problems and warnings of one formula, each with its line. A warning that concerns several lines is
 * returned once for each of them; a problem or warning without a line is left out.
 * @param script the text that is shown, which may be newer than the validation.
 */
export function linesOf(validation: Validation | undefined, formula: number, script: string): readonly LineProblem[] {
  if (!validation) return [];
  const own = `${ROOT}[${formula}]`;
  const errors = validation.problems.flatMap(({ path, message, line }) =>
    path.startsWith(own) && line !== undefined ? [{ line, message, severity: 'error' as const }] : [],
  );
  const warnings = validation.warnings.flatMap(({ path, message }) =>
    path.startsWith(own)
      ? findLines(message, script).map((line) => ({ line, message, severity: 'warning' as const }))
      : [],
  );
  return [...errors, ...warnings];
}

/**
 * @returns all warnings, and all problems that do not refer to a line of the given formula.
 * @param formula index of the formula.
 */
export function othersOf(validation: Validation | undefined, formula: number) {
  if (!validation) return [];
  const { problems, warnings } = validation;
  const own = `${ROOT}[${formula}]`;
  const errors = problems.filter(({ path, line }) => line === undefined || !path.startsWith(own));
  const all = [
    ...errors.map((problem) => ({ ...problem, isWarning: false })),
    ...warnings.map((warning) => ({ ...warning, isWarning: true })),
  ];
  return all.map((each) => ({ ...each, path: each.path.replace(`${ROOT}`, 'formulas') }));
}

/**
 * @returns the line number that `message` contains. For a message about an undeclared name, returns the number of every
 * line that contains this name.
 */
function findLines(message: string, script: string): readonly number[] {
  const [, line] = LINE.exec(message) ?? [];
  if (line !== undefined) return [Number(line)];
  const [, name] = UNDECLARED.exec(message) ?? [];
  if (name === undefined) return [];
  return script.split('\n').flatMap((text, index) => (text.includes(name) ? [index + 1] : []));
}

/**
 * Assigns the error to the last line that has text up to the character position named in `message`. When `message`
 * names no position, assigns the error to the first line.
 */
export function linesOfError(expression: string, message: string): readonly LineProblem[] {
  const [, end] = POSITION.exec(message) ?? [];
  const line = end === undefined ? 1 : expression.slice(0, Number(end)).trimEnd().split('\n').length;
  return [{ line, message, severity: 'error' }];
}
