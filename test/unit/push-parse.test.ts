import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonPath } from '../../src/platform/lenient.ts';
import { toLabels } from '../../src/points/label-rules.ts';
import { parsePush } from '../../src/push/parse-push-rules.ts';
import { MAX_DETAILS } from '../../src/push/push-element.ts';
import { pushSchema } from '../../src/push/push-schema.ts';

const LIMITS = { maxElements: 1000, maxReadings: 1000 };

const spelled = (name: string) => fc.constantFrom(name, name, name.toUpperCase(), name.toLowerCase());
const text = fc.oneof(
  fc.constantFrom('', 'V1', 'a\u0000', '\ud800', 'é', 'x'.repeat(201), 'y'.repeat(1001)),
  fc.string({ unit: 'binary', maxLength: 5 }),
);
const date = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T00:15:00.000Z', '2026-06-01T00:00:00') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '2026-02-30T00:00:00Z',
      '2026-01-01',
      'x',
      '1699-12-31T23:59:59Z',
      '2026-01-01T00:00+02',
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const value = fc.oneof(
  { weight: 5, arbitrary: fc.oneof(fc.double({ noNaN: true }), fc.constantFrom('1.5', ' -2e3 ', 7)) },
  { weight: 1, arbitrary: fc.oneof(fc.jsonValue(), fc.constantFrom('NaN', '1,5', '0x1', '', 'Infinity')) },
);
const tags = fc.oneof(
  fc.constant(null),
  fc.dictionary(
    fc.oneof(fc.constantFrom('a', 'version', '__proto__', 'constructor'), text),
    fc.oneof(text, fc.constant(null)),
    {
      maxKeys: 3,
    },
  ),
  fc.jsonValue(),
);

