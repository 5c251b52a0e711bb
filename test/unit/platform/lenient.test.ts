import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { routingPath } from '../../../src/http/create-app.ts';
import { isStorableJson, isStorableText } from '../../../src/platform/database/storable-text.ts';
import type { DomainError } from '../../../src/platform/errors.ts';
import { PAGING } from '../../../src/platform/http/paging.ts';
import { declareQuery } from '../../../src/platform/http/query.ts';
import { idsParameter, named, textParameter } from '../../../src/platform/http/query-parameters.ts';
import { findTimeZone, localClock, zoneOffset } from '../../../src/structure/catalogue/time-zones.ts';

describe('lenient reading: paths', () => {
  it.each([
    ['http://h/api/data', '/api/data'],
    ['http://h/api/data/', '/api/data'],
    ['http://h//api///data//', '/api/data'],
    ['http://h/api/data/?a=/b/', '/api/data'],
    ['http://h/api/data//#x', '/api/data'],
    ['http://h/', '/'],
    ['http://h', '/'],
    ['http://h//', '/'],
  ])('%s is routed as %s (R-A3)', (address, path) => {
    expect(routingPath(address)).toBe(path);
  });
});

describe('lenient reading: query strings', () => {
  const TEXT = declareQuery({ x: textParameter('Any text.') });
  const IDS = declareQuery({ siteIds: idsParameter('Sites.') });

  it('a route with a text parameter parses any query string without an exception (R-A3)', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => TEXT.parse(`http://h/p?${text}`)).not.toThrow();
      }),
    );
  });

  it('a parameter is recognised in any mix of upper and lower case, and after any prefix that ends in a dot (R-A3)', () => {
    const name = fc
      .tuple(fc.array(fc.stringMatching(/^\w{1,8}$/), { maxLength: 3 }), fc.mixedCase(fc.constant('siteIds')))
      .map(([prefixes, spelling]) => [...prefixes, spelling].join('.'));
    fc.assert(
      fc.property(name, fc.array(fc.integer({ min: 1, max: 2 ** 31 - 1 }), { minLength: 1 }), (spelling, ids) => {
        const repeated = ids.map((id) => `${spelling}=${id}`).join('&');
        expect(IDS.parse(`http://h?${repeated}`).siteIds).toEqual(ids);
        expect(IDS.parse(`http://h?${spelling}=${ids.join(',')}`).siteIds).toEqual(ids);
      }),
    );
  });
});

describe('lenient reading: filters of a listing', () => {
  const LIST = declareQuery(
    { siteIds: named(idsParameter('Sites.'), 'id', 'ids', 'siteId'), from: textParameter('Begin.'), ...PAGING },
    { isListing: true },
  );
  const errorOf = (query: string) => {
    try {
      return LIST.parse(`http://h?${query}`) && undefined;
    } catch (error) {
      return error as DomainError;
    }
  };
  const refusalOf = (query: string) => errorOf(query)?.message;

  it.each(['id=1', 'ids=1', 'siteId=1', 'filter.SITEIDS=1', 'siteIds%5B0%5D=1'])(
    'the query string %s sets the filter `siteIds` to 1 (R-A12)',
    (query) => {
      expect(LIST.parse(`http://h?${query}`).siteIds).toEqual([1]);
    },
  );

  it('when a request gives a filter under several of its accepted names, the values are combined (R-A12)', () => {
    expect(LIST.parse('http://h?siteId=2&siteIds=3,4&id=1').siteIds).toEqual([3, 4, 1, 2]);
  });

  it('an error names the alias that the client used (R-A5)', () => {
    expect(refusalOf('siteIds=1&siteId=x')).toMatch(/^query siteId must be an integer/);
  });

  it.each([
    ['sitesIds=1', 'query sitesids is not a parameter of this listing; the nearest is siteIds'],
    ['sourceId=1', 'query sourceid is not a parameter of this listing; the nearest is siteId'],
    ['meterIds=1', 'query meterids is not a parameter of this listing; the nearest is siteIds'],
    ['form=x', 'query form is not a parameter of this listing; the nearest is from'],
    ['itemPerPage=1', 'query itemperpage is not a parameter of this listing; the nearest is itemsPerPage'],
  ])('%s looks like a filter and is refused; the error suggests the nearest parameter (R-A12)', (query, message) => {
    expect(refusalOf(query)).toBe(message);
  });

  it('an error lists at most 100 unknown names (R-A5, R-A12)', () => {
    const query = Array.from({ length: 101 }, (_, index) => `n${index}Id=1`).join('&');
    expect(errorOf(query)?.details).toHaveLength(100);
  });

  it.each(['_=1', 'op1', 'verbose=true', 'culture=fr', 'x=1', 'xy=1'])(
    '%s does not look like a filter and is ignored (R-A3)',
    (query) => {
      expect(refusalOf(query)).toBeUndefined();
    },
  );
});

