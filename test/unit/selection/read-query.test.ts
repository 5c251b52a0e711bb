import { describe, expect, test } from 'vitest';
import { locationInBody, sourceOfBody } from '../../../src/selection/read-query.ts';

const textsOf = (body: unknown, name: string) =>
  sourceOfBody(body)
    .all(name)
    .map(({ text }) => text);
const pathOf = (body: unknown, name: string, index?: number) => sourceOfBody(body).locationOf(name, index).path;

describe('read query: a body as a source of parameters (R-G1)', () => {
  test('names match in any letter case, and a prefix that ends in a dot is ignored', () => {
    const body = { 'Filter.Options.VariableIds': [1, 2], variableids: 3 };
    expect(textsOf(body, 'variableIds')).toEqual(['1', '2', '3']);
    expect(textsOf(body, 'sourceIds')).toEqual([]);
    expect(sourceOfBody(body).all('VARIABLEIDS')[0]).toMatchObject({ name: 'variableids', text: '1' });
  });

  test('members of nested objects are read under their own name; items of nested arrays are read under the name of the array', () => {
    const body = { filter: { options: { version: [['V1', ['V2']], 'V3'] } }, list: [{ version: 'V4' }] };
    expect(textsOf(body, 'version')).toEqual(['V1', 'V2', 'V3', 'V4']);
  });

  test('null counts as absent; false, 0 and an empty text do not', () => {
    const body = { a: null, b: [null, undefined], c: [false, 0, ''] };
    expect(['a', 'b', 'c'].map((name) => textsOf(body, name))).toEqual([[], [], ['false', '0', '']]);
    expect(sourceOfBody(null).all('a')).toEqual([]);
  });

  test('an error about one value of a list names the path of this value; an error about a parameter names the path of the member that sets the parameter', () => {
    const body = { filter: { Ids: [[1, 2], 3], one: 4 } };
    expect([0, 1, 2].map((index) => pathOf(body, 'ids', index))).toEqual([
      '$.filter.Ids[0][0]',
      '$.filter.Ids[0][1]',
      '$.filter.Ids[1]',
    ]);
    expect([pathOf(body, 'ids'), pathOf(body, 'ONE'), pathOf(body, 'one', 0)]).toEqual([
      '$.filter.Ids',
      '$.filter.one',
      '$.filter.one',
    ]);
    expect([pathOf(body, 'other'), pathOf(body, 'other', 1), pathOf(body, 'ids', 9)]).toEqual([
      '$.other',
      '$.other',
      '$.ids',
    ]);
    const items = [{ id: 1 }, { id: 2 }];
    expect([pathOf({ items }, 'id'), pathOf({ items }, 'id', 0)]).toEqual(['$.items[1].id', '$.items[0].id']);
    expect(pathOf({ ids: [1, [2, [3]]] }, 'ids')).toBe('$.ids');
    expect(pathOf({ ids: Array.from({ length: 11 }, (_, id) => id) }, 'ids')).toBe('$.ids');
    expect(pathOf({ lists: { 11: ['a'] } }, '11')).toBe('$.lists.11');
    expect(locationInBody('$.from')).toEqual({ subject: '$.from', path: '$.from' });
  });

  test('a member named `tags`, in any letter case and at any depth, may be an object of strings, or a string with the syntax of the query parameter `tags`', () => {
    const { tagPairs } = sourceOfBody({ Filter: { Tags: { quality: 'first', url: '' } }, 'x.TAGS': [{ a: 'b' }] });
    expect(tagPairs).toEqual([
      ['quality', 'first'],
      ['url', ''],
      ['a', 'b'],
    ]);
    expect(textsOf({ tags: 'a:b' }, 'tags')).toEqual(['a:b']);
    expect(sourceOfBody({ tags: 'a:b', labels: { c: 'd' } }).tagPairs).toEqual([]);
  });

  test.each([
    [{ filter: { tags: { level: 3 } } }, '$.filter.tags.level must be a string, got 3'],
    [{ tags: [{ a: 'b' }, { c: null }] }, '$.tags[1].c must be a string, got null'],
  ])('a tag whose value is not a string is refused: %j', (body, message) => {
    expect(() => sourceOfBody(body)).toThrow(message);
  });

  test('a parameter whose value is an object is refused only when the parameter is read', () => {
    const source = sourceOfBody({ Options: { From: { date: '2026-01-01' } } });
    expect(source.all('date')).toMatchObject([{ text: '2026-01-01' }]);
    expect(() => source.all('FROM')).toThrow('$.Options.From must be a value or a list of values, got an object');
  });
});