/** An object whose members come and go, in any order and any spelling, some of them twice. */
function members(shape: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> {
  const pairs = Object.entries(shape).map(([name, arbitrary]) =>
    fc.option(fc.tuple(spelled(name), arbitrary), { nil: undefined, freq: 4 }),
  );
  return fc
    .tuple(
      fc.tuple(...pairs),
      fc.array(fc.tuple(fc.constantFrom(...Object.keys(shape), 'x', '__proto__').chain(spelled), fc.jsonValue()), {
        maxLength: 1,
      }),
    )
    .map(([given, more]) => Object.fromEntries([...given.filter((pair) => pair !== undefined), ...more]));
}

const reading = fc.oneof(
  { weight: 9, arbitrary: members({ date, value, version: fc.oneof(text, fc.constant(null)), tags }) },
  { weight: 6, arbitrary: fc.record({ date, value }) },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const id = fc.oneof(
  fc.integer({ min: -1, max: 9 }),
  fc.constantFrom('7', '007', '99999999999', 4_294_967_297, 1.5, null),
);
const element = fc.oneof(
  {
    weight: 9,
    arbitrary: members({
      variableId: id,
      sourceId: id,
      variableTypeId: id,
      sourceSerialNumber: fc.oneof(text, fc.integer(), fc.constant(null)),
      mappingConfig: fc.oneof(text, fc.constant(null)),
      version: fc.oneof(text, fc.constant(null)),
      tags,
      data: fc.oneof(
        { weight: 9, arbitrary: fc.array(reading, { maxLength: 4 }) },
        { weight: 1, arbitrary: fc.jsonValue() },
      ),
    }),
  },
  { weight: 1, arbitrary: members({ accountId: id, USERID: id, role: text, data: fc.constant([]) }) },
  { weight: 1, arbitrary: fc.jsonValue() },
);
/** Elements with nothing wrong in them. */
const good = fc.constantFrom('', 'V1', 'é');
const goodTags = fc.option(fc.dictionary(fc.constantFrom('a', 'version', '__proto__'), good));
const goodLabels = { version: fc.option(good), tags: goodTags };
const goodReading = fc
  .tuple(
    fc.tuple(
      spelled('date'),
      fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T00:15:00.5+0130', '2026-06-01T00:00'),
    ),
    fc.tuple(spelled('value'), fc.oneof(fc.integer(), fc.constantFrom('1.5', ' -2e3 '))),
    fc.record(goodLabels, { requiredKeys: [] }),
  )
  .map(([dated, valued, labels]) => ({ ...Object.fromEntries([dated, valued]), ...labels }));
const goodElement = fc.record(
  {
    variableId: fc.constantFrom(0, 7, '7'),
    sourceName: fc.constantFrom('é', 7),
    ...goodLabels,
    data: fc.array(goodReading),
  },
  { requiredKeys: ['data'] },
);

const body = fc.oneof(
  { weight: 6, arbitrary: fc.array(goodElement, { maxLength: 4 }) },
  { weight: 9, arbitrary: fc.array(element, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.jsonValue() },
);

/** What a body says, by the schema: refused with places, or accepted with readings one by one. */
function bySchema(json: unknown): unknown {
  const result = pushSchema.safeParse(json);
  if (!result.success) {
    const details = result.error.issues.map(({ path, message }) => ({ path: jsonPath('$', path), message }));
    return { kind: 'invalid', details: details.slice(0, MAX_DETAILS) };
  }
  return result.data.map(({ data, version, tags: elementTags, accountId: _a, userId: _u, role: _r, ...target }) => ({
    target: Object.fromEntries(Object.entries(target).filter(([, member]) => member !== undefined)),
    readings: data.map((one) => ({
      ...one.date,
      value: one.value,
      ...toLabels(one.version ?? version, { ...one.tags, ...elementTags }),
    })),
  }));
}

/** The same, by the hand-made reader. */
function byHand(json: unknown): unknown {
  const parsed = parsePush(json, LIMITS);
  if (parsed.kind !== 'ok') return parsed;
  const { targets, readingCounts, dates, isLocal, values, labels, labelTable } = parsed.contents;
  let row = 0;
  return targets.map((target, index) => ({
    target,
    readings: Array.from({ length: readingCounts[index] ?? 0 }, () => {
      const at = row++;
      return { micros: dates[at], isLocal: isLocal?.[at] === 1, value: values[at], ...labelTable[labels[at] ?? -1] };
    }),
  }));
}

describe('a push body', () => {
  it('is read by hand as the schema reads it: the same readings, or the same places and words (R-D1, R-A3)', () => {
    let accepted = 0;
    const runs = 1500;
    fc.assert(
      fc.property(body, (given) => {
        const json = JSON.parse(JSON.stringify(given));
        const expected = bySchema(json);
        if (Array.isArray(expected) && expected.length > 0) accepted += 1;
        expect(byHand(json)).toEqual(expected);
      }),
      { numRuns: runs },
    );
    // Both ways are taken, else the proof proves little.
    expect(accepted).toBeGreaterThan(runs / 10);
    expect(accepted).toBeLessThan(runs / 2);
  }, 60_000);

  it('names the first 100 places, as the schema finds them (R-D1)', () => {
    const json = Array.from({ length: 60 }, () => ({ role: 'ADMIN', data: [{ date: 1 }] }));
    expect(byHand(json)).toEqual(bySchema(json));
    expect(byHand(json)).toMatchObject({ details: { length: 100 } });
  });

  it('takes property names in any case; of two that differ in case only the exact one, else the last (R-A3)', () => {
    const json = [
      { DATA: [{ Date: '2026-01-01T00:00Z', VALUE: 1, value: 2 }], VariableID: 4, variableid: 5 },
      { data: [{ DATE: '2026-01-01T00:00Z', date: null, Value: 1 }] },
    ];
    expect(byHand(json.slice(0, 1))).toMatchObject([{ target: { variableId: 5 }, readings: [{ value: 2 }] }]);
    expect(byHand(json)).toMatchObject({ kind: 'invalid', details: [{ path: '$[1].data[0].date' }] });
  });
});
