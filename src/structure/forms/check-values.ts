/**
 * Checks the clientData of a site, source or variable against the forms of the account. A write is refused only because
 * of problems that it adds. Problems of stored values are reported as `formProblems`.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Queryable } from '../../platform/database/database.ts';
import type { ErrorDetail } from '../../platform/errors.ts';
import { invalidInput } from '../../platform/http/lenient.ts';
import type { ResourceObject } from '../resource.ts';
import type { EntityType, Form } from './form-definition.ts';
import { listForms } from './form-store.ts';
import { findFormProblems, toDetail } from './form-validator.ts';

const ROOT = '$.clientData';
const EMPTY = {};

/**
 * Checks new clientData before it is stored.
 * @param written is the new clientData: undefined keeps the stored clientData, null clears it.
 * @param former is the stored clientData; omitted for a new resource.
 * @throws {DomainError} invalid_input with details of the problems that the write adds.
 */
export async function assertFormValues(
  queryable: Queryable,
  accountId: number,
  entityType: EntityType,
  written: unknown,
  former: unknown = EMPTY,
): Promise<void> {
  if (!hasMembers(written)) return;
  const forms = await listForms(queryable, accountId, { entityType });
  const problems = findNewProblems(forms, written, former, ROOT);
  if (problems.length > 0) throw invalidInput(problems);
}

/**
 * @returns the new problems of `written`, at most 100 for each form. A problem is new if the value has changed, or if
 *   `former` has no values for the form.
 */
export function findNewProblems(
  forms: readonly Pick<Form, 'name' | 'groups'>[],
  written: unknown,
  former: unknown,
  root: string,
): readonly ErrorDetail[] {
  if (!hasMembers(written)) return [];
  return forms.flatMap((form) =>
    findFormProblems(
      form,
      written,
      (keys) => !isDeepStrictEqual(valueAt(former, keys), valueAt(written, keys)) || !isFilled(former, form),
    ).map((problem) => toDetail(root, problem)),
  );
}

/** @returns the resources. A resource has `formProblems` when its values violate a form of the account. */
export async function withFormProblems(
  queryable: Queryable,
  accountId: number,
  entityType: EntityType,
  items: readonly ResourceObject[],
): Promise<readonly ResourceObject[]> {
  if (!items.some(({ clientData }) => hasMembers(clientData))) return items;
  const forms = await listForms(queryable, accountId, { entityType });
  return items.map((item) => {
    const formProblems = findNewProblems(forms, item.clientData, undefined, ROOT);
    return formProblems.length > 0 ? { ...item, formProblems } : item;
  });
}

type Members = Readonly<Record<string, unknown>>;

function hasMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

/** @returns true when clientData contains values for this form. */
function isFilled(clientData: unknown, { name }: Pick<Form, 'name'>): boolean {
  const values = valueAt(clientData, [name]);
  return values !== undefined && values !== null;
}

function valueAt(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key) ? (inner as Members)[key] : undefined,
    value,
  );
}
