/**
 * JSON Patch of a webhook (R-I6), applied to the members that GET returns by default. Read-only members may only be
 * tested and copied. GET does not return the secret, so only `add` and `replace` may use it.
 */

import { parseInput } from '../../platform/http/lenient.ts';
import {
  applyOperations,
  operationError,
  type PatchOperation,
  withMemberNames,
} from '../../platform/json/json-patch.ts';
import type { TargetPolicy } from '../sending/target-url.ts';
import type { Webhook, WebhookFilter } from '../webhook.ts';
import { type WebhookChange, webhookChangeSchema } from './webhook-schema.ts';

const WRITABLE = ['name', 'url', 'eventType', 'isEnabled', 'httpMethod', 'headers', 'filter', 'bodyTemplate'] as const;
const READ_ONLY = ['id', 'disabledReason', 'createdDate', 'modifiedDate'] as const;
const FILTER_LISTS = ['siteIds', 'sourceIds', 'variableIds'] as const satisfies readonly (keyof WebhookFilter)[];
const SECRET = 'secret';

/**
 * @returns all writable fields, with their values after the patch (R-I6).
 * @throws {DomainError} conflict when a `test` fails; invalid_input when the patch is refused for any other reason.
 */
export function planPatch(
  webhook: Webhook,
  operations: readonly PatchOperation[],
  policy: TargetPolicy,
): WebhookChange {
  const inFields = withMemberNames(operations, [...WRITABLE, ...READ_ONLY, SECRET]);
  const named = withMemberNames(inFields, FILTER_LISTS, '/filter');
  for (const [index, operation] of named.entries()) assertAllowed(operation, index);
  // The secret starts as null; `add` and `replace` may set it. assertAllowed refuses operations that would read it.
  const shown = { ...pick(webhook, [...WRITABLE, ...READ_ONLY]), [SECRET]: null };
  const patched = applyOperations(shown, named);
  // A removed member becomes null, which the schema refuses for members that cannot be null.
  const whole = [...WRITABLE, SECRET].map((name) => [name, patched[name] ?? null]);
  return parseInput(webhookChangeSchema(policy, webhook), Object.fromEntries(whole));
}

/**
 * @throws {DomainError} invalid_input when the operation changes a read-only member, when it names an unknown member,
 * or
 *   when it uses the secret and is neither `add` nor `replace`.
 */
function assertAllowed(operation: PatchOperation, index: number): void {
  const { op, path } = operation;
  if ('from' in operation) {
    assertMember(operation.from, [...WRITABLE, ...READ_ONLY], index, 'from');
    // A `move` removes the member at `from`, so this member must be writable.
    if (op === 'move') assertMember(operation.from, WRITABLE, index, 'from');
  }
  if (path === `/${SECRET}` && (op === 'add' || op === 'replace')) return;
  assertMember(path, op === 'test' ? [...WRITABLE, ...READ_ONLY] : WRITABLE, index, 'path');
}

function assertMember(pointer: string, names: readonly string[], index: number, member: 'path' | 'from'): void {
  const [, name = '', list] = pointer.split('/', 3);
  const isList = name !== 'filter' || list === undefined || FILTER_LISTS.some((one) => one === list);
  if (names.includes(name) && isList) return;
  const isReadOnly = READ_ONLY.some((readOnly) => readOnly === name);
  const problem = isReadOnly
    ? `${name} is read-only`
    : `${pointer || 'the document root'} is not a field this operation may use`;
  throw operationError(index, member, problem);
}

function pick(webhook: Webhook, names: readonly (keyof Webhook)[]): object {
  return Object.fromEntries(names.map((name) => [name, webhook[name]]));
}
