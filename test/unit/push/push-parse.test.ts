import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LOCAL_DAY } from '../../../src/platform/dates/date-rules.ts';
import { DomainError } from '../../../src/platform/errors.ts';
import { jsonPath, MAX_DETAILS } from '../../../src/platform/http/lenient.ts';
import { toLabels } from '../../../src/points/label-rules.ts';
import { parsePush } from '../../../src/push/body/parse-push.ts';
import type { PushContents } from '../../../src/push/body/push-element.ts';
import { pushSchema } from '../../../src/push/body/push-schema.ts';
import { readPush } from '../../../src/push/body/read-push.ts';
import { measureThread } from '../../support/measure-turns.ts';

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

/**
 * Generates objects with some members of `shape`. Member names are in any letter case. Some objects have one more
 * member; its name repeats a name of `shape` or is unknown.
 */
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
// Generators of valid elements.
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

/**
 * Parses with `pushSchema`.
 * @returns the targets and readings; for a refused body, the first `MAX_DETAILS` problems and their paths.
 */
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

/** Parses with `parsePush`. @returns the result in the same structure as `bySchema`. */
function byHand(json: unknown): unknown {
  const parsed = parsePush(json, LIMITS);
  if (parsed.kind !== 'ok') return parsed;
  return spellOut(parsed.contents);
}

function spellOut({ targets, readingCounts, dates, isLocal, values, labels, labelTable }: PushContents): unknown {
  let row = 0;
  return targets.map((target, index) => ({
    target,
    readings: Array.from({ length: readingCounts[index] ?? 0 }, () => {
      const at = row++;
      const mark = isLocal?.[at] ?? 0;
      const date = { micros: dates[at], isLocal: mark !== 0, ...(mark === LOCAL_DAY && { isDay: true }) };
      return { ...date, value: values[at], ...labelTable[labels[at] ?? -1] };
    }),
  }));
}

describe('push: a JSON body', () => {
  it('parsePush accepts the same bodies as the schema, with the same targets and readings, and reports the same problems for all other bodies (R-D1, R-A3)', () => {
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
    // Shows that the generator makes both accepted and refused bodies.
    expect(accepted).toBeGreaterThan(runs / 10);
    expect(accepted).toBeLessThan(runs / 2);
  }, 60_000);

  it('is refused with its first 100 problems, in the order of the schema (R-D1)', () => {
    const json = Array.from({ length: 60 }, () => ({ role: 'ADMIN', data: [{ date: 1 }] }));
    expect(byHand(json)).toEqual(bySchema(json));
    expect(byHand(json)).toMatchObject({ details: { length: 100 } });
  });

  it('may spell the names of members in any letter case; when a name is repeated, the member with the exact spelling counts, else the last member (R-A3)', () => {
    const json = [
      { DATA: [{ Date: '2026-01-01T00:00Z', value: 2, VALUE: 1 }], VariableID: 4, variableid: 5 },
      { data: [{ date: null, DATE: '2026-01-01T00:00Z', Value: 1 }] },
    ];
    expect(byHand(json.slice(0, 1))).toMatchObject([{ target: { variableId: 5 }, readings: [{ value: 2 }] }]);
    expect(byHand(json)).toMatchObject({ kind: 'invalid', details: [{ path: '$[1].data[0].date' }] });
  });
});

/** Generates the texts of `given`, each with at most one character removed, inserted or replaced. */
const spoiled = (given: fc.Arbitrary<string>): fc.Arbitrary<string> => {
  const change = fc.tuple(fc.nat(), fc.nat(1), fc.constantFrom(...' ,:"{}[]\\.-+eEZzTt019\u0000\u00e9'.split(''), ''));
  return fc.tuple(given, fc.option(change)).map(([original, spoiling]) => {
    if (!spoiling) return original;
    const [index, left, put] = spoiling;
    const at = index % (original.length + 1);
    // The change may split a surrogate pair. UTF-8 cannot encode the remaining half, so `toWellFormed` replaces it.
    return (original.slice(0, at) + put + original.slice(at + left)).toWellFormed();
  });
};

