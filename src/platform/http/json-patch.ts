/**
 * JSON Patch (RFC 6902): reading a list of operations, and applying it to a document, all or nothing. The package
 * `rfc6902` does the changing. Where a path leads, whether a `test` holds and how much is copied is decided here: it also
 * walks into texts and prototypes, compares lists in time and memory of their lengths multiplied (a `test` of 1,000
 * entries against 3,000 takes 4 GB), and lets a few copies of a document into itself double it each time.
 */
import { isDeepStrictEqual } from 'node:util';
import { applyPatch, type Operation } from 'rfc6902';
import { z } from 'zod';
import { DomainError } from '../errors.ts';
import { parseInput } from './lenient.ts';

const MAX_OPERATIONS = 1000;
/** Of all that the operations of a patch copy, as JSON. */
const MAX_COPIED_LENGTH = 1 << 20;

const pointerSchema = z
  .string()
  .regex(/^(\/([^~/]|~[01])*)*$/s, { error: 'must be a JSON Pointer such as /name' })
  .refine((pointer) => !/\/(__proto__|constructor|prototype)(\/|$)/.test(pointer), 'must not lead through __proto__');

const located = <Op extends string>(op: Op) => z.object({ op: z.literal(op), path: pointerSchema });
const valued = <Op extends string>(op: Op) =>
  located(op).extend({ value: z.unknown().refine((value) => value !== undefined, { error: 'must be given' }) });
const sourced = <Op extends string>(op: Op) => located(op).extend({ from: pointerSchema });

/** A list of operations as it is written. */
export const patchSchema = z
  .array(
    z.discriminatedUnion(
      'op',
      [valued('add'), valued('replace'), valued('test'), located('remove'), sourced('move'), sourced('copy')],
      { error: 'op must be add, remove, replace, move, copy or test' },
    ),
  )
  .max(MAX_OPERATIONS)
  .meta({
    id: 'JsonPatch',
    examples: [[{ op: 'replace', path: '/name', value: 'Oven 1' }]],
    description: 'RFC 6902, all or nothing; a `test` that fails is 409.',
  });

export type PatchOperation = z.output<typeof patchSchema>[number];

/** Reads a body of at most 1,000 operations. @throws DomainError invalid_input naming every place. */
export function parseOperations(body: unknown): readonly PatchOperation[] {
  return parseInput(patchSchema, body);
}

/**
 * The operations with the names of members as they are in `names`, which are given in any case (R-A3).
 * @param parent pointer of what has the members; by default the document.
 */
export function withMemberNames(
  operations: readonly PatchOperation[],
  names: readonly string[],
  parent = '',
): readonly PatchOperation[] {
  const rename = (pointer: string): string => {
    if (!pointer.startsWith(`${parent}/`)) return pointer;
    const [first = '', ...rest] = pointer.slice(parent.length + 1).split('/');
    const name = names.find((candidate) => candidate.toLowerCase() === first.toLowerCase());
    return [parent, name ?? first, ...rest].join('/');
  };
  return operations.map((operation) => ({
    ...operation,
    path: rename(operation.path),
    ...('from' in operation && { from: rename(operation.from) }),
  }));
}

/**
 * Applies the operations to a copy.
 * @throws DomainError conflict when a `test` fails, invalid_input for an operation that cannot be applied.
 */
export function applyOperations(document: object, operations: readonly PatchOperation[]): Record<string, unknown> {
  const patched = structuredClone(document) as Record<string, unknown>;
  let copiedLength = 0;
  for (const [index, operation] of operations.entries()) {
    const problem = findProblem(patched, operation);
    if (problem !== undefined) throw operationError(index, 'path', problem);
    if (operation.op === 'copy') {
      copiedLength += JSON.stringify(find(patched, operation.from)?.value).length;
      if (copiedLength > MAX_COPIED_LENGTH) throw operationError(index, 'from', 'this copies too much');
    }
    if (operation.op === 'test') assertEqual(patched, operation, index);
    else applyOne(patched, operation, index);
  }
  return patched;
}

/** The error for one operation. @param member of it, that is wrong. */
export function operationError(index: number, member: 'path' | 'from' | 'value', message: string): DomainError {
  const details = [{ path: `$[${index}].${member}`, message }];
  return new DomainError('invalid_input', `operation ${index} cannot be applied: ${message}`, details);
}

function assertEqual(document: unknown, { path, value }: Extract<PatchOperation, { op: 'test' }>, index: number): void {
  const found = find(document, path);
  if (found && isDeepStrictEqual(found.value, value)) return;
  const message = `the value at ${path} is another`;
  throw new DomainError('conflict', `operation ${index}: ${message}`, [{ path: `$[${index}].value`, message }]);
}

function applyOne(document: object, operation: PatchOperation, index: number): void {
  const [failure] = applyPatch(document, [operation as Operation]);
  if (failure) throw operationError(index, 'path', failure.message);
}

/** What would make no sense to apply; a `test` may ask for anything. */
function findProblem(document: unknown, operation: PatchOperation): string | undefined {
  if (operation.op === 'test') return undefined;
  if (operation.path === '') return 'the whole document cannot be changed';
  if ('from' in operation && !find(document, operation.from)) return `there is nothing at ${operation.from}`;
  const hasPlace =
    operation.op === 'remove' || operation.op === 'replace'
      ? find(document, operation.path) !== undefined
      : isRoomAt(document, operation.path);
  return hasPlace ? undefined : `there is nothing at ${operation.path}`;
}

/** What stands at a pointer, by members of objects' own and by numbers of entries; undefined: nothing. */
function find(document: unknown, pointer: string): { readonly value: unknown } | undefined {
  let value = document;
  for (const token of tokensOf(pointer)) {
    if (typeof value !== 'object' || value === null) return undefined;
    const isThere = Array.isArray(value) ? isIndex(token, value.length - 1) : Object.hasOwn(value, token);
    if (!isThere) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[token];
  }
  return { value };
}

/** Whether something can be added there. */
function isRoomAt(document: unknown, pointer: string): boolean {
  const end = pointer.lastIndexOf('/');
  const [token = ''] = tokensOf(pointer.slice(end));
  const parent = find(document, pointer.slice(0, end))?.value;
  if (Array.isArray(parent)) return token === '-' || isIndex(token, parent.length);
  return typeof parent === 'object' && parent !== null;
}

function isIndex(token: string, max: number): boolean {
  return /^(0|[1-9]\d*)$/.test(token) && Number(token) <= max;
}

function tokensOf(pointer: string): readonly string[] {
  const [, ...tokens] = pointer.split('/').map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  return tokens;
}
