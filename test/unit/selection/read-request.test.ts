import { describe, expect, test } from 'vitest';
import { parseDate } from '../../../src/platform/dates/date-rules.ts';
import { MAX_DATE_MICROS } from '../../../src/platform/dates/instant-rules.ts';
import { DomainError } from '../../../src/platform/errors.ts';
import { parseReadBody, parseReadQuery, type Zoned } from '../../../src/selection/read-request.ts';

const settled = <Request>(given: Zoned<Request>): Request => given.in(given.zone);
const fromQuery = (text: string) => settled(parseReadQuery(`http://h/data?${text}`));
const fromBody = (body: unknown, query = '') => settled(parseReadBody(`http://h/data?${query}`, body));

function refusalOf(work: () => unknown): DomainError {
  try {
    work();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('was not refused');
}

const DAYS_3 = { months: 0, days: 3, micros: 0 };

describe('read request: from a query or a body (R-G1, R-G2)', () => {
  test.each([
    ['relativeVersion=last+3+days', { relativeVersion: 'Last3Days' }, { relative: DAYS_3 }],
    ['relativeVersion=Current', { RELATIVEVERSION: 'current' }, { relative: undefined }],
    ['horizon=P3D', { Horizon: 'P3D' }, { horizon: DAYS_3 }],
    ['versions=ALL', { versions: 'all' }, { isEveryVersion: true }],
    ['versions=latest', {}, { isEveryVersion: false }],
    ['version=V1&version=V2&version=', { version: ['V1', 'V2', null] }, { versionTags: ['V1', 'V2'] }],
    [
      'tags=quality:first&filter.Tags=url:http://x:1',
      { tags: ['quality:first', 'url:http://x:1'] },
      {
        tags: [
          ['quality', 'first'],
          ['url', 'http://x:1'],
        ],
      },
    ],
    ['tags=empty:', { TAGS: { empty: '' } }, { tags: [['empty', '']] }],
    ['granularity=Day&fill=Previous', { granularity: 3, fill: 'previous' }, { granularity: 'Day', fill: 'previous' }],
    ['granularity=hour&fill=null', { granularity: 'Hour', fill: 'null' }, { granularity: 'Hour', fill: 'null' }],
    ['granularity=7&minCount=96', { granularity: 'Week', minCount: 96 }, { granularity: 'Week', minCount: 96 }],
    ['unitId=8', { unitId: '8' }, { unitId: 8 }],
    ['fill=none', { fill: null }, { granularity: 'Raw', fill: 'none', minCount: undefined }],
    [
      'asOf=2026-03-29T02:30:00&timeZoneId=Europe/Brussels',
      { asOf: '2026-03-29T02:30:00', timeZoneId: 'romance standard time' },
      { asOfMicros: Date.parse('2026-03-29T01:30:00Z') * 1000 },
    ],
  ])('the query %s and the body %j give the same request', (query, body, expected) => {
    expect(fromQuery(query)).toMatchObject(expected);
    expect(fromBody(body)).toMatchObject(expected);
  });

  test('the format in the URL takes precedence over the format in the body (R-A13)', () => {
    expect(fromBody({}, 'Format=CSV')).toMatchObject({ format: 'csv' });
    expect(fromBody({ format: 'json' }, 'format=xlsx')).toMatchObject({ format: 'xlsx' });
    expect(fromBody({ format: 'json' })).toMatchObject({ format: 'json' });
    expect(refusalOf(() => fromBody({}, 'format=pdf')).message).toMatch(/^query format must be one of/);
  });

  test('for the greatest page number with the greatest page size, the offset and the limit are safe integers (R-G1)', () => {
    const { limit = 0, offset } = fromQuery('itemsPerPage=2147483647&pageNumber=2147483647');
    expect(Number.isSafeInteger(offset + limit + 1)).toBe(true);
  });

  test('a key of the object `tags` in a body may contain a colon', () => {
    expect(fromBody({ filter: { tags: { 'a:b': 'c:d' } } }).tags).toEqual([['a:b', 'c:d']]);
  });

  test('members of the object `tags` in a body are not read as parameters', () => {
    const request = fromBody({ variableId: 1, tags: { version: 'V1', variableId: '7' } });
    expect(request).toMatchObject({ variableIds: [1], versionTags: [] });
    expect(request.tags).toEqual([
      ['version', 'V1'],
      ['variableId', '7'],
    ]);
  });
});

describe('read request: a query is refused when two parameters contradict each other, or when one needs another that is missing (R-G2)', () => {
  test.each([
    ['asOf=2026-01-01T00:00:00Z&relativeVersion=P1D', 'asOf', 'relativeVersion', 'these two parameters'],
    ['asOf=2026-01-01T00:00:00Z&relativeVersion=Current', 'asOf', 'relativeVersion', 'these two parameters'],
    ['fill=linear', 'fill', 'granularity', 'gap filling needs a granularity'],
    ['fill=null&granularity=raw', 'fill', 'granularity', 'gap filling needs a granularity'],
    ['minCount=2', 'minCount', 'granularity', 'a minimum count needs a granularity'],
  ])('for %s, the error names %s and %s', (query, name, other, why) => {
    const { code, message, details } = refusalOf(() => fromQuery(query));
    expect(code).toBe('invalid_input');
    expect(message).toContain(`query ${name} and query ${other} contradict each other: ${why}`);
    expect(details?.map(({ path }) => path)).toEqual([`query.${name}`, `query.${other}`]);
  });
});

describe('read request: an invalid value is refused, and the error names its parameter (R-A5)', () => {
  test.each([
    ['relativeVersion=soon', 'relativeVersion'],
    ['horizon=24', 'horizon'],
    ['horizon=-P1D', 'horizon'],
    ['versions=V1', 'versions'],
    ['tags=quality', 'tags'],
    ['tags=:first', 'tags'],
    ['fill=zero&granularity=Day', 'fill'],
    ['minCount=0&granularity=Day', 'minCount'],
    ['unitId=kWh', 'unitId'],
  ])('%s', (query, name) => {
    const { code, details } = refusalOf(() => fromQuery(query));
    expect(code).toBe('invalid_input');
    expect(details?.[0]?.path).toBe(`query.${name}`);
  });

  test('the value of a tag in a body must be a string', () => {
    const { message, details } = refusalOf(() => fromBody({ tags: { level: 3 } }));
    expect(message).toBe('$.tags.level must be a string, got 3');
    expect(details?.[0]?.path).toBe('$.tags.level');
  });

  test.each([
    [{ from: 'soon' }, '$.from'],
    [{ Filter: { To: '2026-02-30' } }, '$.Filter.To'],
    [{ variableIds: [1, 2, 'x'] }, '$.variableIds[2]'],
    [{ variableId: 1, itemsPerPage: 0 }, '$.itemsPerPage'],
    [{ tags: ['a:b', 'c'] }, '$.tags[1]'],
    [{ timeZoneId: 'Mars/Base' }, '$.timeZoneId'],
    [{ granularity: 'Fortnight' }, '$.granularity'],
    [{ horizon: '24' }, '$.horizon'],
    [{ includeToBoundary: 'yes' }, '$.includeToBoundary'],
    [{ from: { date: '2026-01-01' } }, '$.from'],
    [{ filter: { variableIds: [{ id: 1 }] } }, '$.filter.variableIds[0]'],
  ])('for the body %j, the error names the JSON path %s (R-A5)', (body, path) => {
    const { message, details } = refusalOf(() => fromBody(body));
    expect(details?.map((detail) => detail.path)).toEqual([path]);
    expect(message).toMatch(new RegExp(`^${path.replace(/[$.[\]]/g, '\\$&')} must be .*, got `));
  });

  test('all invalid parameters are reported together (R-A5)', () => {
    const query =
      'variableId=x&variableId=1,y&from=soon&to=2026-13-01&timeZoneId=Mars/Base&granularity=7.5&pagingOrder=UP';
    const { details } = refusalOf(() => fromQuery(query));
    const paths = ['variableId', 'from', 'to', 'granularity', 'timeZoneId', 'pagingOrder'];
    expect(details?.map(({ path }) => path)).toEqual(paths.map((name) => `query.${name}`));
  });

  test('two members of a body that contradict each other are refused with the JSON path of each (R-A5, R-G2)', () => {
    const { message, details } = refusalOf(() => fromBody({ options: { fill: 'linear' } }));
    expect(message).toContain('$.options.fill and $.granularity contradict each other');
    expect(details?.map(({ path }) => path)).toEqual(['$.options.fill', '$.granularity']);
  });
});

describe('read request: a date without a time is the start of its day (R-A8, R-G1)', () => {
  const at = (instant: string) => Date.parse(instant) * 1000;

  test.each([
    ['', '2026-03-01', '2026-03-01T00:00:00Z'],
    ['Europe/Brussels', '2026-03-29', '2026-03-28T23:00:00Z'],
    // Havana skips midnight on this date, so the day begins at 01:00.
    ['America/Havana', '2026-03-08', '2026-03-08T05:00:00Z'],
    // The Azores repeat midnight on this date; the day begins at the first midnight.
    ['Atlantic/Azores', '2026-10-25', '2026-10-25T00:00:00Z'],
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00Z'],
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00Z'],
    ['Asia/Kathmandu', '2026-01-01', '2025-12-31T18:15:00Z'],
    ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00:00Z'],
  ])('with the `timeZoneId` "%s" (empty means UTC), the date %s starts at %s', (timeZoneId, date, instant) => {
    const micros = at(instant);
    for (const name of ['from', 'to', 'asOf'] as const) {
      expect(fromQuery(`${name}=${date}&timeZoneId=${timeZoneId}`)).toMatchObject({ [`${name}Micros`]: micros });
      expect(fromBody({ [name]: date, timeZoneId })).toMatchObject({ [`${name}Micros`]: micros });
    }
  });

  test.each(['2026-02-30', '2026-3-1', '20260301', '2026-03', '0001-02-29', '9999-13-01', '12026-01-01'])(
    '%s is refused, because it is not a valid date of the form YYYY-MM-DD',
    (text) => {
      expect(refusalOf(() => fromQuery(`from=${text}`)).message).toContain(
        'such as 2026-03-01 or 2026-03-01T00:15:00Z',
      );
    },
  );
});

describe('read request: instants as .NET clients write them (R-A3, R-A8)', () => {
  test.each([
    ['0001-01-01T00:00:00', '1700-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59.9999999Z', '2200-01-01T00:00:00Z'],
    ['9996-02-29', '2200-01-01T00:00:00Z'],
    ['2026-03-01T00:15:00.0000000+01:00', '2026-02-28T23:15:00Z'],
    ['2026-03-01T00:15:00.1234567Z', '2026-03-01T00:15:00.123456Z'],
  ])('%s is read as %s', (text, instant) => {
    const query = `from=${encodeURIComponent(text)}&timeZoneId=UTC`;
    expect(fromQuery(query).fromMicros).toBe(parseDate(instant)?.micros ?? MAX_DATE_MICROS);
  });

  test('2200-02-29 is refused, because 2200 is not a leap year', () => {
    expect(() => fromQuery('from=2200-02-29')).toThrow(/must be an ISO 8601 date/);
  });
});