describe('platform: text that PostgreSQL can store', () => {
  it('a text is storable when it survives a round trip through UTF-8 and has no U+0000 (R-D1)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const survives = Buffer.from(text, 'utf8').toString('utf8') === text;
        expect(isStorableText(text)).toBe(survives && !text.includes('\0'));
        expect(isStorableJson({ a: [{ [text]: 1 }] })).toBe(isStorableText(text));
      }),
    );
    expect(isStorableText('\ud800')).toBe(false);
  });
});

describe('platform: civil time', () => {
  const zone = fc.constantFrom(
    ...['Europe/Brussels', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'UTC', 'Africa/Monrovia'],
  );
  const seconds = fc.integer({ min: Date.UTC(1700, 0, 1) / 1000, max: Date.UTC(2199, 0, 1) / 1000 });
  const zonedAt = (timeZoneId: string, second: number) =>
    Temporal.Instant.fromEpochMilliseconds(second * 1000).toZonedDateTimeISO(timeZoneId);
  /** A zone and an instant in seconds. About half the instants are within two hours of a clock change of the zone. */
  const instants = fc
    .tuple(zone, seconds, fc.option(fc.integer({ min: -7200, max: 7200 })))
    .map(([timeZoneId, second, distance]) => {
      const change = distance === null ? null : zonedAt(timeZoneId, second).getTimeZoneTransition('next');
      return [timeZoneId, change ? change.epochMilliseconds / 1000 + (distance ?? 0) : second] as const;
    });

  it('an ambiguous local date means the later instant; a local date in a gap moves forward by the length of the gap; the instants agree with those of Temporal (R-D4)', () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(instants, ([timeZoneId, second]) => {
        // Applies the UTC offset that the zone had two hours before. Just after the clock goes forward, the result is a
        // local date that the clock has skipped.
        const plain = zonedAt(
          'UTC',
          second + zonedAt(timeZoneId, second - 7200).offsetNanoseconds / 1e9,
        ).toPlainDateTime();
        const expected = plain.toZonedDateTime(timeZoneId, { disambiguation: 'later' }).epochMilliseconds * 1000;
        const { micros, kind } = localClock(timeZoneId)(plain.toZonedDateTime('UTC').epochMilliseconds * 1000);
        expect(micros).toBe(expected);
        kinds.add(kind);
      }),
      { numRuns: 500 },
    );
    expect(kinds.size).toBe(3);
  });

  it('converting an instant to local time and back gives the same instant, or the later one when the local time occurs twice (R-A8)', () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(instants, ([timeZoneId, second]) => {
        const instant = second * 1_000_000;
        const { micros, kind } = localClock(timeZoneId)(instant + zoneOffset(timeZoneId)(instant));
        if (kind === 'ambiguous') expect(micros).toBeGreaterThanOrEqual(instant);
        else expect([micros, kind]).toEqual([instant, 'exact']);
        kinds.add(kind);
      }),
      { numRuns: 500 },
    );
    expect(kinds.size).toBe(2);
  });

  it.each([
    ['Africa/Monrovia', '1972-01-07T00:44:29Z', '1972-01-07T00:44:30Z', [-2670, 0]],
    ['Europe/Amsterdam', '1880-01-01T00:00:00Z', '1950-07-01T00:00:00Z', [1050, 3600]],
    ['America/St_Johns', '2006-04-02T03:30:59Z', '2006-04-02T03:31:00Z', [-12_600, -9000]],
    ['America/Moncton', '1999-10-31T03:00:59Z', '1999-10-31T03:01:00Z', [-10_800, -14_400]],
  ])(
    'in %s, offsets are exact to the second, even when the offset or a clock change is not on a quarter of an hour (R-A8)',
    (timeZoneId, before, after, found) => {
      const offsetAt = (text: string) => zoneOffset(timeZoneId)(Date.parse(text) * 1000) / 1_000_000;
      expect([offsetAt(before), offsetAt(after)]).toEqual(found);
      const local = (Date.parse(before) + (found[0] ?? 0) * 1000) * 1000;
      const { micros, kind } = localClock(timeZoneId)(local);
      if (kind === 'exact') expect(micros).toBe(Date.parse(before) * 1000);
      else expect([timeZoneId, kind]).toEqual(['America/Moncton', 'ambiguous']);
    },
  );

  it.each([
    ['europe/brussels', 'Europe/Brussels'],
    ['UTC', 'UTC'],
    ['Romance Standard Time', 'Europe/Paris'],
    ['w. europe standard time', 'Europe/Berlin'],
    ['UTC-11', 'Etc/GMT+11'],
  ])('the zone name %s resolves to %s (R-C9)', (name, found) => {
    expect(findTimeZone(name)).toBe(found);
  });

  it.each(['+01:00', 'Mars/Base', ''])('the zone name %j resolves to no zone (R-C9)', (name) => {
    expect(findTimeZone(name)).toBeUndefined();
  });
});
