import { describe, expect, it } from 'vitest';
import { parseScenarios } from '../../scenarios/engine/parser.ts';

const parse = (...lines: readonly string[]) => parseScenarios('f', lines.join('\n'));
const inScenario = (...lines: readonly string[]) => parse('scenario a rule (§9.2)', 'variable A versioned', ...lines);

describe('scenario parser', () => {
  it('returns scenarios with their positions and commands (§9.2)', () => {
    const [first, second] = parse(
      '# about versions',
      'scenario one (§9.2)',
      'variable A versioned limit 2 # a comment',
      'push A at start version V1 tags "a b"=c { 2026-01-01 1 ; 2026-01-02T00:15 -2.5e3 version "x; y" }',
      'read A version V1, "x; y" from 2026-01-01 -> {',
      '  2026-01-01 1 version V1 at start',
      '}',
      '',
      'scenario two (R-F3)',
      'variable B',
      'count B -> 0',
    );
    expect(first).toMatchObject({ title: 'one (§9.2)', position: { file: 'f', line: 2 } });
    expect(first?.commands).toMatchObject([
      { kind: 'variable', variable: 'A', isVersioned: true, limit: 2, position: { line: 3 } },
      {
        kind: 'write',
        moment: { kind: 'label', label: 'start' },
        bodies: [
          [
            {
              variable: 'A',
              version: 'V1',
              tags: { 'a b': 'c' },
              readings: [{ value: 1 }, { value: -2500, version: 'x; y' }],
            },
          ],
        ],
      },
      {
        kind: 'read',
        query: { variables: ['A'], choice: { versionTags: ['V1', 'x; y'] } },
        expected: [{ value: 1, version: 'V1', position: { line: 6 } }],
      },
    ]);
    expect(second?.commands).toMatchObject([
      { isVersioned: false, limit: null },
      { kind: 'count', expected: 0 },
    ]);
  });

  it('expands a row pattern to many rows (§2)', () => {
    const [scenario] = inScenario('push A { 2026-01-31 step P1M times 3 10 up 5 }', 'count A -> 3');
    const [, push] = scenario?.commands ?? [];
    const readings = push?.kind === 'write' ? push.bodies[0]?.[0]?.readings : undefined;
    expect(readings?.map(({ dateMicros, value }) => [new Date(dateMicros / 1000).toISOString(), value])).toEqual([
      ['2026-01-31T00:00:00.000Z', 10],
      ['2026-02-28T00:00:00.000Z', 15],
      ['2026-03-28T00:00:00.000Z', 20],
    ]);
  });

  // Each error names the line and the rule.
  it.each([
    ['a scenario without an expectation', ['push A { 2026-01-01 1 }'], 'f:1: a scenario must expect something'],
    ['an unknown command', ['reed A -> none'], 'f:3: a command must be one of'],
    ['an unknown variable', ['read B -> none'], 'f:3: variable B must be declared before it is used'],
    ['a variable declared twice', ['variable A', 'read A -> none'], 'f:3: variable A must be new'],
    ['an unknown moment', ['read A asof first -> none'], 'f:3: moment first must be declared by an earlier write'],
    [
      'a moment named twice',
      ['push A at m { 2026-01-01 1 }', 'push A at m { 2026-01-01 1 }', 'read A -> none'],
      'f:4: moment m must be new',
    ],
    ['an invalid date', ['push A { 2026-02-30 1 }'], 'f:3: a date must be an instant'],
    ['an invalid value', ['push A { 2026-01-01 one }'], 'f:3: a value must be a number, got one'],
    ['an open quote', ['read A version "V1 -> none'], 'f:3: a quoted text must end on its line'],
    ['a clause given twice', ['read A every every -> none'], 'f:3: every is a clause that this read already has'],
    ['an unknown clause', ['read A newest -> none'], 'f:3: a clause of a read or -> was expected, got newest'],
    ['an unknown zone', ['read A sum by day in Mars/Base -> none'], 'f:3: a time zone must be an IANA time zone'],
    ['words after the end of a command', ['read A -> none 1'], 'f:3: the end of the line was expected, got 1'],
    ['a block without an end', ['read A -> {', '2026-01-01 1'], 'f:4: a date must be an instant such as 2026-03-01'],
  ])('refuses %s (§9.2)', (_what, lines, message) => {
    expect(() => inScenario(...lines)).toThrow(message);
  });

  it('refuses lines before the first scenario, a scenario title that cites no rule, and a file that has no scenario (§9.2)', () => {
    expect(() => parse('scenario no rule', 'variable A', 'read A -> none')).toThrow('must cite its rule');
    expect(() => parse('# nothing')).toThrow('f:1: a file must hold a scenario');
    expect(() => parse('variable A', 'scenario one (§9.2)')).toThrow('f:1: a file must begin with a scenario');
  });
});
