/**
 * Labels of operations whose client gave none: UUIDs of version 7 (RFC 9562). They ascend in time, so that those made
 * one after the other stand together in the index of labels.
 */
import { randomBytes } from 'node:crypto';

const RANDOM_BYTES = 8;

/** A new label. @param nowMillis milliseconds since the Unix epoch. */
export function makeLabel(nowMillis: number): string {
  const time = nowMillis.toString(16).padStart(12, '0');
  const random = nextRandom();
  const variant = ((Number.parseInt(random.slice(3, 4), 16) & 0x3) | 0x8).toString(16);
  const clock = `${time.slice(0, 8)}-${time.slice(8)}`;
  return `${clock}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 15)}${counterText()}`;
}

let counter = 0;

/** Tells apart what is made in the same millisecond, whatever chance does. */
function counterText(): string {
  counter = (counter + 1) % 0x1_0000;
  return counter.toString(16).padStart(4, '0');
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
