/** Tests the rendering and validation of body templates, and that data cannot change the structure of JSON (R-I1). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTemplate, renderTemplate } from '../../../src/webhooks/sending/body-template.ts';
import { validateTemplate } from '../../../src/webhooks/sending/validate-template.ts';

const MESSAGE = {
  type: 'VariableUpdated',
  timestamp: '2026-03-01T12:00:00Z',
  accountId: 7,
  data: { variableId: 5, name: 'a "quoted"\nname', isOn: true, none: null, variables: [{ from: 'x' }, { from: 'y' }] },
};

const render = (template: string, isJson = true, values: unknown = MESSAGE) =>
  renderTemplate(parseTemplate(template, isJson), values);

describe('webhook body template: rendering', () => {
  test.each([
    ['{"v": {{data.variableId}}}', { v: 5 }],
    ['{"v": "{{data.variableId}}"}', { v: '5' }],
    ['{"v": "{{data.name}}"}', { v: 'a "quoted"\nname' }],
    ['{"v": {{data.name}}}', { v: 'a "quoted"\nname' }],
    ['{"v": {{json data.name}}}', { v: 'a "quoted"\nname' }],
    ['{"v": "{{json data.name}}"}', { v: '"a \\"quoted\\"\\nname"' }],
    ['{"v": "of {{ type }} at {{timestamp}}, {{accountId}}"}', { v: 'of VariableUpdated at 2026-03-01T12:00:00Z, 7' }],
    ['{"v": {{data.variables[1].from}}}', { v: 'y' }],
    ['{"v": {{data.variables}}}', { v: [{ from: 'x' }, { from: 'y' }] }],
    ['{"v": "{{data.variables}}"}', { v: '[{"from":"x"},{"from":"y"}]' }],
    ['{"v": [{{data.isOn}}, {{data.none}}]}', { v: [true, null] }],
    ['{"{{type}}": 1}', { VariableUpdated: 1 }],
    ['{"o":{"v":{{data.variableId}}}}', { o: { v: 5 } }],
    ['{{json data.variables}}', [{ from: 'x' }, { from: 'y' }]],
    [
      '{"v": {{data.unknown.further}}, "w": "{{data.unknown}}", "x": "{{json data.unknown}}"}',
      { v: null, w: '', x: 'null' },
    ],
  ])('%s renders as %j (R-I1)', (template, expected) => {
    expect(validateTemplate(template, 'application/json')).toEqual([]);
    expect(JSON.parse(render(template) ?? '')).toEqual(expected);
  });

  test('in a template that is not JSON, only {{json path}} adds quotes to a string (R-I1)', () => {
    const template =
      'Variable {{data.variableId}} is {{data.name}}, {{json data.name}}: {{data.variables}}{{data.unknown}}';
    expect(validateTemplate(template, 'text/plain')).toEqual([]);
    expect(render(template, false)).toBe(
      'Variable 5 is a \\"quoted\\"\\nname, "a \\"quoted\\"\\nname": [{"from":"x"},{"from":"y"}]',
    );
  });

  test.each(['__proto__', 'constructor', 'data.toString', 'data.constructor.name', 'data.name.length', 'type[0]'])(
    'the path %s renders as null, because a path reads only own members of objects and lists (R-I1)',
    (path) => expect(render(`[{{${path}}}]`)).toBe('[null]'),
  );

  test('a body above 1 MiB is not rendered (R-I1)', () => {
    const values = { data: { text: 'é'.repeat(400_000), many: new Array<number>(1000).fill(1) } };
    expect(render('"{{data.text}}"', true, values)?.length).toBe(400_002);
    expect(render('["{{data.text}}","{{data.text}}"]', true, values)).toBeUndefined();
    expect(render('{{json data.many}}'.repeat(3000), false, values)).toBeUndefined();
  });
});

describe('webhook body template: validation (R-I1)', () => {
  test.each([
    ['{"v": {{data.x}', 'line 1, column 7', 'must close every "{{" with "}}"'],
    ['{"v":\n  {{#each data}}}', 'line 2, column 3', /^must have a path in {{…}}/],
    ['{"v": {{data["x"]}}}', 'line 1, column 7', /must have a path/],
    ['{"v": {{1 + 1}}}', 'line 1, column 7', /must have a path/],
    ['{"v": {{}}}', 'line 1, column 7', /must have a path/],
    ['{"v": {{data..x}}}', 'line 1, column 7', /must have a path/],
    ['{"v": "\\{{data.x}}n"}', 'line 1, column 9', 'must not have a placeholder inside an escape sequence'],
    ['{"v": "\\u00{{data.x}}"}', 'line 1, column 12', 'must not have a placeholder inside an escape sequence'],
    ['{"v": 1{{data.x}}}', 'line 1, column 8', /^must be JSON/],
    ['{"v": {{data.x}}{{data.y}}}', 'line 1, column 17', /^must be JSON/],
    ['{"v":\n{{data.x}}', 'line 2, column 11', /^must be JSON/],
    ['{{{data.x}}: 1}', 'line 1, column 1', /must have a path/],
    ['{ {{data.x}}: 1}', 'line 1, column 3', /^must be JSON/],
    ['hello', 'line 1, column 1', /^must be JSON/],
    ['', 'line 1, column 1', /^must be JSON/],
  ])('refuses the template %j with an error at %s', (template, location, message) => {
    const [problem] = validateTemplate(template, 'application/vnd.x+json; charset=utf-8');
    expect(problem).toEqual({ location, message: expect.stringMatching(message) });
  });

  test('reports every syntax error of a template, not only the first', () => {
    expect(validateTemplate('{{a b}} {{#if}} {{x', 'text/plain')).toHaveLength(3);
  });

  test('refuses a template longer than 65,536 characters', () => {
    expect(validateTemplate('x'.repeat(65_536), 'text/plain')).toEqual([]);
    expect(validateTemplate('x'.repeat(65_537), 'text/plain')).toEqual([
      { location: 'line 1, column 1', message: 'must have at most 65536 characters, got 65537' },
    ]);
  });
});

describe('webhook body template: data cannot change the structure of JSON (R-I1)', () => {
  const hole = fc.constantFrom('{{data.a}}', '{{json data.a}}', '{{data.b}}');
  const inText = fc.array(fc.oneof(hole, fc.constantFrom('\\n', '\\\\', '\\"', '\\u0041', 'u', ',', '}')), {
    maxLength: 6,
  });
  const entry = fc.oneof(
    hole,
    fc.constantFrom('1', 'null', '[]'),
    inText.map((parts) => `"${parts.join('')}"`),
  );
  const sound = fc.array(entry, { maxLength: 5 }).map((entries) => `{"x": [${entries.join(', ')}], "y": {{data.b}}}`);
  const cut = fc
    .tuple(sound, fc.nat(60), fc.constantFrom('"', '\\', '1', '{{data.a}}', ',', '\\u00'))
    .map(([text, at, what]) => {
      return text.slice(0, at) + what + text.slice(at);
    });
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('"', '\\', '}', ',', 'u', '1') }),
    fc.json(),
    fc.jsonValue(),
  );
  const markText = (data: unknown) => (typeof data === 'string' ? data : MARK);
  const read = (template: string, data: unknown): unknown => JSON.parse(render(template, true, { data }) ?? '');

  test('a valid template renders JSON of the same shape, whatever strings the data contains', () => {
    let valid = 0;
    fc.assert(
      fc.property(fc.oneof(sound, cut), value, value, (template, a, b) => {
        if (validateTemplate(template, 'application/json').length > 0) return;
        valid++;
        const marked = shapeOf(read(template, { a: MARK, b: MARK }));
        expect(shapeOf(read(template, { a: markText(a), b: markText(b) }))).toEqual(marked);
        read(template, { a, b });
      }),
      { numRuns: 1500 },
    );
    expect(valid).toBeGreaterThan(700);
  });

  test('parsing the JSON returns the inserted string, whether the template inserts it between quotes or as a value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(JSON.parse(render('{"x":"{{data}}","y":{{data}}}', true, { data: text }) ?? '')).toEqual({
          x: text,
          y: text,
        });
      }),
    );
  });
});

const MARK = 'mark';

/** @returns a copy of the value: each object is replaced by a list of its values, and each scalar by its type. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value === 'object' && value !== null) return Object.values(value).map(shapeOf);
  return typeof value;
}
