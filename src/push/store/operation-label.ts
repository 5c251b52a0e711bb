/**
 * Generates labels for pushes that arrive without a label. Each label is a UUID of version 7 (RFC 9562). The labels
 * ascend in time, so consecutive labels are neighbours in the index. Several small pushes can share one row of
 * `push_operation`; the labels of these pushes differ only in the last four digits (migration 0018).
 */
import { randomBytes } from 'node:crypto';

const RANDOM_BYTES = 8;
const MEMBER_DIGITS = 4;

/** Maximum number of labels that differ only in the last four hexadecimal digits. */
const MAX_MEMBERS = 16 ** MEMBER_DIGITS;

/**
 * Generates a label for a push that arrives without one (R-D7).
 * @param nowMillis milliseconds since the Unix epoch.
 * @returns a new label.
 */
export function makeLabel(nowMillis: number): string {
  return makeStem(nowMillis) + counterText();
}

/**
 * @returns the label of the first push in a new shared row. The label ends with 0000, the position of the push in the
 * row.
 */
export function makeSharedLabel(nowMillis: number): string {
  return makeStem(nowMillis) + hex(0);
}

/**
 * @param shared the label of the first push in the shared row.
 * @param position position of the push in the shared row, from 0.
 * @returns the label of the push; the database computes the same label with `push_member_label`.
 */
export function memberLabel(shared: string, position: number): string {
  return position === 0 ? shared : shared.slice(0, -MEMBER_DIGITS) + hex(position);
}

const OURS = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/**
 * Splits a generated label of a push.
 * @returns the label of the shared row that may contain the push, and the position of the push in that row; undefined
 * for a label that does not have the form of a generated label.
 */
export function readMemberLabel(label: string): { readonly shared: string; readonly position: number } | undefined {
  if (!OURS.test(label)) return undefined;
  return {
    shared: label.slice(0, -MEMBER_DIGITS) + hex(0),
    position: Number.parseInt(label.slice(-MEMBER_DIGITS), 16),
  };
}

function makeStem(nowMillis: number): string {
  const time = nowMillis.toString(16).padStart(12, '0');
  const random = nextRandom();
  const variant = ((Number.parseInt(random.slice(3, 4), 16) & 0x3) | 0x8).toString(16);
  const clock = `${time.slice(0, 8)}-${time.slice(8)}`;
  return `${clock}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 15)}`;
}

let counter = 0;

/**
 * Increments the counter of this process. Thanks to the counter, up to 65,536 labels of the same millisecond are
 * distinct.
 * @returns the counter in hexadecimal.
 */
function counterText(): string {
  counter = (counter + 1) % MAX_MEMBERS;
  return hex(counter);
}

function hex(number: number): string {
  return number.toString(16).padStart(MEMBER_DIGITS, '0');
}

const POOL_BYTES = 4096;
let pool = Buffer.alloc(0);
let used = 0;

function nextRandom(): string {
  if (used + RANDOM_BYTES > pool.length) {
    pool = randomBytes(POOL_BYTES);
    used = 0;
  }
  used += RANDOM_BYTES;
  return pool.toString('hex', used - RANDOM_BYTES, used);
}
