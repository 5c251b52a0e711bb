/** Parses what clients write: the bodies of POST, PUT and PATCH of sites, sources and variables (R-A3, R-A6). */
import type { z } from 'zod';
import { lenientObject, parseInput } from '../platform/http/lenient.ts';
import { applyOperations, parseOperations, withMemberNames } from '../platform/json/json-patch.ts';
import type { Resource, ResourceObject } from './resource.ts';

/** Parses the body of a POST. @throws {DomainError} invalid_input. */
export function parseNew(resource: Resource, body: unknown): Record<string, unknown> {
  return parseInput(writableSchema(resource, resource.required), body);
}

/** Parses the body of a PUT: the members to change. @throws {DomainError} invalid_input. */
export function parseChange(resource: Resource, body: unknown): Record<string, unknown> {
  return parseInput(writableSchema(resource, []), body);
}

/**
 * Applies a JSON Patch (RFC 6902), all or nothing, to the members of `current`.
 * @returns every writable member after the patch.
 * @throws {DomainError} conflict when a `test` operation fails; invalid_input for any other fault.
 */
export function parsePatch(resource: Resource, current: ResourceObject, body: unknown): Record<string, unknown> {
  const operations = withMemberNames(parseOperations(body), Object.keys(resource.fields));
  const patched = applyOperations(current, operations);
  // A member that the patch removed is set to null.
  const whole = Object.fromEntries(Object.keys(resource.fields).map((name) => [name, patched[name] ?? null]));
  return parseInput(writableSchema(resource, Object.keys(resource.fields)), whole);
}

function writableSchema(resource: Resource, required: readonly string[]) {
  return lenientObject(writableShape(resource, required));
}

/** @returns the schemas of the writable members of a body; members not in `required` are optional. */
export function writableShape(resource: Resource, required: readonly string[]): Readonly<Record<string, z.ZodType>> {
  const shape = Object.entries(resource.fields).map(([name, { schema }]) => {
    return [name, required.includes(name) ? schema : schema.optional()] as const;
  });
  return Object.fromEntries(shape);
}
