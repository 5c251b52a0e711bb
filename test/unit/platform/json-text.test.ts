/** Tests JSON texts whose keys contain escapes. V8 confuses such a key with a key that was parsed before. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonText } from '../../../src/platform/json/json-text.ts';

describe('json text: keys with escapes', () => {
  it.each([
    ['a line feed', '\\n', '\n'],
    ['a quote', '\\"', '"'],
    ['a letter with an accent, as clients in Python write it', '\\u00e9', 'é'],
  ])('a key that is %s is parsed correctly even if an earlier key was a backslash', (what, raw, key) => {
    const other = JSON.stringify(what);
    parseJsonText(`{${other}:1,"\\\\":2}`);
    expect(parseJsonText(`{${other}:1,"${raw}":2}`)).toEqual({ [what]: 1, [key]: 2 });
  });

  it('a key that is written as `ann\\u00e9e` is parsed as `année`, even after a key that ends with a backslash and `u`', () => {
    parseJsonText('{"year":1,"ann\\\\u":2}');
    expect(parseJsonText('{"year":1,"ann\\u00e9e":2}')).toEqual({ year: 1, année: 2 });
  });

  it('parsing the JSON text of a value gives the same value', () => {
    const key = fc.oneof(
      fc.string(),
      fc.constantFrom('\\', '"', '\n', '\\n', 'a\\', 'a"', '__proto__', '1', '\u{e000}0'),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, fc.jsonValue({ maxDepth: 0 }), tie('list'), tie('object')),
      list: fc.array(tie('tree'), { maxLength: 4 }),
      object: fc.dictionary(key, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
    }));
    fc.assert(
      fc.property(tree, fc.boolean(), (value, isAscii) => {
        const plain = JSON.stringify(value);
        const toEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
        const text = isAscii ? plain.replace(/[\u007f-\uffff]/g, toEscape) : plain;
        expect(JSON.stringify(parseJsonText(text))).toBe(plain);
      }),
    );
  });

  it('when a key occurs in two spellings, the last value is kept at the first position', () => {
    expect(JSON.stringify(parseJsonText('{"\\u0061":1,"b":2,"a":3}'))).toBe('{"a":3,"b":2}');
  });

  it('a key `__proto__` that is written with an escape becomes a member and does not set the prototype', () => {
    const parsed = parseJsonText('{"\\u005f_proto__":{"x":1}}') as object;
    expect([Object.keys(parsed), Object.getPrototypeOf(parsed)]).toEqual([['__proto__'], Object.prototype]);
  });

  it('an invalid text gets the error of JSON.parse, with the position in the text', () => {
    const text = '{"a\\n":1,}';
    let expected = '';
    try {
      JSON.parse(text);
    } catch (error) {
      expected = (error as Error).message;
    }
    expect(expected).toContain('position 9');
    expect(() => parseJsonText(text)).toThrow(expected);
  });

  it('a reviver changes values, and a deeply nested text does not overflow the stack', () => {
    expect(parseJsonText('{"a\\n":"x"}', (_key, value) => (value === 'x' ? 'y' : value))).toEqual({ 'a\n': 'y' });
    const depth = 5000;
    expect(parseJsonText(`${'{"\\n":'.repeat(depth)}1${'}'.repeat(depth)}`)).toHaveProperty('\n');
  });
});
