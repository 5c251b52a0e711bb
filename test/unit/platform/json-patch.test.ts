import fc from 'fast-check';
import { createPatch } from 'rfc6902';
import { describe, expect, it } from 'vitest';
import { DomainError } from '../../../src/platform/errors.ts';
import { applyOperations, parseOperations, withMemberNames } from '../../../src/platform/json/json-patch.ts';
import { measureThread } from '../../support/measure-turns.ts';

const apply = (document: object, body: unknown) => applyOperations(document, parseOperations(body));

function refusalOf(document: object, ...operations: readonly unknown[]) {
  const before = structuredClone(document);
  try {
    apply(document, operations);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    expect(document).toEqual(before);
    const { code, message, details = [] } = error;
    return { code, message, paths: details.map(({ path }) => path), rules: details.map((detail) => detail.message) };
  }
  throw new Error('it was applied');
}

const json = fc.object({ maxDepth: 3, values: [fc.integer(), fc.string(), fc.boolean(), fc.constant(null)] });

it('json patch: a patch that the library rfc6902 computes between two documents turns the first into the second (R-I6)', () => {
  fc.assert(
    fc.property(json, json, (before, after) => {
      const operations = createPatch(before, after);
      // `parseOperations` refuses pointers that contain one of these names.
      fc.pre(!JSON.stringify(operations).match(/__proto__|constructor|prototype/));
      expect(apply(before, JSON.parse(JSON.stringify(operations)))).toEqual(after);
    }),
  );
});

const DOCUMENT = { name: 'x', list: ['a', 'b'], inner: { toString: 1 } };

describe('json patch: operations', () => {
  it.each([
    ['adds into a text', { op: 'add', path: '/name/x', value: 1 }],
    ['adds below a missing value', { op: 'add', path: '/none/x', value: 1 }],
    ['adds beyond the end of a list', { op: 'add', path: '/list/3', value: 1 }],
    ['adds at an index with a leading zero', { op: 'add', path: '/list/01', value: 1 }],
    ['removes the length of a list', { op: 'remove', path: '/list/length' }],
    ['removes an inherited member', { op: 'remove', path: '/toString' }],
    ['replaces beyond the end of a list', { op: 'replace', path: '/list/-', value: 1 }],
    ['replaces a missing value', { op: 'replace', path: '/none', value: 1 }],
    ['replaces the whole document', { op: 'replace', path: '', value: {} }],
    ['removes the whole document', { op: 'remove', path: '' }],
    ['moves a value into itself', { op: 'move', from: '/inner', path: '/inner/a' }],
  ])(
    'when an operation %s, nothing changes, and the error points to the `path` of the operation (R-I6)',
    (_what, operation) => {
      const first = { op: 'replace', path: '/name', value: 'y' };
      expect(refusalOf(DOCUMENT, first, operation)).toMatchObject({ code: 'invalid_input', paths: ['$[1].path'] });
    },
  );

  it.each([
    ['copies an inherited member', { op: 'copy', from: '/inner/valueOf', path: '/a' }],
    ['moves a missing value', { op: 'move', from: '/inner/valueOf', path: '/a' }],
  ])(
    'when an operation %s, nothing changes, and the error points to the `from` of the operation (R-I6)',
    (_what, operation) => {
      expect(refusalOf(DOCUMENT, operation)).toMatchObject({
        ...{ code: 'invalid_input', paths: ['$[0].from'] },
        message: 'operation 0 cannot be applied: /inner/valueOf does not exist',
      });
    },
  );

  it.each([
    ['removes a missing value', { op: 'remove', path: '/none' }, '/none does not exist'],
    [
      'moves a value into itself',
      { op: 'move', from: '/inner', path: '/inner/a' },
      'a value must not be moved into itself',
    ],
    [
      'adds below a missing value',
      { op: 'add', path: '/none/x', value: 1 },
      '/none/x must name a member of an existing object, or a position in an existing list: an index from 0 to its length, or "-" for its end',
    ],
  ])('when an operation %s, the error states the broken rule (R-I6, R-A5)', (_what, operation, rule) => {
    expect(refusalOf(DOCUMENT, operation).rules).toEqual([rule]);
  });

  it('for each malformed operation of a patch, the error gives the JSON path of the fault, for example `$[0].path` (R-I6, R-A5)', () => {
    const operations = [
      { op: 'add', path: 'name', value: 1 },
      { op: 'add', path: '/name' },
      { op: 'explode', path: '/a' },
      { op: 'copy', path: '/a' },
      { op: 'add', path: '/a/__proto__/b', value: 1 },
      { op: 'test', path: '/a~2', value: 1 },
      7,
    ];
    const paths = ['$[0].path', '$[1].value', '$[2].op', '$[3].from', '$[4].path', '$[5].path', '$[6]'];
    const refusal = refusalOf(DOCUMENT, ...operations);
    expect(refusal).toMatchObject({ code: 'invalid_input', paths });
    expect([refusal.rules[2], refusal.rules[4], refusal.rules[6]]).toEqual([
      'must be add, remove, replace, move, copy or test',
      'must not contain the member name __proto__, constructor or prototype',
      'must be an object, got a number',
    ]);
    expect(() => parseOperations({ op: 'add', path: '/a', value: 1 })).toThrow('must be a list');
  });
});