const digits = fc.stringMatching(/^(0|[1-9]\d{0,17}|0\d)(\.\d{1,18})?$/);
const rawNumber = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
  fc.tuple(fc.constantFrom('', '-'), digits, fc.constantFrom('', '', 'e2')).map((parts) => parts.join('')),
  fc.constantFrom('-0', '9007199254740993', '"1.5"', '1e999', '1E-310', '.5', '1.', '01', '+1', '0x1', 'null', 'NaN'),
);
const rawDate = fc
  .tuple(
    fc.constantFrom('2026-01-01', '2026-01-01', '2026-12-31', '2024-02-29', '2026-02-29', '1699-12-31', '0000-00-00'),
    fc.constantFrom('T00:00:00', 'T23:59:59', 'T05:00:00', 't12:00:00', ' 12:00:00', 'T24:00:00', 'T10:60:00'),
    fc.constantFrom('Z', 'Z', '.250Z', '.001Z', '', '', '.123456Z', '+01:00', '-0330', '.5', '.1234567Z', 'z'),
  )
  .map((parts) => `"${parts.join('')}"`);
const space = fc.constantFrom('', '', '', ' ', '\n\t', '\r\n');
const rawTail = fc.constantFrom(
  ...['', ',"version":"V1"', ', "Tags": {"q": "}\\"]"}', ',"tags":{"q":"e"},"version":"é"', ',"x":[1,{}]'],
  ...[',"value":7', ',"DATE":"2026-01-01T00:00:00Z"', ',"date":"2026-01-01T00:00:00Z"', ',"version":"a\\u0000"', ','],
  ...[',"v\\u0061lue":7', ',"tags":null', ',"version":"V1" ,'],
);
const usually = <T>(plain: T, odd: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(plain) }, { weight: 1, arbitrary: odd });
/** Generates readings as JSON texts, including spellings that JSON.stringify never produces. */
const rawReading = fc
  .tuple(
    usually('"2026-01-01T00:00:00Z"', fc.oneof(rawDate, spoiled(rawDate))),
    usually('1.5', rawNumber),
    usually('', rawTail),
    ...([space, space, fc.boolean(), usually('date', fc.constantFrom('Date', 'DATE', 'dote'))] as const),
  )
  .map(([when, number, tail, before, between, isDateFirst, dateName]) => {
    const members = [`"${dateName}"${between}:${before}${when}`, `"value":${between}${number}`];
    const ordered = isDateFirst ? members : members.toReversed();
    return `${before}{${between}${ordered.join(`${before},${between}`)}${before}${tail}}${between}`;
  });
const rawElement = fc
  .tuple(
    usually(
      '"variableId":7',
      fc.constantFrom('"version":"V0","tags":{"q":"own"}', '"DATA":[]', '"x":"\\"],[{"', '"d\\u0061ta":[]', '"x":01'),
    ),
    fc.array(rawReading, { minLength: 1, maxLength: 3 }),
    usually('data', fc.constant('Data')),
    fc.boolean(),
  )
  .map(([other, readings, dataName, isDataFirst]) => {
    const members = [`"${dataName}":[${readings.join()}]`, other];
    return `{${(isDataFirst ? members : members.toReversed()).join()}}`;
  });
const rawBody = fc.array(rawElement, { minLength: 1, maxLength: 2 }).map((elements) => `[${elements.join()}]`);

/** Reads a body with `readPush`. @returns the elements as they are kept for a replay, or the code of the refusal. */
function readBytes(bytes: Uint8Array): readonly unknown[] | string {
  try {
    const push = readPush(bytes, LIMITS, false);
    return push.elementTexts(push.summary.targets.map((_, index) => index)).map((element) => JSON.parse(element));
  } catch (error) {
    if (error instanceof DomainError) return error.code;
    throw error;
  }
}

