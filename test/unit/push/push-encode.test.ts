import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eachTuple } from '../../../src/points/copy-codec.ts';
import { encodePush } from '../../../src/push/body/encode-push.ts';
import { parsePush } from '../../../src/push/body/parse-push.ts';
import type { PushContents } from '../../../src/push/body/push-element.ts';
import { makeLabel } from '../../../src/push/store/operation-label.ts';

interface Reading {
  readonly date: number;
  readonly value: number;
  readonly label: number;
}

interface Element {
  /** Id of the target variable; 0 when the element has no target. */
  readonly variableId: number;
  readonly readings: readonly Reading[];
  readonly divider: number;
}

const reading = fc.record({
  date: fc.integer({ min: -2, max: 6 }),
  value: fc.integer({ min: 0, max: 99 }),
  label: fc.integer({ min: 0, max: 2 }),
});
const element = fc.record({
  variableId: fc.integer({ min: 0, max: 3 }),
  readings: fc.array(reading, { maxLength: 8 }),
  divider: fc.constantFrom(1, 1, 0.5, -4, 1000),
});

function contentsOf(elements: readonly Element[]): PushContents {
  const readings = elements.flatMap((one) => one.readings);
  return {
    targets: elements.map(() => ({})),
    readingCounts: elements.map((one) => one.readings.length),
    dates: Float64Array.from(readings, ({ date }) => date),
    isLocal: undefined,
    values: Float64Array.from(readings, ({ value }) => value),
    labels: Int32Array.from(readings, ({ label }) => label),
    labelTable: [],
  };
}

// The second and the third label have the same VersionTag but different tag sets.
const LABEL_IDS = [
  { versionTagId: 0, tagSetId: 0 },
  { versionTagId: 1, tagSetId: 5 },
  { versionTagId: 1, tagSetId: 6 },
];

function encode(elements: readonly Element[]) {
  return encodePush(contentsOf(elements), {
    variableIds: elements.map(({ variableId }) => variableId),
    timeZoneIds: elements.map(() => 'UTC'),
    dividers: elements.map(({ divider }) => divider),
    labelIds: LABEL_IDS,
  });
}

interface Row {
  readonly variableId: number;
  readonly date: number;
  readonly value: number;
  readonly tagId: number;
  readonly setId: number;
}

function decode(tuples: Buffer): Row[] {
  const rows: Row[] = [];
  eachTuple(tuples, (variableId, date, offset) => {
    const [tagId, setId] = [tuples.readInt32BE(offset + 50), tuples.readInt32BE(offset + 58)];
    rows.push({ variableId, date, value: tuples.readDoubleBE(offset + 18), tagId, setId });
  });
  return rows;
}

/**
 * @returns the readings of the elements that have a target, in body order. Of readings with the same variable, date and
 * VersionTag, only the last is returned.
 */
function expectedRows(elements: readonly Element[]): Row[] {
  const rows = elements.flatMap(({ variableId, readings, divider }) =>
    readings.map(({ date, value, label }) => {
      const ids = LABEL_IDS[label];
      return { variableId, date, value: value / divider, tagId: ids?.versionTagId ?? -1, setId: ids?.tagSetId ?? -1 };
    }),
  );
  const key = ({ variableId, date, tagId }: Row) => `${variableId} ${date} ${tagId}`;
  return rows.filter(
    (row, index) => row.variableId !== 0 && !rows.slice(index + 1).some((later) => key(later) === key(row)),
  );
}

describe('push: encoded readings', () => {
  it('a date without a time of day becomes the first instant of the day, even if midnight occurs twice or never (R-A11, R-D4)', () => {
    const dates = ['2026-03-08', '2026-11-01', '2026-11-01T00:00:00'];
    const data = dates.map((date, value) => ({ date, value }));
    const parsed = parsePush([{ variableId: 1, data }], { maxElements: 1, maxReadings: 3 });
    if (!('contents' in parsed)) throw new Error('refused');
    const labelIds = [{ versionTagId: 0, tagSetId: 0 }];
    const { tuples, warnings } = encodePush(parsed.contents, {
      ...{ variableIds: [1], timeZoneIds: ['America/Havana'], dividers: [1], labelIds },
    });
    const instants = ['2026-03-08T05:00:00Z', '2026-11-01T04:00:00Z', '2026-11-01T05:00:00Z'];
    expect(decode(tuples).map(({ date }) => date)).toEqual(instants.map((text) => Date.parse(text) * 1000));
    const message =
      '2026-11-01T00:00:00 in America/Havana occurs twice; the later instant is used: 2026-11-01T05:00:00Z';
    expect(warnings).toEqual([{ path: '$[0].data[2].date', code: 'ambiguous_local_date', message }]);
  });

  it('are refused when values are not finite after division by `divider`, and the error has the path of each of these values (R-C6, R-D1)', () => {
    const readings = [1, 1e300, -1e300].map((value, date) => ({ date, value, label: 0 }));
    const elements = [
      { variableId: 1, readings, divider: 1 },
      { variableId: 2, readings, divider: 1e-9 },
    ];
    const message = 'must be finite after division by 1e-9, the divider of variable 2, got 1e+300';
    expect(() => encode(elements)).toThrow(
      expect.objectContaining({
        code: 'invalid_input',
        details: [
          { path: '$[1].data[1].value', message },
          { path: '$[1].data[2].value', message: message.replace('1e+300', '-1e+300') },
        ],
      }),
    );
  });

  it('of several readings with the same variable, date and VersionTag, only the last is encoded (R-D5)', () => {
    fc.assert(
      fc.property(fc.array(element, { maxLength: 6 }), (elements) => {
        const { tuples, readingCount } = encode(elements);
        const [actual, expected] = [decode(tuples), expectedRows(elements)];
        const sameDate =
          ({ variableId, date }: Row) =>
          (row: Row) =>
            row.variableId === variableId && row.date === date;
        expect(actual).toHaveLength(expected.length);
        for (const row of expected) expect(actual.filter(sameDate(row))).toEqual(expected.filter(sameDate(row)));
        const targeted = elements.filter(({ variableId }) => variableId !== 0);
        expect(readingCount).toBe(targeted.reduce((sum, { readings }) => sum + readings.length, 0));
      }),
      { numRuns: 1000 },
    );
  });

  it('are in date order for each variable; `firstDates` holds the first date of each variable, or is undefined when a variable has a date twice (R-D5)', () => {
    fc.assert(
      fc.property(fc.array(element, { maxLength: 6 }), (elements) => {
        const { tuples, firstDates } = encode(elements);
        const lastDates = new Map<number, number>();
        let isStrict = true;
        for (const { variableId, date } of decode(tuples)) {
          const last = lastDates.get(variableId) ?? Number.NEGATIVE_INFINITY;
          expect(date).toBeGreaterThanOrEqual(last);
          if (date === last) isStrict = false;
          lastDates.set(variableId, date);
        }
        expect(firstDates !== undefined).toBe(isStrict);
        for (const [variableId, first] of firstDates ?? []) {
          const dates = decode(tuples).flatMap((row) => (row.variableId === variableId ? row.date : []));
          expect(first).toBe(Math.min(...dates));
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('push: a generated label', () => {
  it('is a unique UUID of version 7 (R-D7)', () => {
    const labels = Array.from({ length: 100_000 }, () => makeLabel(Date.UTC(2026, 0, 1)));
    expect(new Set(labels).size).toBe(labels.length);
    for (const label of labels)
      expect(label).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(makeLabel(Date.UTC(2026, 0, 1)) < makeLabel(Date.UTC(2026, 0, 2))).toBe(true);
  });
});