describe('json patch: the operation `test`', () => {
  it.each([
    ['another value', '/name', 'z', 'the value at /name differs from the expected value'],
    ['a missing value', '/none', null, '/none does not exist'],
    [
      'another value of a member with an inherited name',
      '/inner',
      { toString: 2 },
      'the value at /inner differs from the expected value',
    ],
    ['a list in another order', '/list', ['b', 'a'], 'the value at /list differs from the expected value'],
    ['another document', '', { name: 'x' }, 'the document differs from the expected value'],
  ])('fails with the code `conflict` for %s (R-I6)', (_what, path, value, rule) => {
    expect(refusalOf(DOCUMENT, { op: 'test', path, value })).toMatchObject({
      ...{ code: 'conflict', message: `operation 0: ${rule}`, rules: [rule] },
    });
  });

  it('succeeds for equal values, including null, the whole document, and an object whose members are in another order (R-I6)', () => {
    const document = { a: { b: 1, c: [null] }, d: null };
    const tests = [
      { op: 'test', path: '/a', value: { c: [null], b: 1 } },
      { op: 'test', path: '/d', value: null },
      { op: 'test', path: '', value: { d: null, a: { c: [null], b: 1 } } },
    ];
    expect(apply(document, tests)).toEqual(document);
  });

  it('compares two lists of 100,000 numbers in less than a second of processor time (R-I6)', async () => {
    const list = (last: number) => [...Array(99_999).keys(), last];
    const operations = parseOperations([{ op: 'test', path: '/list', value: list(1) }]);
    const document = { list: list(2) };
    const compare = () => expect(() => applyOperations(document, operations)).toThrow();
    expect((await measureThread(compare)).threadMs).toBeLessThan(1000);
  });
});

it('json patch: a patch that repeatedly copies a value into itself is refused when the copies together exceed the size limit (R-I6)', () => {
  const copies = Array.from({ length: 1000 }, (_, index) => ({ op: 'copy', from: '/a', path: `/a/k${index}` }));
  expect(refusalOf({ a: { x: 1 } }, ...copies)).toMatchObject({
    ...{ code: 'invalid_input', paths: ['$[16].from'] },
    rules: [expect.stringMatching(/^a patch must copy at most 1048576 characters of JSON in total, got \d{7} /)],
  });
});

it('json patch: in a pointer, the name of a declared member is changed to its declared spelling; names below this member stay unchanged (R-A3)', () => {
  const operations = parseOperations([{ op: 'move', path: '/NAME/A', from: '/List/0' }]);
  const [renamed] = withMemberNames(operations, ['name', 'list']);
  expect(renamed).toEqual({ op: 'move', path: '/name/A', from: '/list/0' });
  const [inner] = withMemberNames(parseOperations([{ op: 'remove', path: '/Name/LIST/a' }]), ['list'], '/Name');
  expect(inner?.path).toBe('/Name/list/a');
  expect(withMemberNames(operations, ['list'], '/other')).toEqual(operations);
});
