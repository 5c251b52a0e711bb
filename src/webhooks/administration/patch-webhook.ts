/**
 * JSON Patch of a webhook (R-I6): on what GET shows of it. Fields a client writes may be changed; those it only reads may
 * be tested and copied. The secret is not shown, so it can only be given (`add`, `replace`).
 */
import {
  applyOperations,
  operationError,
  type PatchOperation,
  withMemberNames,
} from '../../platform/http/json-patch.ts';
import { parseInput } from '../../platform/http/lenient.ts';
import type { TargetPolicy } from '../sending/target-url-rules.ts';
import type { Webhook, WebhookFilter } from '../webhook.ts';
import { type WebhookChange, webhookChangeSchema } from './webhook-schema.ts';

const WRITABLE = ['name', 'url', 'eventType', 'isEnabled', 'httpMethod', 'headers', 'filter', 'bodyTemplate'] as const;
const READ_ONLY = ['id', 'disabledReason', 'createdDate', 'modifiedDate'] as const;
const FILTER_LISTS = ['siteIds', 'sourceIds', 'variableIds'] as const satisfies readonly (keyof WebhookFilter)[];
const SECRET = 'secret';

/**
 * @returns every field as it shall be.
 * @throws DomainError conflict when a `test` fails, invalid_input for all else that is wrong.
 */
export function planPatch(
  webhook: Webhook,
  operations: readonly PatchOperation[],
  policy: TargetPolicy,
): WebhookChange {
  const inFields = withMemberNames(operations, [...WRITABLE, ...READ_ONLY, SECRET]);
  const named = withMemberNames(inFields, FILTER_LISTS, '/filter');
  for (const [index, operation] of named.entries()) assertReadable(operation, index);
  // Null where the secret would be: it can be written there, and no operation that reads comes this far.
  const shown = { ...pick(webhook, [...WRITABLE, ...READ_ONLY]), [SECRET]: null };
  const patched = applyOperations(shown, named);
  // What the patch removed is cleared.
  const whole = [...WRITABLE, SECRET].map((name) => [name, patched[name] ?? null]);
  return parseInput(webhookChangeSchema(policy, webhook), Object.fromEntries(whole));
}

/** @throws DomainError invalid_input for what is not shown, or not to be changed. */
function assertReadable(operation: PatchOperation, index: number): void {
  const { op, path } = operation;
  if ('from' in operation) {
    assertMember(operation.from, [...WRITABLE, ...READ_ONLY], index, 'from');
    // A move takes it away from where it is.
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
  const problem = isReadOnly ? `${name} cannot be changed` : `${pointer || 'the whole'} is no field of a webhook`;
  throw operationError(index, member, problem);
}

function pick(webhook: Webhook, names: readonly (keyof Webhook)[]): object {
  return Object.fromEntries(names.map((name) => [name, webhook[name]]));
}
