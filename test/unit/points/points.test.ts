import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDate } from '../../../src/platform/dates/date-rules.ts';
import { formatInstant, MAX_DATE_MICROS, MIN_DATE_MICROS } from '../../../src/platform/dates/instant-rules.ts';
import { eachTuple, encodeTuples } from '../../../src/points/copy-codec.ts';
import { encodeReadings } from '../../../src/points/encode-readings.ts';
import { canonicalTags, toLabels } from '../../../src/points/label-rules.ts';
import type { PointEntry } from '../../../src/points/point.ts';

const entry = fc.record({
  variableId: fc.integer({ min: 1, max: 4 }),
  dateMicros: fc.integer({ min: -3, max: 8 }),
  value: fc.integer({ min: 0, max: 99 }),
  versionTagId: fc.integer({ min: 0, max: 2 }),
  tagSetId: fc.constant(0),
});

function decode(batches: readonly Buffer[]): PointEntry[] {
  return batches.flatMap((tuples) => {
    const entries: PointEntry[] = [];
    eachTuple(tuples, (variableId, dateMicros, offset) => {
      const at = (index: number) => tuples.readInt32BE(offset + index);
      const value = tuples.readDoubleBE(offset + 18);
      entries.push({ variableId, dateMicros, value, versionTagId: at(50), tagSetId: at(58) });
    });
    return entries;
  });
}

describe('points: instants', () => {
  it('parseDate reverses formatInstant to the microsecond (R-A8)', () => {
    const micros = fc.integer({ min: MIN_DATE_MICROS, max: MAX_DATE_MICROS - 1 });
    fc.assert(
      fc.property(micros, (value) => {
        expect(parseDate(formatInstant(value))?.micros).toBe(value);
      }),
    );
  });

  it('instants and all bits of values survive the COPY format (R-A8)', () => {
    const dateMicros = fc.integer({ min: MIN_DATE_MICROS, max: MAX_DATE_MICROS - 1 });
    const value = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(dateMicros, value, (date, number) => {
        const point = { variableId: 7, dateMicros: date, value: number, versionTagId: 3, tagSetId: 2 ** 31 - 1 };
        expect(decode([encodeTuples([point])])).toEqual([point]);
      }),
    );
  });
});

describe('points: encodeReadings', () => {
  it('of the readings with the same variable, date and VersionTag, keeps only the last; the kept readings stay in order (R-D5)', () => {
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const key = ({ variableId, dateMicros, versionTagId }: PointEntry) =>
          `${variableId} ${dateMicros} ${versionTagId}`;
        const expected = entries.filter((one, index) => {
          return !entries.slice(index + 1).some((later) => key(later) === key(one));
        });
        expect(decode([encodeReadings(entries)])).toEqual(expected);
      }),
    );
  });
});

describe('points: label rules', () => {
  it('equal tags are stored as the same text, whatever the order of their keys (R-D3)', () => {
    const tags = fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true });
    fc.assert(
      fc.property(tags, (given) => {
        const text = canonicalTags(given);
        expect(canonicalTags(Object.fromEntries(Object.entries(given).reverse()))).toBe(text);
        expect(text === null ? {} : JSON.parse(text)).toEqual(given);
      }),
    );
  });

  it.each([
    ['the version V1', { a: 'b' }, '{"a":"b","version":"V1"}', 'V1'],
    ['the version V1', { version: 'mine' }, '{"version":"mine"}', 'V1'],
    ['no version', { a: 'b' }, '{"a":"b"}', undefined],
    ['no version', {}, null, undefined],
  ])('with %s, the tags %j are stored as %s (§9.2 rule 1, R-D3)', (_what, tags, text, version) => {
    expect(toLabels(version, tags)).toEqual({ version, tags: text });
  });
});
