/**
 * JSON Patch (RFC 6902): applies all operations to a document, or none. The package `rfc6902` makes the changes. This
 * file does what the package does not do safely:
 * - It checks pointers, because the package follows pointers into strings and prototypes.
 * - It performs `test` operations, because the package compares lists in quadratic time and memory.
 * - It limits copies, because a patch could double the document with each copy.
 */
import { isDeepStrictEqual } from 'node:util';
import { applyPatch, type Operation } from 'rfc6902';
import { z } from 'zod';
import { DomainError } from '../errors.ts';
import { parseInput } from '../http/lenient.ts';

const MAX_OPERATIONS = 1000;
/** Maximum number of characters of JSON that all operations of one patch together may copy. */
const MAX_COPIED_LENGTH = 1 << 20;

const pointerSchema = z
  .string()
  .regex(/^(\/([^~/]|~[01])*)*$/s, { error: 'must be a JSON Pointer such as /name' })
  .refine(
    (pointer) => !/\/(__proto__|constructor|prototype)(\/|$)/.test(pointer),
    'must not contain the member name __proto__, constructor or prototype',
  );

const located = <Op extends string>(op: Op) => z.object({ op: z.literal(op), path: pointerSchema });
const valued = <Op extends string>(op: Op) =>
  located(op).extend({ value: z.unknown().refine((value) => value !== undefined, { error: 'must be given' }) });
const sourced = <Op extends string>(op: Op) => located(op).extend({ from: pointerSchema });

/** Schema of a patch: at most 1,000 operations. */
export const patchSchema = z
  .array(
    z.discriminatedUnion(
      'op',
      [valued('add'), valued('replace'), valued('test'), located('remove'), sourced('move'), sourced('copy')],
      // The message for an unknown `op`. When the operation is not an object, zod's own message is used.
      {
        error: ({ code }) =>
          code === 'invalid_union' ? 'must be add, remove, replace, move, copy or test' : undefined,
      },
    ),
  )
  .max(MAX_OPERATIONS)
  .meta({
    id: 'JsonPatch',
    examples: [[{ op: 'replace', path: '/name', value: 'Oven 1' }]],
    description:
      'A JSON Patch (RFC 6902): all operations are applied, or none. If a `test` operation fails, the answer is 409.',
  });

export type PatchOperation = z.output<typeof patchSchema>[number];

/**
 * Parses a body, which may have at most 1,000 operations.
 * @throws {DomainError} invalid_input when the body is not a valid patch; the error lists the first 100 problems.
 */
export function parseOperations(body: unknown): readonly PatchOperation[] {
  return parseInput(patchSchema, body);
}

/**
 * Changes the letter case of each member name in the pointers to match its spelling in `names` (R-A3). A name that is
 * not in `names` stays unchanged.
 * @param parent pointer to the object that has the members `names`; by default, the whole document.
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
 * Applies the operations to a copy of the document.
 * @throws {DomainError} conflict when a `test` fails; invalid_input when an operation cannot be applied, or when the
 * operations copy more than MAX_COPIED_LENGTH characters in total.
 */
export function applyOperations(document: object, operations: readonly PatchOperation[]): Record<string, unknown> {
  const patched = structuredClone(document) as Record<string, unknown>;
  let copiedLength = 0;
  for (const [index, operation] of operations.entries()) {
    const problem = findProblem(patched, operation);
    if (problem) throw operationError(index, problem.member, problem.message);
    if (operation.op === 'copy') {
      copiedLength += JSON.stringify(find(patched, operation.from)?.value).length;
      if (copiedLength > MAX_COPIED_LENGTH)
        throw operationError(
          index,
          'from',
          `a patch must copy at most ${MAX_COPIED_LENGTH} characters of JSON in total, got ${copiedLength} so far`,
        );
    }
    if (operation.op === 'test') assertEqual(patched, operation, index);
    else applyOne(patched, operation, index);
  }
  return patched;
}

/**
 * Returns the `invalid_input` error for one operation.
 * @param member the member of the operation to which `message` applies.
 */
export function operationError(index: number, member: 'path' | 'from' | 'value', message: string): DomainError {
  const details = [{ path: `$[${index}].${member}`, message }];
  return new DomainError('invalid_input', `operation ${index} cannot be applied: ${message}`, details);
}

function assertEqual(document: unknown, { path, value }: Extract<PatchOperation, { op: 'test' }>, index: number): void {
  const found = find(document, path);
  if (found && isDeepStrictEqual(found.value, value)) return;
  const place = path === '' ? 'the document' : `the value at ${path}`;
  const message = found ? `${place} differs from the expected value` : `${path} does not exist`;
  throw new DomainError('conflict', `operation ${index}: ${message}`, [{ path: `$[${index}].value`, message }]);
}

function applyOne(document: object, operation: PatchOperation, index: number): void {
  const [failure] = applyPatch(document, [operation as Operation]);
  if (failure) throw operationError(index, 'path', failure.message);
}

interface Problem {
  /** The problem is in this member of the operation. */
  readonly member: 'path' | 'from';
  readonly message: string;
}

/** @returns the problem that prevents the operation, or undefined. `assertEqual` checks `test` operations instead. */
function findProblem(document: unknown, operation: PatchOperation): Problem | undefined {
  if (operation.op === 'test') return undefined;
  const { path } = operation;
  const inPath = (message: string): Problem => ({ member: 'path', message });
  if (path === '') return inPath('the pointer must name a member, not the whole document');
  if (operation.op === 'remove' || operation.op === 'replace') {
    return find(document, path) ? undefined : inPath(`${path} does not exist`);
  }
  if ('from' in operation && !find(document, operation.from))
    return { member: 'from', message: `${operation.from} does not exist` };
  if (operation.op === 'move' && path.startsWith(`${operation.from}/`))
    return inPath('a value must not be moved into itself');
  return isInsertable(document, path)
    ? undefined
    : inPath(
        `${path} must name a member of an existing object, or a position in an existing list: an index from 0 to its length, or "-" for its end`,
      );
}

/**
 * Finds the value at a pointer. The pointer is followed only through own members of objects and through array indices.
 * @returns undefined when no value exists at the pointer.
 */
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

/**
 * Returns true when a value may be inserted at the pointer. The parent must be an object or an array. In an array, the
 * index must be at most the length of the array, or `-`, which means the end of the array.
 */
function isInsertable(document: unknown, pointer: string): boolean {
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
