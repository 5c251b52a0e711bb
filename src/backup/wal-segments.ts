/**
 * Names of WAL segments: eight hexadecimal digits for the timeline, eight for the upper part of the segment's number
 * and eight for its lower part. All segments in a backup directory have the same timeline, so the order of their names
 * is the order of their WAL positions. Pure functions.
 */

const NAME = /^([0-9A-F]{8})([0-9A-F]{8})([0-9A-F]{8})$/;
/** Suffix of the file that pg_receivewal is writing. Zeros fill the part of this file that is not written yet. */
const PARTIAL = '.partial';
const BYTES_PER_UPPER = 2 ** 32;

/**
 * Consecutive segments from a given segment on. `firstMissing` names the first missing segment; undefined when the
 * sequence reaches the newest segment.
 */
export interface SegmentRun {
  readonly names: readonly string[];
  readonly firstMissing: string | undefined;
}

/**
 * @returns the name of the segment that a file contains: the name of the file, without the suffix of an incomplete
 * segment. Returns undefined when the file is not a segment.
 */
export function segmentName(fileName: string): string | undefined {
  const name = fileName.endsWith(PARTIAL) ? fileName.slice(0, -PARTIAL.length) : fileName;
  return NAME.test(name) ? name : undefined;
}

/**
 * @returns the name of the segment that contains a WAL position such as `0/2000028`.
 * @throws {Error} when a part of `position` is missing or does not begin with a hexadecimal digit.
 */
export function segmentOf(position: string, timeline: number, segmentBytes: number): string {
  const [upper = Number.NaN, lower = Number.NaN] = position.split('/').map((part) => Number.parseInt(part, 16));
  if (Number.isNaN(upper + lower)) throw new Error(`a WAL position must look like 0/2000028, got ${position}`);
  return [timeline, upper, Math.floor(lower / segmentBytes)].map(toHex).join('');
}

/**
 * Returns the consecutive segments from `start` on, up to the first gap.
 * @param present names of segments, in any order; those before `start` are ignored.
 */
export function followSegments(start: string, present: ReadonlySet<string>, segmentBytes: number): SegmentRun {
  const names: string[] = [];
  let next = start;
  while (present.has(next)) {
    names.push(next);
    next = successorOf(next, segmentBytes);
  }
  const hasLater = [...present].some((name) => name > next);
  return { names, firstMissing: hasLater || names.length === 0 ? next : undefined };
}

function successorOf(name: string, segmentBytes: number): string {
  const [timeline = 0, upper = 0, lower = 0] = (NAME.exec(name) ?? [])
    .slice(1)
    .map((part) => Number.parseInt(part, 16));
  const isLast = (lower + 1) * segmentBytes >= BYTES_PER_UPPER;
  return [timeline, isLast ? upper + 1 : upper, isLast ? 0 : lower + 1].map(toHex).join('');
}

function toHex(part: number): string {
  return part.toString(16).toUpperCase().padStart(8, '0');
}
