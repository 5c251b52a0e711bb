/** Validates a body template before it is stored (R-I1). */
import { DomainError } from '../../platform/errors.ts';
import { isJsonType, parseJson } from '../../platform/http/http-body.ts';
import { MAX_TEMPLATE_LENGTH, parseTemplate, templateSkeleton } from './body-template.ts';

export interface LocatedProblem {
  /** Position of the problem in the template, such as `line 2, column 5`. */
  readonly location: string;
  /** The rule that was broken, such as `must be JSON …`. Errors show it after the path of the field. */
  readonly message: string;
}

/**
 * @returns the error of a template that is too long, else all errors of placeholders, else the first JSON error (R-I1).
 *   A JSON template without problems renders valid JSON for every message of every event type.
 */
export function validateTemplate(text: string, contentType: string): readonly LocatedProblem[] {
  if (text.length > MAX_TEMPLATE_LENGTH) {
    const message = `must have at most ${MAX_TEMPLATE_LENGTH} characters, got ${text.length}`;
    return [{ location: 'line 1, column 1', message }];
  }
  const isJson = isJsonType(contentType);
  const template = parseTemplate(text, isJson);
  if (template.problems.length > 0) {
    return template.problems.map(({ offset, message }) => ({ location: locate(text, offset), message }));
  }
  return isJson ? findJsonProblem(templateSkeleton(template)) : [];
}

function findJsonProblem(skeleton: string): readonly LocatedProblem[] {
  try {
    parseJson(skeleton);
    return [];
  } catch (error) {
    const [detail] = error instanceof DomainError ? (error.details ?? []) : [];
    if (!detail) throw error;
    return [{ location: detail.path, message: `must be JSON once its placeholders are filled: ${detail.message}` }];
  }
}

function locate(text: string, offset: number): string {
  const before = text.slice(0, offset);
  return `line ${before.split('\n').length}, column ${offset - before.lastIndexOf('\n')}`;
}
