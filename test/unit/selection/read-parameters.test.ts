import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { QueryParameter } from '../../../src/platform/http/query.ts';
import {
  durationOf,
  FORMAT_QUERY,
  parseHorizon,
  parseRelativeVersion,
  parseTimeZone,
  READ_QUERY,
} from '../../../src/selection/read-parameters.ts';

interface ParameterSchema {
  readonly type?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly examples?: readonly string[];
}

const PARAMETERS: readonly (readonly [string, QueryParameter<unknown>])[] = Object.entries(READ_QUERY.parameters);
const hasNames = ([, parameter]: (typeof PARAMETERS)[number]) => {
  const { enum: names, examples } = schemaOf(parameter);
  return names !== undefined || examples !== undefined;
};
const LOCATION = { subject: '$.given', path: '$.given' };
const schemaOf = ({ schema }: QueryParameter<unknown>) => z.toJSONSchema(schema) as ParameterSchema;
const read = (parameter: QueryParameter<unknown>, ...texts: readonly string[]) =>
  parameter.read(
    texts.map((text) => ({ name: '', text })),
    () => LOCATION,
  );
const query = (text: string) => READ_QUERY.parse(`http://h/data?${text}`);
const micros = (instant: string) => Date.parse(instant) * 1000;

describe('read parameters: OpenAPI describes what is parsed (R-A9)', () => {
  test.each(PARAMETERS)(
    'the parameter %s has a description that begins with a capital or a backtick and ends with a full stop',
    (_, { description }) => {
      expect(description).toMatch(/^[`A-Z].{8,}\.$/);
    },
  );

  test.each(PARAMETERS)(
    'the absent parameter %s is an empty list if its schema is a list, otherwise the default of the schema',
    (_, parameter) => {
      const { default: fallback, type } = schemaOf(parameter);
      expect(read(parameter)).toEqual(type === 'array' ? [] : fallback);
    },
  );

  test.each(PARAMETERS.filter(hasNames))(
    'the parameter %s accepts the examples of its schema, and also its enum values written in lower case',
    (_, parameter) => {
      const { enum: names = [], examples = [] } = schemaOf(parameter);
      for (const name of names) expect(read(parameter, name.toLowerCase())).toBe(name);
      for (const example of examples) expect(read(parameter, example)).toBeDefined();
    },
  );

  test('the snapshot shows the values, the examples or the type of each parameter, and the default', () => {
    const shapes = PARAMETERS.map(([name, parameter]) => {
      const { type, enum: names, default: fallback, examples } = schemaOf(parameter);
      return `${name}: ${(names ?? examples ?? [type]).join(', ')}; ${fallback}`;
    });
    expect(shapes).toMatchInlineSnapshot(`
      [
        "variableIds: array; undefined",
        "sourceIds: array; undefined",
        "from: 2026-03-01, 2026-03-01T00:15:00Z; undefined",
        "to: 2026-03-01, 2026-03-01T00:15:00Z; undefined",
        "includeToBoundary: boolean; false",
        "version: array; undefined",
        "asOf: 2026-03-01, 2026-03-01T00:15:00Z; undefined",
        "relativeVersion: Current, last 3 days, P1M; undefined",
        "horizon: PT24H, P1D; undefined",
        "versions: latest, all; latest",
        "tags: array; undefined",
        "granularity: Raw, Minute, Hour, Day, Month, Year, All, Week; Raw",
        "aggregation: SUM, MIN, MAX, AVG, COUNT, VAR, STDEV; undefined",
        "fill: none, previous, linear, null; none",
        "minCount: integer; undefined",
        "displayLevel: Normal, ValueVariableDate, Columns; Normal",
        "unitId: integer; undefined",
        "timeZoneId: Europe/Brussels; undefined",
        "format: json, csv, arrow, xlsx, parquet; undefined",
        "pagingOrder: ASC, DESC; ASC",
        "pageNumber: integer; 0",
        "itemsPerPage: integer; undefined",
      ]
    `);
  });

  test('variableIds and sourceIds may also be named variableId and sourceId, and their descriptions say so (R-A3)', () => {
    expect(query('variableId=1&variableIds=2&SourceId=3&sourceIds=4,5')).toMatchObject({
      variableIds: [2, 1],
      sourceIds: [4, 5, 3],
    });
    expect(READ_QUERY.parameters.variableIds.description).toContain('`variableId`');
    expect(READ_QUERY.parameters.sourceIds.description).toContain('`sourceId`');
  });
});

test('read parameters: GET /data refuses an unknown query parameter that resembles a filter; POST /data ignores every query parameter except `format` (R-A12)', () => {
  expect(() => query('variabelIds=1')).toThrow('the nearest is variableIds');
  const address = 'http://h/data?format=XLSX&variabelIds=1&variableIds=2';
  expect(FORMAT_QUERY.parse(address)).toEqual({ format: 'xlsx' });
});

describe('read parameters: plus signs in dates (R-A3)', () => {
  test.each([
    ['2026-03-01T00:15:00+01:00', '2026-02-28T23:15:00Z'],
    ['2026-03-01T00:15:00+0100', '2026-02-28T23:15:00Z'],
    ['2026-03-01T00:15+01:00', '2026-02-28T23:15:00Z'],
    ['2026-03-01+00:15:00+01:00', '2026-02-28T23:15:00Z'],
    ['2026-03-01T00:15:00.25+01:00', '2026-02-28T23:15:00.250Z'],
    ['2026-03-01T00:15:00,5+0130', '2026-02-28T22:45:00.500Z'],
    ['2026-03-01T00:15:00%2B01:00', '2026-02-28T23:15:00Z'],
  ])('from=%s is read as %s', (text, instant) => {
    expect(query(`from=${text}`).from).toEqual({ micros: micros(instant), isLocal: false, isDay: false });
  });

  test('an unescaped plus between date and time stands for a space', () => {
    expect(query('from=2026-03-01+00:15').from).toMatchObject({
      micros: micros('2026-03-01T00:15:00Z'),
      isLocal: true,
    });
    expect(query('from=2026-03-01+00:15:00').from).toMatchObject({ isLocal: true });
  });

  test.each(['2026-03-01T00:15:00++01:00', '2026-03-01T00:15:00+01:00+', '2026-03-01T00:15:00.+01:00'])(
    'from=%s is refused',
    (text) => {
      expect(() => query(`from=${text}`)).toThrow('query from must be an ISO 8601 date, or date and time');
    },
  );
});

describe('read parameters: tags (R-G2)', () => {
  const tags = (...texts: readonly string[]) => read(READ_QUERY.parameters.tags, ...texts);

  test('tags are split at the first colon; an empty text is not a tag', () => {
    expect(tags('a:b', '', 'url:http://x', 'c:')).toEqual([
      ['a', 'b'],
      ['url', 'http://x'],
      ['c', ''],
    ]);
  });

  test.each(['quality', ':first', ':'])('%j is refused, because it is not key:value', (text) => {
    expect(() => tags(text)).toThrow(`$.given must be key:value, got ${JSON.stringify(text)}`);
  });
});

describe('read parameters: values of a gRPC message (R-G2)', () => {
  const DAY = { months: 0, days: 1, micros: 0 };

  test('an absent time zone, relative version or horizon is read as undefined', () => {
    for (const parse of [parseTimeZone, parseRelativeVersion, parseHorizon]) {
      expect(parse(undefined, LOCATION)).toBeUndefined();
    }
  });

  test('a value is parsed like the query parameter of the same name', () => {
    expect(parseTimeZone('romance standard time', LOCATION)).toBe('Europe/Paris');
    expect(parseRelativeVersion('last day', LOCATION)).toEqual(DAY);
    expect(parseHorizon('P1D', LOCATION)).toEqual(DAY);
  });

  test('the relative version `Current` means the latest state, and so does an absent relative version', () => {
    expect(parseRelativeVersion('Current', LOCATION)).toBeUndefined();
    expect([durationOf('current'), durationOf(undefined), durationOf(DAY)]).toEqual([undefined, undefined, DAY]);
  });

  test('the error for an invalid value names the place of the value in the request (R-A5)', () => {
    expect(() => parseTimeZone('Mars', LOCATION)).toThrow('$.given must be an IANA or Windows time zone, got "Mars"');
    expect(() => parseRelativeVersion('soon', LOCATION)).toThrow('$.given must be "Current" or a time span');
    expect(() => parseHorizon('24', LOCATION)).toThrow(
      '$.given must be an ISO 8601 duration of at most 100 years, such as PT24H',
    );
  });
});