/** @returns the parsed JSON, as `json`; undefined when `text` is not JSON. */
function tryParse(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const isRefused = (result: unknown) => !Array.isArray(result);

describe('push: the bytes of a body', () => {
  it('reading the bytes gives the same result as JSON.parse followed by the schema (R-D1, R-A3)', () => {
    let accepted = 0;
    const runs = 10_000;
    const written = fc.tuple(body, fc.constantFrom(0, 2)).map(([given, indent]) => JSON.stringify(given, null, indent));
    fc.assert(
      fc.property(fc.oneof(rawBody, spoiled(rawBody), written, spoiled(written)), (text) => {
        const parsed = tryParse(text);
        const read = readBytes(Buffer.from(text));
        if (!parsed) {
          const isNonFinite = /\b(NaN|Infinity)\b/.test(text);
          expect(['malformed_json', ...(isNonFinite ? ['invalid_input'] : [])]).toContain(read);
          return;
        }
        const expected = bySchema(parsed.json);
        expect(byHand(parsed.json)).toEqual(expected);
        expect(read).toEqual(isRefused(expected) ? 'invalid_input' : JSON.parse(JSON.stringify(parsed.json)));
        if (!isRefused(expected)) accepted += 1;
      }),
      { numRuns: runs },
    );
    expect(accepted).toBeGreaterThan(runs / 5);
  }, 60_000);

  it.each([
    ['as json.dumps writes them', '[{"variableId": 7, "data": [{"date": "2026-01-01T00:00:00Z", "value": 1.5}]}]'],
    ['indented', JSON.stringify([{ data: [{ date: '2026-01-01T00:00:00.000Z', value: -0.25 }] }], null, 2)],
    ['with capitals in the member names', '[{"VariableId":7,"Data":[{"Date":"2026-01-01T00:00:00","Value":1e3}]}]'],
    ['with the value before the date', '[{"data":[{"value":1,"date":"2026-01-01T00:00:00+01:00"}],"version":"V1"}]'],
    [
      'with a VersionTag and tags',
      '[{"data":[{"date":"2026-01-01T00:00:00Z","value":1,"version":"V1","tags":{"q":"é"}}]}]',
    ],
    ['with a value sent as text', '[{"data":[{"date":"2026-01-01T00:00:00Z","value":"1.5"}]},{"data":[]}]'],
    ['with a value that has 19 decimals', '[{"data":[{"date":"2026-01-01T00:00:00Z","value":0.1234567890123456789}]}]'],
    ['with an element of 70,000 bytes', `[{"x":"${'x'.repeat(70_000)}","data":[]}]`],
  ])('are accepted %s (R-D1)', (_, text) => {
    const json = JSON.parse(text);
    expect(byHand(json)).toEqual(bySchema(json));
    expect(readBytes(Buffer.from(text))).toEqual(json);
  });

  it.each([
    ['are not UTF-8', Buffer.from('[{"sourceName":"\xe9","data":[]}]', 'latin1'), 'malformed_json'],
    ['are cut off', Buffer.from('[{"data":[{"date":"2026-01-01T00:00:00Z","value":1'), 'malformed_json'],
    [
      'hold more elements than allowed',
      Buffer.from(`[${'{"data":[]},'.repeat(LIMITS.maxElements)}{"data":[]}]`),
      'body_too_large',
    ],
    [
      'hold more readings than allowed',
      Buffer.from(JSON.stringify([{ data: Array(1001).fill({ date: '2026-01-01T00:00Z', value: 1 }) }])),
      'body_too_large',
    ],
  ])('are refused when they %s (R-D1, R-D10)', (_, bytes, code) => {
    expect(readBytes(bytes)).toBe(code);
  });

  it('a body is refused when a `value` is NaN or Infinity; the error gives each path (R-D1, §2)', () => {
    const reading = '{"date":"2026-01-01T00:00:00Z","value":';
    const data = [
      `${reading}1}`,
      `${reading}NaN}`,
      `${reading}-Infinity, "tags":{"NaN":"a \\" NaN"}}`,
      `${reading}1e999}`,
    ];
    const detailsOf = (text: string) => {
      try {
        return readPush(Buffer.from(text), LIMITS, false);
      } catch (error) {
        const { code, details } = error as DomainError;
        return { code, details };
      }
    };
    const rule = 'must be a finite number, got';
    expect(detailsOf(`[{"data":[]},{"data":[${data.join()}]}]`)).toEqual({
      code: 'invalid_input',
      details: [
        { path: '$[1].data[1].value', message: `${rule} NaN` },
        { path: '$[1].data[2].value', message: `${rule} -Infinity` },
        { path: '$[1].data[3].value', message: `${rule} Infinity` },
      ],
    });
    expect(detailsOf('[{"data":[],"x":NaN}]')).toMatchObject({ code: 'malformed_json' });
    expect(detailsOf('[{"data":[{"value":NaN,}]}]')).toMatchObject({ code: 'malformed_json' });
  });

  it.each([
    ['128 KiB of escaped quotes in a string without an end', `["${'\\"'.repeat(64 << 10)}`],
    ['a bare NaN and 128 KiB of escaped quotes in a string without an end', `[NaN,"${'\\"'.repeat(64 << 10)}`],
    ['1 MiB of escaped quotes, each with a NaN, in a string without an end', `["${'\\"NaN '.repeat(180_000)}`],
    ['1 MiB of bare NaN in a list without an end', `[${'NaN,'.repeat(1 << 18)}`],
    ['a bare NaN and a string of 20 MB without a comma between them', `[NaN "${'x'.repeat(20_000_000)}"`],
  ])('are refused as malformed within a second of processor time: %s (R-D1)', async (_name, body) => {
    const { result, threadMs } = await measureThread(() => readBytes(Buffer.from(body)));
    expect(result).toBe('malformed_json');
    expect(threadMs).toBeLessThan(1000);
  });

  it('a date may be epoch milliseconds, or a text in a format that data-frame libraries write (R-A11)', () => {
    const dates = [1_774_742_400_000, '1774742400000', '2026-03-29 00:00:00', '2026-03-29'];
    const json = [{ data: dates.map((date) => ({ date, value: -0 })) }];
    const micros = Date.UTC(2026, 2, 29) * 1000;
    expect(byHand(json)).toEqual(bySchema(json));
    expect(byHand(json)).toMatchObject([
      { readings: [false, false, true, true].map((isLocal) => ({ micros, isLocal, value: -0 })) },
    ]);
    expect(byHand([{ data: [{ date: 1_774_742_400, value: 1 }] }])).toMatchObject({
      details: [{ path: '$[0].data[0].date', message: expect.stringMatching(/epoch milliseconds.*got 1774742400$/) }],
    });
    const fine = '2026-03-29T00:00:00.1234567Z';
    expect(byHand([{ data: [{ date: fine, value: 1 }] }])).toMatchObject({
      details: [{ message: expect.stringMatching(`no finer than microseconds.*got "${fine}"$`) }],
    });
  });

  it('a body is refused when a tag has an invalid key or value (R-D1)', () => {
    const body = (tags: unknown) => [{ tags, data: [] }];
    const key = 'k'.repeat(201);
    const rule = /^the key must be a string of at most 200 characters, .*, got "kkk/;
    expect(byHand(body({ [key]: 'v' }))).toMatchObject({
      details: [{ path: '$[0].tags', message: expect.stringMatching(rule) }],
    });
    expect(byHand(body({ [key.slice(1)]: 'v'.repeat(1001) }))).toMatchObject({
      details: [{ message: expect.stringMatching(/^must be a string of at most 1000 characters, .*, got "vvv/) }],
    });
    expect(byHand(body({ [key.slice(1)]: 'v'.repeat(1000) }))).toHaveLength(1);
  });

  it('may begin with a byte order mark (R-A3)', () => {
    const text = '[{"data":[]}]';
    expect(readBytes(Buffer.from(`\ufeff${text}`))).toEqual(JSON.parse(text));
  });
});
