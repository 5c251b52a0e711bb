/** Compares the public proto with its frozen copy, and the proto with the descriptors that reflection serves. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';

const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url));
const PRESENT = readFileSync(join(CHECKOUT, 'proto/tidemark/v1/data_points.proto'), 'utf8');
/**
 * Frozen copy of proto v1, as clients use it. When a release adds an element to the proto, add the element to this copy
 * too. Never change or remove an element of the copy.
 */
const FROZEN = readFileSync(join(CHECKOUT, 'test/fixtures/proto/v1/data_points.proto'), 'utf8');
const BUF = join(CHECKOUT, 'node_modules/@bufbuild/buf/bin/buf');

/**
 * @returns by the full name of each field, enum value and call: its properties that affect the wire format.
 */
function elementsOf(proto: string): ReadonlyMap<string, unknown> {
  const { root } = protobuf.parse(proto, { keepCase: true });
  root.resolveAll();
  const elements = new Map<string, unknown>();
  const visit = (node: protobuf.ReflectionObject): void => {
    if (node instanceof protobuf.Enum) {
      for (const [name, number] of Object.entries(node.values)) elements.set(`${node.fullName}.${name}`, number);
    }
    if (node instanceof protobuf.Type) {
      for (const field of node.fieldsArray) elements.set(field.fullName, describeField(field));
    }
    if (node instanceof protobuf.Service) {
      for (const method of node.methodsArray) elements.set(method.fullName, method.toJSON());
    }
    if (node instanceof protobuf.Namespace) node.nestedArray.forEach(visit);
  };
  visit(root);
  return elements;
}

function describeField(field: protobuf.Field): object {
  const { id, type, repeated, packed, partOf, options } = field;
  const keyType = field instanceof protobuf.MapField ? field.keyType : undefined;
  const isOptional = options?.proto3_optional === true;
  return {
    id,
    type,
    repeated,
    packed: repeated && packed,
    keyType,
    isOptional,
    oneof: isOptional ? null : partOf?.name,
  };
}

/** @returns names of elements of the frozen proto that the given proto lacks or defines differently. */
function incompatibilities(proto: string): readonly string[] {
  const present = elementsOf(proto);
  return [...elementsOf(FROZEN)].flatMap(([name, element]) => {
    return JSON.stringify(present.get(name)) === JSON.stringify(element) ? [] : [name];
  });
}

describe('grpc proto: the check of wire compatibility with the frozen v1', () => {
  it('finds every field, enum value and call of v1 unchanged in the proto (R-J1)', () => {
    expect(elementsOf(FROZEN).size).toBeGreaterThan(120);
    expect(incompatibilities(PRESENT)).toEqual([]);
  });

  it.each([
    ['a new field number', 'int32 variable_id = 1;', 'int32 variable_id = 91;', '.tidemark.v1.PointChunk.variable_id'],
    ['a new field type', 'int64 point_count = 4;', 'int32 point_count = 4;', '.tidemark.v1.Version.point_count'],
    ['a new field name', 'string alias = 2;', 'string name = 2;', '.tidemark.v1.RunInput.alias'],
    ['a lost `optional`', 'optional int32 line = 6;', 'int32 line = 6;', '.tidemark.v1.RunNotes.line'],
    ['a new label', 'repeated int32 ancestors = 16;', 'int32 ancestors = 16;', '.tidemark.v1.Run.ancestors'],
    ['a new key type of a map', 'map<string, int64> counts', 'map<int32, int64> counts', '.tidemark.v1.Run.counts'],
    ['unpacked numbers', 'values = 3 [packed = true]', 'values = 3 [packed = false]', '.tidemark.v1.PointChunk.values'],
    ['a new number of an enum value', 'FILL_NULL = 3', 'FILL_NULL = 4', '.tidemark.v1.Fill.FILL_NULL'],
    ['an answer that no longer streams', 'returns (stream Run)', 'returns (Run)', '.tidemark.v1.DataPoints.ListRuns'],
  ])('reports %s', (_change, before, after, name) => {
    expect(PRESENT).toContain(before);
    expect(incompatibilities(PRESENT.replace(before, after))).toContain(name);
  });

  it('accepts new messages and fields', () => {
    const extended = PRESENT.replace(
      'message PointChunk {',
      'message Added { string text = 1; }\nmessage PointChunk {\n  int32 added = 99;',
    );
    expect(extended).not.toBe(PRESENT);
    expect(incompatibilities(extended)).toEqual([]);
  });
});

describe('grpc proto: descriptors for reflection', () => {
  it('proto/descriptors.binpb equals the descriptors that buf builds from the proto (R-J1)', () => {
    const fresh = join(tmpdir(), `descriptors-${process.pid}.binpb`);
    execFileSync(process.execPath, [BUF, 'build', '--config', '.buf.yaml', '--as-file-descriptor-set', '-o', fresh], {
      cwd: CHECKOUT,
    });
    const isSame = readFileSync(fresh).equals(readFileSync(join(CHECKOUT, 'proto/descriptors.binpb')));
    expect(isSame, '.buf.yaml has the command that renews the file').toBe(true);
  });
});
