/** Finds the line of an error in an expression by the character position at the end of the service's message. Pure. */
import type { LineProblem } from '../../calculated/script/problem-lines.ts';

const POSITION = /\(at character (\d+)\)$/;

/** @returns the error on the line of the character that the message names, or on the first line when it names none. */
export function linesOfError(expression: string, message: string): readonly LineProblem[] {
  const [, end] = POSITION.exec(message) ?? [];
  const line = end === undefined ? 1 : expression.slice(0, Number(end)).trimEnd().split('\n').length;
  return [{ line, message, severity: 'error' }];
}
