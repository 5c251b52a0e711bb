/** Names of WAL segments, their order and their gaps. */
import { describe, expect, test } from 'vitest';
import { followSegments, segmentName, segmentOf } from '../../../src/backup/wal-segments.ts';

const SEGMENT = 16 << 20;
const name = (number: number) => `0000000100000000${number.toString(16).toUpperCase().padStart(8, '0')}`;

describe('backup: names of WAL segments', () => {
  test.each([
    ['000000010000000000000002', '000000010000000000000002'],
    ['0000000100000000000000FE.partial', '0000000100000000000000FE'],
  ])('the file %s is the segment %s', (file, expected) => {
    expect(segmentName(file)).toBe(expected);
  });

  test.each(['00000002.history', '000000010000000000000002.00000028.backup', 'archive_status'])(
    'the file %s is not a segment',
    (file) => {
      expect(segmentName(file)).toBeUndefined();
    },
  );

  test.each([
    ['0/2000028', 1, '000000010000000000000002'],
    ['1/FF000000', 3, '0000000300000001000000FF'],
  ])('the position %s of timeline %i is in segment %s', (position, timeline, expected) => {
    expect(segmentOf(position, timeline, SEGMENT)).toBe(expected);
  });

  test('an invalid WAL position is refused', () => {
    expect(() => segmentOf('start', 1, SEGMENT)).toThrow('must look like 0/2000028, got start');
  });
});

describe('backup: segments that follow each other', () => {
  test('segments before the first needed segment are ignored; when the sequence has no gap, `firstMissing` is undefined', () => {
    const present = new Set([1, 2, 3, 4].map(name));
    expect(followSegments(name(2), present, SEGMENT)).toEqual({ names: [2, 3, 4].map(name), firstMissing: undefined });
  });

  test('after 4 GiB, the lower part of the name starts again at 0 and the upper part increases', () => {
    const names = ['0000000100000000000000FF', '000000010000000100000000'];
    expect(followSegments(names[0] ?? '', new Set(names), SEGMENT)).toEqual({ names, firstMissing: undefined });
  });

  test('the sequence ends before the first missing segment, whose name is reported', () => {
    const present = new Set([2, 3, 5].map(name));
    expect(followSegments(name(2), present, SEGMENT)).toEqual({ names: [2, 3].map(name), firstMissing: name(4) });
    expect(followSegments(name(1), present, SEGMENT)).toEqual({ names: [], firstMissing: name(1) });
  });
});
