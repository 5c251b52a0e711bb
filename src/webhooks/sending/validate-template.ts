/** What is wrong with a template of a body, told before it is stored (R-I1). */
import { DomainError } from '../../platform/errors.ts';
import { isJsonType, parseJson } from '../../platform/http/http-body.ts';
import { MAX_TEMPLATE_LENGTH, parseTemplate, templateSkeleton } from './body-template.ts';

export interface LocatedProblem {
  /** `line 2, column 5`. */
  readonly place: string;
  /** Goes on after a path. */
  readonly message: string;
}

/**
 * Every fault of its syntax; of a template of JSON otherwise the first place where it can be none. A template without
 * problems renders JSON whatever the message holds, of any event type.
 */
export function validateTemplate(text: string, contentType: string): readonly LocatedProblem[] {
  if (text.length > MAX_TEMPLATE_LENGTH) {
    return [{ place: 'line 1, column 1', message: `must have at most ${MAX_TEMPLATE_LENGTH} characters` }];
  }
  const isJson = isJsonType(contentType);
  const template = parseTemplate(text, isJson);
  if (template.problems.length > 0) {
    return template.problems.map(({ offset, message }) => ({ place: placeOf(text, offset), message }));
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
    return [{ place: detail.path, message: `must be JSON with values in its places: ${detail.message}` }];
  }
}

function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset);
  return `line ${before.split('\n').length}, column ${offset - before.lastIndexOf('\n')}`;
}
